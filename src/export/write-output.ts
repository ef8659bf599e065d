import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Deps, OutputStream } from "../deps.js";
import { BrandapiError, ConfigurationError } from "../errors.js";
import { resolveLinks } from "../util/files.js";
import { quoteShellWord } from "../util/format-text.js";
import { errorCode, errorReason, writeHint } from "../util/system-errors.js";
import { releaseTempFile, reserveTempFile } from "../util/temp-files.js";
import { escapeData } from "../util/terminal.js";
import type { Chunk } from "./formats.js";

interface FileOptions {
  isCompressed?: boolean;
  /** Moves the complete temporary file to the target path. By default, replaces an existing file. */
  publish?: (from: string, to: string) => Promise<void>;
}

/**
 * Writes an export to a file. Once the new file is complete, it replaces any existing file at the path. Devices and
 * pipes are written to directly.
 *
 * While rows are read, a signal ends the process immediately, because a long SQL statement would delay a handler
 * (`signals.ts`). This leaves no time to delete a temporary file. The data is therefore written to an unlinked
 * file, whose space the operating system always reclaims. When the data is complete, it is copied to a named temporary
 * file, which then replaces the existing file.
 * @throws ConfigurationError if the file cannot be written; errors from `chunks`. The existing file is then unchanged.
 */
export async function writeToFile(
  chunks: Chunks,
  path: string,
  deps: Pick<Deps, "random" | "signal" | "runGracefully">,
  { isCompressed = false, publish = rename }: FileOptions = {},
): Promise<WriteResult> {
  const fail = (cause: unknown): never => {
    throw explainWriteError(path, cause);
  };
  // For `>(…)`, the shell passes a link such as `/dev/fd/63`, which points to a pipe and cannot be resolved.
  const previous = existsSync(path) ? statSync(path) : undefined;
  if (previous && !previous.isFile()) return await writeToDevice(chunks, path, isCompressed);
  const target = await resolveLinks(path);
  const unnamed = await openUnnamedFile(target, deps.random).catch(fail);
  try {
    const result = await writeChunks(chunks, (data) => unnamed.appendFile(data).catch(fail), {
      isCompressed,
    });
    await deps.runGracefully(
      () => copyToTarget(unnamed, target, previous?.mode, publish, deps).catch(fail),
      "no incomplete file was left behind; run the same command again",
    );
    return result;
  } finally {
    await unnamed.close().catch(() => {});
  }
}

/** Copies an open file to a temporary file next to the target, and publishes that file. */
async function copyToTarget(
  source: FileHandle,
  target: string,
  mode: number | undefined,
  publish: NonNullable<FileOptions["publish"]>,
  { random, signal }: Pick<Deps, "random" | "signal">,
): Promise<void> {
  const tempPath = await reserveTempFile(target, random);
  try {
    await copyToFile(source, tempPath, mode, signal);
    await publish(tempPath, target);
    await syncFolder(dirname(target));
  } finally {
    await rm(tempPath, { force: true }).catch(() => {});
    releaseTempFile(tempPath);
  }
}

/** Writes to a device or a named pipe. It is not an error if the pipe's reader closes it early, as in `-o >(head)`. */
async function writeToDevice(chunks: Chunks, path: string, isCompressed: boolean): Promise<WriteResult> {
  const isClosed = (error: unknown) => errorCode(error) === "EPIPE";
  const fail = (cause: unknown): never => {
    throw isClosed(cause) ? cause : explainWriteError(path, cause);
  };
  const device = await open(path, "w").catch(fail);
  try {
    return await writeChunks(chunks, (data) => device.appendFile(data).catch(fail), { isCompressed });
  } catch (error) {
    if (isClosed(error)) return { bytes: 0, rows: new Map(), isCutShort: true };
    throw error;
  } finally {
    await device.close().catch(() => {});
  }
}

/** Creates a file next to the target and unlinks it immediately. */
async function openUnnamedFile(target: string, random: () => number): Promise<FileHandle> {
  const path = await reserveTempFile(target, random);
  try {
    const file = await open(path, "wx+");
    await rm(path);
    return file;
  } finally {
    releaseTempFile(path);
  }
}

const copyBytes = 1_048_576;

/**
 * Copies an open file to a new file, and flushes it to disk.
 * @param mode the new file's permissions; if undefined, the process's umask applies
 */
async function copyToFile(
  source: FileHandle,
  path: string,
  mode: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const copy = await open(path, "wx");
  try {
    if (mode !== undefined) await copy.chmod(mode & 0o777).catch(() => {});
    const buffer = Buffer.allocUnsafe(copyBytes);
    for (let position = 0; ; ) {
      signal.throwIfAborted();
      const { bytesRead } = await source.read(buffer, 0, copyBytes, position);
      if (bytesRead === 0) break;
      await copy.appendFile(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
    await copy.sync();
  } finally {
    await copy.close();
  }
}

/**
 * Flushes a folder to disk so that new file names survive a power failure. Does nothing on systems that do not support
 * this.
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function explainWriteError(path: string, cause: unknown): BrandapiError {
  if (cause instanceof BrandapiError) return cause;
  const folder = dirname(path);
  const failed = (reason: string, hint: string) =>
    new ConfigurationError(`Cannot write ${path}: ${reason}`, { hint, cause });
  if (errorCode(cause) === "EISDIR") return failed("it is a folder", "choose a different file name");
  if (errorCode(cause) === "ENOTDIR") return failed(errorReason(cause), "choose a different folder");
  if (errorCode(cause) !== "ENOENT")
    return failed(errorReason(cause), `${writeHint(cause)}; any existing file is unchanged`);
  // Creating a file can also fail with ENOENT in an existing folder that does not allow new files, such as `/proc`.
  return existsSync(folder)
    ? failed(`the folder ${folder} does not allow new files`, "choose a different folder")
    : failed(
        `the folder ${folder} does not exist`,
        `run \`mkdir -p ${quoteShellWord(folder)}\`, or choose a different file`,
      );
}

type Chunks = Iterable<Chunk> | AsyncIterable<Chunk>;

export interface WriteResult {
  /** The number of bytes written, after compression. */
  bytes: number;
  /** The row counts by table. Tables without rows may be missing. */
  rows: ReadonlyMap<string, number>;
  /** True if the reader of a pipe closed it before all data was written. */
  isCutShort: boolean;
}

/**
 * Writes an export to stdout. On a terminal, control characters in the data are escaped. `main.ts` handles errors on
 * stdout, such as a pipe that its reader has closed.
 */
export async function writeToStdout(chunks: Chunks, stdout: OutputStream): Promise<void> {
  for await (const { data } of chunks) {
    const output = stdout.isTTY && typeof data === "string" ? escapeData(data) : data;
    if (!stdout.write(output)) await once(stdout, "drain");
  }
}

/** Passes the data of all chunks to `write`, compressed if requested, and counts rows and bytes. */
export async function writeChunks(
  chunks: Chunks,
  write: (data: Uint8Array) => Promise<void>,
  { isCompressed = false } = {},
): Promise<WriteResult> {
  const rows = new Map<string, number>();
  let bytes = 0;
  async function* readData(): AsyncIterable<Chunk["data"]> {
    for await (const { data, rows: count = 0, table } of chunks) {
      if (table !== undefined) rows.set(table, (rows.get(table) ?? 0) + count);
      yield data;
    }
  }
  for await (const data of isCompressed ? compress(readData()) : readData()) {
    const encoded = typeof data === "string" ? Buffer.from(data) : data;
    await write(encoded);
    bytes += encoded.length;
  }
  return { bytes, rows, isCutShort: false };
}

async function* compress(data: AsyncIterable<Uint8Array | string>): AsyncIterable<Uint8Array> {
  const gzip = createGzip();
  // If generating the data fails, `pipeline` destroys `gzip`, and then `yield*` throws the error.
  pipeline(Readable.from(data), gzip, () => {});
  yield* gzip as AsyncIterable<Uint8Array>;
}

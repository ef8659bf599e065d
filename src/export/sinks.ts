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

/** The destination of an export. The caller must always call either `finish` or `discard`. */
interface Sink {
  write(data: Uint8Array): Promise<void>;
  /** Publishes the finished output at the target. */
  finish(): Promise<void>;
  /** Discards the output and leaves the target unchanged. */
  discard(): Promise<void>;
}

export interface WriteResult {
  /** The number of bytes written, after compression. */
  bytes: number;
  /** The number of rows by table. A table without rows may be missing. */
  rows: ReadonlyMap<string, number>;
  /** True if the reader closed the output before all data was written. */
  isCutShort: boolean;
}

/** Thrown if `-o` names a pipe whose reader closes it early, as in `-o >(head)`. This is not a failure. */
class OutputClosed extends Error {}

/** Writes all chunks to a sink. Discards the output if an error is thrown. */
export async function writeAll(
  chunks: Iterable<Chunk> | AsyncIterable<Chunk>,
  sink: Sink,
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
  try {
    for await (const data of isCompressed ? compress(readData()) : readData()) {
      const encoded = typeof data === "string" ? Buffer.from(data) : data;
      await sink.write(encoded);
      bytes += encoded.length;
    }
    await sink.finish();
    return { bytes, rows, isCutShort: false };
  } catch (error) {
    await sink.discard();
    if (error instanceof OutputClosed) return { bytes, rows, isCutShort: true };
    throw error;
  }
}

async function* compress(data: AsyncIterable<Uint8Array | string>): AsyncIterable<Uint8Array> {
  const gzip = createGzip();
  // If generating the data fails, `pipeline` destroys `gzip`, and then `yield*` throws the error.
  pipeline(Readable.from(data), gzip, () => {});
  yield* gzip as AsyncIterable<Uint8Array>;
}

/**
 * Creates a sink for stdout. On a terminal, control characters in the data are escaped. Errors of stdout, such as a
 * pipe that its reader has closed, are handled in `main.ts`.
 */
export function createStdoutSink(stdout: OutputStream): Sink {
  return {
    async write(data) {
      // A chunk contains whole rows, so it never ends in the middle of a character.
      const output = stdout.isTTY ? escapeData(Buffer.from(data).toString()) : data;
      if (output.length > 0 && !stdout.write(output)) await once(stdout, "drain");
    },
    async finish() {},
    async discard() {},
  };
}

/**
 * Opens a sink for a file. Once the new file is complete, it replaces any existing file at the path. Devices and pipes
 * are written to directly.
 *
 * A signal ends the process immediately (`signals.ts`), which leaves no time to delete a temporary file. The data is
 * therefore written to a file that is unlinked as soon as it is open, so that the operating system always frees its
 * space. `finish` copies the data to a named temporary file and renames that file.
 * @param publish moves the finished temporary file to the path
 * @throws ConfigurationError if the file cannot be written
 */
export async function openFileSink(
  path: string,
  deps: Pick<Deps, "random" | "signal" | "runGracefully">,
  publish: (from: string, to: string) => Promise<void> = rename,
): Promise<Sink> {
  const fail = (cause: unknown): never => {
    throw errorCode(cause) === "EPIPE" ? new OutputClosed() : explainWriteError(path, cause);
  };
  // For `>(…)`, the shell passes a link such as `/dev/fd/63`, which points to a pipe and cannot be resolved.
  const previous = existsSync(path) ? statSync(path) : undefined;
  if (previous && !previous.isFile()) return createDeviceSink(await open(path, "w").catch(fail), fail);
  const target = await resolveLinks(path);
  const file = await openUnnamedFile(target, deps.random).catch(fail);

  async function publishCopy(): Promise<void> {
    const tempPath = await reserveTempFile(target, deps.random);
    const temp = await open(tempPath, "wx").catch(fail);
    try {
      if (previous) await temp.chmod(previous.mode & 0o777).catch(() => {});
      await copyFile(file, temp, deps.signal).catch(fail);
      await temp.sync().catch(fail);
      await temp.close();
      await publish(tempPath, target).catch(fail);
      await syncFolder(dirname(target));
    } finally {
      await temp.close().catch(() => {});
      await rm(tempPath, { force: true }).catch(() => {});
      releaseTempFile(tempPath);
    }
  }

  return {
    write: async (data) => await file.writeFile(data).catch(fail),
    async finish() {
      await deps.runGracefully(publishCopy, "no incomplete file was written; run the same command again");
      await file.close();
    },
    discard: async () => await file.close().catch(() => {}),
  };
}

function createDeviceSink(file: FileHandle, fail: (cause: unknown) => never): Sink {
  const close = async () => await file.close().catch(() => {});
  return {
    write: async (data) => await file.writeFile(data).catch(fail),
    finish: close,
    discard: close,
  };
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

/**
 * Flushes a folder to disk so that new file names survive a power failure. Does nothing on systems without support for
 * this.
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

const copyBytes = 1_048_576;

async function copyFile(from: FileHandle, to: FileHandle, signal: AbortSignal): Promise<void> {
  const buffer = Buffer.allocUnsafe(copyBytes);
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await from.read(buffer, 0, copyBytes, position);
    if (bytesRead === 0) return;
    await to.writeFile(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
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
  return existsSync(folder)
    ? failed(`no files can be created in ${folder}`, "choose a different folder")
    : failed(
        `the folder ${folder} does not exist`,
        `run \`mkdir -p ${quoteShellWord(folder)}\`, or choose a different file`,
      );
}

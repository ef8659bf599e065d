import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Deps, OutputStream } from "../deps.js";
import { BrandapiError, ConfigurationError } from "../errors.js";
import { resolveLinks } from "../util/files.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { releaseTempFile, reserveTempFile } from "../util/temp-files.js";
import { quoteShellWord } from "../util/text.js";
import type { Chunk } from "./format.js";

export interface Sink {
  /** Resolves when the next piece may come. */
  write(data: Uint8Array | string): Promise<void>;
  /** Everything was written: makes it visible. */
  finish(): Promise<void>;
  /** Something went wrong: leaves everything as it was. */
  discard(): Promise<void>;
}

export interface WriteResult {
  rows: number;
  bytes: number;
  /** True if the reader closed the output before the end. */
  isCutShort: boolean;
}

/** Writes all pieces into a sink. @throws what went wrong, after the sink has put everything back */
export async function writeAll(
  chunks: Iterable<Chunk> | AsyncIterable<Chunk>,
  sink: Sink,
): Promise<WriteResult> {
  const done: WriteResult = { rows: 0, bytes: 0, isCutShort: false };
  try {
    for await (const { data, rows } of chunks) {
      await sink.write(data);
      done.rows += rows;
      done.bytes += Buffer.byteLength(data);
    }
    await sink.finish();
  } catch (error) {
    await sink.discard();
    if (!(error instanceof OutputClosed)) throw error;
    done.isCutShort = true;
  }
  return done;
}

/** The reader of the output has closed it (`| head`): nothing is left to do, and that is no failure. */
export class OutputClosed extends Error {}

/** Writes to a stream at its reader's pace. Does not close it, because it may be the process's own. */
export function createStreamSink(stream: OutputStream): Sink {
  let failure: Error | undefined;
  const note = (error: NodeJS.ErrnoException) => {
    const isGone = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    failure ??= isGone ? new OutputClosed() : error;
  };
  const noteClosed = () => note(Object.assign(new Error("closed"), { code: "EPIPE" }));
  stream.on("error", note).on("close", noteClosed);
  const leave = async () => void stream.off("error", note).off("close", noteClosed);
  return {
    async write(data) {
      if (failure) throw failure;
      if (data.length > 0 && !stream.write(data)) await waitForDrain(stream);
      if (failure) throw failure;
    },
    finish: leave,
    discard: leave,
  };
}

/** Resolves when the stream takes more, or has failed. */
async function waitForDrain(stream: OutputStream): Promise<void> {
  const done = new AbortController();
  const events = ["drain", "close"].map((name) => once(stream, name, { signal: done.signal }));
  await Promise.race(events).catch(() => {});
  done.abort();
}

/**
 * Opens a file that appears complete or not at all. The data goes to a temporary file next to it, which has no name as long
 * as a signal may end the process at once; `finish` copies it to a named one, which is renamed. A device or pipe is written
 * directly.
 * @param put gives the file its name; `linkNew`: if no other file has it
 * @throws ConfigurationError if it cannot be written
 */
export async function openFileSink(
  path: string,
  deps: Pick<Deps, "random" | "signal" | "withSignals">,
  put: (from: string, to: string) => Promise<void> = rename,
): Promise<Sink> {
  const failed = (cause: unknown): never => {
    throw errorCode(cause) === "EPIPE" ? new OutputClosed() : explainWriteError(path, cause);
  };
  // `/dev/fd/63`, which is what `>(…)` is in a shell, links to a pipe without a path.
  const old = existsSync(path) ? statSync(path) : undefined;
  if (old && !old.isFile()) return createDeviceSink(await open(path, "w").catch(failed), failed);
  const target = await resolveLinks(path);
  const spool = await deps.withSignals("clean", () => openUnnamedFile(target, deps.random)).catch(failed);
  let pending: Promise<void> = Promise.resolve();
  return {
    async write(data) {
      await pending;
      // This piece is written while the next is made.
      pending = spool.writeFile(data).catch(failed);
      pending.catch(() => {});
    },
    async finish() {
      await pending;
      await deps.withSignals("clean", async () => {
        const part = await reserveTempFile(target, deps.random);
        const file = await open(part, "wx").catch(failed);
        try {
          if (old) await file.chmod(old.mode & 0o777).catch(() => {});
          await copyAll(spool, file, deps.signal).catch(failed);
          await file.sync().catch(failed);
          await file.close();
          await put(part, target).catch(failed);
          await syncFolder(dirname(target));
        } finally {
          await file.close().catch(() => {});
          await rm(part, { force: true }).catch(() => {});
          releaseTempFile(part);
        }
      });
      await spool.close();
    },
    async discard() {
      await pending.catch(() => {});
      await spool.close().catch(() => {});
    },
  };
}

/** Writes to a device or pipe, which cannot be replaced. */
function createDeviceSink(file: FileHandle, failed: (cause: unknown) => never): Sink {
  const close = async () => await file.close().catch(() => {});
  return {
    write: async (data) => await file.writeFile(data).catch(failed),
    finish: close,
    discard: close,
  };
}

/** Opens a temporary file next to the target and removes its name: the system frees it however the process ends. */
async function openUnnamedFile(target: string, random: () => number): Promise<FileHandle> {
  const part = await reserveTempFile(target, random);
  const file = await open(part, "wx+").finally(() => releaseTempFile(part));
  await rm(part);
  return file;
}

const pieceBytes = 1_048_576;

async function copyAll(from: FileHandle, to: FileHandle, signal: AbortSignal): Promise<void> {
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await from.read(piece, 0, pieceBytes, at);
    if (bytesRead === 0) return;
    await to.writeFile(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
}

function explainWriteError(path: string, cause: unknown): BrandapiError {
  if (cause instanceof BrandapiError) return cause;
  const isMissing = errorCode(cause) === "ENOENT";
  const folder = dirname(path);
  const reason = isMissing ? `the folder ${folder} does not exist` : errorReason(cause);
  const hint = isMissing
    ? `run \`mkdir -p ${quoteShellWord(folder)}\`, or name another file`
    : "check the folder and its disk; an existing file was not changed";
  return new ConfigurationError(`Cannot write ${path}: ${reason}`, { hint, cause });
}

/**
 * Gives a file a name that no other file has, also on a file system without hard links, such as exFAT.
 * @param now milliseconds since 1970
 * @throws EEXIST if another file has the name, or is about to get it
 */
export async function linkExclusive(from: string, to: string, now: number): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!noLinks.has(errorCode(error))) throw error;
    return await renameExclusive(from, to, now);
  }
  // It has its name, whatever becomes of the other one.
  await rm(from).catch(() => {});
}

const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);
/** A claim is held for one rename: an older one was left by a process that was killed. */
const claimMs = 60_000;

/** Renames a file unless the new name is taken. Exclusive creation of another file decides between two processes. */
async function renameExclusive(from: string, to: string, now: number): Promise<void> {
  const claim = join(dirname(to), `.${basename(to)}.claim.part`);
  const age = now - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN);
  if (age > claimMs) await rm(claim, { force: true });
  await (await open(claim, "wx")).close();
  try {
    if (existsSync(to))
      throw Object.assign(new Error(`EEXIST: file already exists, ${to}`), { code: "EEXIST" });
    await rename(from, to);
  } finally {
    await rm(claim, { force: true });
  }
}

/** Lets the new name survive a power loss. Some systems cannot; the name stands anyway. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

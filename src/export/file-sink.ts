import { constants, openSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { dirname } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { beginPart, endPart } from "../lib/parts.js";
import { systemFailure } from "../lib/system-errors.js";
import { type Sink, streamSink } from "./sink.js";

type SinkDeps = Pick<Deps, "random" | "clock" | "signal">;

/** How often to look whether somebody reads a named pipe by now, in milliseconds. */
const lookAgainMs = 100;

/**
 * A file that appears whole or not at all: written beside its place and renamed at the end. The old file stays until
 * then. What is no regular file (a pipe, a device) is written directly.
 * @throws ConfigurationError when the place cannot be written; nothing is there then
 */
export async function openFileSink(path: string, deps: SinkDeps): Promise<Sink> {
  const target = await realpath(path).catch(() => path);
  const old = await stat(target).catch((error: unknown) => {
    // Anything else would be said only once all is written.
    if (systemFailure(error)?.code !== "ENOENT") throw explain(error, path);
  });
  if (old?.isDirectory()) throw unwritable(path, "it is a folder", "name a file in it");
  if (old?.isFIFO()) return openPipe(target, path, deps);
  if (old && !old.isFile()) return openDirectly(target, path);
  const beside = await beginPart(target, deps.random);
  const handle = await open(beside, "wx", 0o666).catch((error: unknown) => {
    endPart(beside);
    throw explain(error, path);
  });
  if (old) await handle.chmod(old.mode & 0o777).catch(() => {});
  const writer = writeBehind(handle, path);
  const discard = async () => {
    await writer.idle().catch(() => {});
    await handle.close().catch(() => {});
    await rm(beside, { force: true });
    endPart(beside);
  };
  return {
    write: writer.write,
    discard,
    async finish() {
      try {
        await writer.idle();
        await handle.sync();
        await handle.close();
        await rename(beside, target);
        endPart(beside);
      } catch (error) {
        await discard();
        throw explain(error, path);
      }
      await syncFolder(dirname(target));
    },
  };
}

/** A named pipe, as soon as somebody reads it, at the reader's pace. */
async function openPipe(target: string, path: string, { clock, signal }: SinkDeps): Promise<Sink> {
  // Opened without waiting: a thread that waits there could not be called off.
  const flags = constants.O_WRONLY | constants.O_NONBLOCK;
  let fd: number | undefined;
  while (fd === undefined) {
    try {
      fd = openSync(target, flags);
    } catch (error) {
      if (systemFailure(error)?.code !== "ENXIO") throw explain(error, path);
      await clock.sleep(lookAgainMs, signal);
    }
  }
  const pipe = new Socket({ fd, readable: false });
  const sink = streamSink(pipe, signal);
  return {
    write: sink.write,
    async finish() {
      await new Promise<void>((resolve) => pipe.end(resolve));
      await sink.finish();
    },
    async discard() {
      await sink.discard();
      pipe.on("error", () => {}).destroy();
    },
  };
}

async function openDirectly(target: string, path: string): Promise<Sink> {
  const handle = await open(target, constants.O_WRONLY).catch((error: unknown) => {
    throw explain(error, path);
  });
  const writer = writeBehind(handle, path);
  return {
    write: writer.write,
    async finish() {
      await writer.idle();
      await handle.close();
    },
    discard: async () => void (await handle.close().catch(() => {})),
  };
}

/** One piece is on its way to the disk while the next is made. */
function writeBehind(handle: FileHandle, path: string) {
  let under: Promise<unknown> = Promise.resolve();
  const idle = async () => {
    try {
      await under;
    } catch (error) {
      throw explain(error, path);
    }
  };
  return {
    idle,
    async write(data: Uint8Array | string): Promise<void> {
      await idle();
      under = writeAll(handle, typeof data === "string" ? Buffer.from(data) : data);
      under.catch(() => {});
    },
  };
}

/** A disk that is filling up takes a part of a piece, and refuses the rest. */
async function writeAll(handle: FileHandle, data: Uint8Array): Promise<void> {
  let done = 0;
  while (done < data.length) done += (await handle.write(data, done)).bytesWritten;
}

/** So that the new name survives a power loss; some systems cannot do it, and the rename stands anyway. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close().catch(() => {});
}

/** What is to be said otherwise of a file that is being written. */
const reasons: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  ENOENT: ["its folder does not exist", "create the folder first"],
  ENOSPC: ["the disk is full", "free some space and run it again; a file that was there before is untouched"],
  EDQUOT: [
    "the disk quota is used up",
    "free some space and run it again; a file that was there before is untouched",
  ],
  EFBIG: [
    "it grows larger than is allowed here",
    "write it elsewhere; a file that was there before is untouched",
  ],
};

function explain(error: unknown, path: string): unknown {
  const failure = systemFailure(error);
  if (!failure) return error;
  const [why, hint] = reasons[failure.code] ?? [failure.why, failure.hint];
  return unwritable(path, why, hint, error);
}

function unwritable(
  path: string,
  why: string,
  hint: string | undefined,
  cause?: unknown,
): ConfigurationError {
  return new ConfigurationError(`The output cannot be written, ${why}: ${path}`, { hint, cause });
}

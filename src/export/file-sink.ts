import { statSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { beginPart, endPart } from "../lib/parts.js";
import type { Sink } from "./sink.js";

/**
 * Opens a file that appears whole or not at all: it is written beside its place and renamed at the end. A device or pipe
 * is written directly.
 * @throws ConfigurationError with the system's words if it cannot be written
 */
export async function openFileSink(path: string, { random }: Pick<Deps, "random">): Promise<Sink> {
  const explained = async <T>(step: () => T | Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      throw explain(error, path);
    }
  };
  const target = await realpath(path).catch(() => path);
  const old = await explained(() => statSync(target, { throwIfNoEntry: false }));
  const isFile = old === undefined || old.isFile();
  const written = isFile ? await beginPart(target, random) : target;
  const discard = async () => {
    await handle?.close().catch(() => {});
    if (isFile) await rm(written, { force: true });
    endPart(written);
  };
  let handle: FileHandle | undefined;
  let pending: Promise<void> = Promise.resolve();
  try {
    handle = await explained(() => open(written, isFile ? "wx" : "w"));
    if (isFile && old) await handle.chmod(old.mode & 0o777);
  } catch (error) {
    await discard();
    throw error;
  }
  const file = handle;
  return {
    async write(data) {
      await explained(() => pending);
      // This piece is written while the next is made.
      pending = file.writeFile(data);
      pending.catch(() => {});
    },
    async finish() {
      await explained(() => pending);
      if (isFile) await explained(() => file.sync());
      await file.close();
      if (isFile) await explained(() => rename(written, target));
      endPart(written);
      if (isFile) await syncFolder(dirname(target));
    },
    async discard() {
      await pending.catch(() => {});
      await discard();
    },
  };
}

/** Lets the new name survive a power loss. Some systems cannot; the name stands anyway. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function explain(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  // The rest of Node's message names the temporary file.
  const [words] = error.message.split(", ");
  return new ConfigurationError(`Cannot write ${path}: ${words}`, {
    hint: "check the folder and its disk; a file that was there before is untouched",
    cause: error,
  });
}

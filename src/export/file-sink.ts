import { existsSync, statSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { beginPart, endPart } from "../lib/parts.js";
import { resolveLinks } from "../lib/resolve-links.js";
import type { Sink } from "./sink.js";

/**
 * Opens a file that appears whole or not at all: it is written beside its place and renamed at the end. A device or pipe
 * is written directly.
 * @param put gives the file its name; `linkNew`: if no other file has it
 * @throws ConfigurationError with the system's words if it cannot be written
 */
export async function openFileSink(
  path: string,
  { random }: Pick<Deps, "random">,
  put: (from: string, to: string) => Promise<void> = rename,
): Promise<Sink> {
  const failed = (cause: Error): never => {
    // The rest of Node's message names the temporary file.
    throw new ConfigurationError(`Cannot write ${path}: ${cause.message.split(", ")[0]}`, {
      hint: "check the folder and its disk; a file that was there before is untouched",
      cause,
    });
  };
  const target = await resolveLinks(path);
  const old = existsSync(target) ? statSync(target) : undefined;
  const isFile = old === undefined || old.isFile();
  const written = isFile ? await beginPart(target, random) : target;
  const file = await open(written, isFile ? "wx" : "w").catch((error: Error) => {
    endPart(written);
    return failed(error);
  });
  if (isFile && old) await file.chmod(old.mode & 0o777).catch(() => {});
  let pending: Promise<void> = Promise.resolve();
  return {
    async write(data) {
      await pending;
      // This piece is written while the next is made.
      pending = file.writeFile(data).catch(failed);
      pending.catch(() => {});
    },
    async finish() {
      await pending;
      if (isFile) await file.sync().catch(failed);
      await file.close();
      if (isFile) await put(written, target).catch(failed);
      endPart(written);
      if (isFile) await syncFolder(dirname(target));
    },
    async discard() {
      await pending.catch(() => {});
      await file.close().catch(() => {});
      if (isFile) await rm(written, { force: true });
      endPart(written);
    },
  };
}

/** Gives a file a name that no other file has. */
export async function linkNew(from: string, to: string): Promise<void> {
  await link(from, to);
  // It has its name, whatever becomes of the other one.
  await rm(from).catch(() => {});
}

/** Lets the new name survive a power loss. Some systems cannot; the name stands anyway. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

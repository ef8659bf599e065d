import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { open, realpath, rename, rm } from "node:fs/promises";
import { platform } from "node:os";
import { dirname } from "node:path";
import { ConfigurationError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { shellWord } from "../lib/shell.js";

/** Neither a key nor a config file of ours is that large: in bytes. */
const mostBytes = 1_048_576;

/** Returns a file's text. Throws what the system says, and ConfigurationError if the file is too large. */
export function readText(path: string): string {
  if (statSync(path).size > mostBytes)
    throw new ConfigurationError(`The file is too large: ${path}`, { hint: "check the path" });
  return readFileSync(path, "utf8").replace(/^\ufeff/, "");
}

/** Refuses a file with a key that other users of this machine may read. Windows keeps permissions elsewhere. */
export function checkPrivate(path: string): void {
  const stat = statSync(path);
  if (platform() === "win32" || !stat.isFile() || (stat.mode & 0o077) === 0) return;
  throw new ConfigurationError(`Other users of this machine may read the key in ${path}`, {
    hint: `run \`chmod 600 ${shellWord(path)}\``,
  });
}

/**
 * Writes the whole file or nothing: beside it with mode 0600, then renamed. Missing folders get mode 0700. A symbolic
 * link stays one: the file that it points to is replaced.
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  makeFolder(dirname(target), 0o700);
  const beside = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

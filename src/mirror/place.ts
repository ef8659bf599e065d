import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { MirrorUnusable } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";

/** The longest of the names beside a mirror ends in this; a name may have 255 bytes, a path for SQLite 511. */
const longestSuffix = "-lock-journal".length;
const longest = { name: 255 - longestSuffix, path: 511 - longestSuffix };

/**
 * Looks at what stands where a mirror is or will be: a plain file, or nothing.
 * @returns whether there is a file
 * @throws MirrorUnusable for a folder, a device or a pipe, and for a name with no room for the files beside it, before
 * anything is made or opened
 */
export function checkPlace(path: string): boolean {
  if (Buffer.byteLength(basename(path)) > longest.name || Buffer.byteLength(path) > longest.path)
    throw new MirrorUnusable(`The mirror's name is too long for the files beside it: ${path}.`, {
      hint: `name a file with \`--db\`: at most ${longest.name} bytes, with its folder ${longest.path}`,
    });
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.isFile()) return found !== undefined;
  const what = found.isDirectory() ? "a folder" : "a device or pipe";
  throw new MirrorUnusable(`The mirror has to be a file, and this is ${what}: ${path}.`, {
    hint: found.isDirectory()
      ? `name a file in it: \`--db ${join(path, "mirror.sqlite")}\``
      : "name another file with `--db`",
  });
}

/** Where a mirror really is, whatever links lead to it; its folder is made, the mirror itself need not be there yet. */
export function realPlace(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    return realPlace(resolve(folder, readlinkSync(path)));
  makeFolder(folder, 0o700);
  return join(realpathSync(folder), basename(path));
}

/** A mirror's own file, and those that SQLite and a run make beside it, whether they are there or not. */
export function mirrorFiles(path: string): string[] {
  return ["", "-wal", "-shm", "-journal", "-lock"].map((end) => path + end);
}

/** Which file is at a path, whatever links lead to it: its device and number; null where none can be reached. */
export function idOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/** Whether there is a file that holds anything. */
export function isMade(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Whether there is a file of no bytes, which is no mirror yet. */
export function isEmptyFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === 0;
}

import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { MirrorUnusable } from "../errors.js";
import { createFolder } from "../util/files.js";
import { quoteShellWord } from "../util/format-text.js";

/** @throws MirrorUnusable if the path is a folder or a device */
export function checkMirrorPath(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isFile()) return;
  const [existing = "mirror.sqlite"] = stats.isDirectory()
    ? readdirSync(path).filter((name) => name.endsWith(".sqlite"))
    : [];
  throw new MirrorUnusable(`A mirror must be a file, not a folder or a device: ${path}.`, {
    hint: stats.isDirectory()
      ? `choose a file in this folder: \`--db ${quoteShellWord(join(path, existing))}\``
      : "choose a file with `--db`",
  });
}

/** Resolves the symbolic links in a path, even if the file or its folder does not exist yet. */
export function resolveMirrorPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    return resolveMirrorPath(resolve(realpathSync(folder), readlinkSync(path)));
  if (!existsSync(folder) && dirname(folder) !== folder)
    return join(resolveMirrorPath(folder), basename(path));
  return join(realpathSync(folder), basename(path));
}

/** Creates the folder of a mirror (mode 0700), unless it exists, and returns the mirror's resolved path. */
export function createMirrorFolder(path: string): string {
  const realPath = resolveMirrorPath(path);
  createFolder(dirname(realPath), 0o700);
  return realPath;
}

export function mirrorFiles(path: string): string[] {
  return ["", "-wal", "-shm", "-journal", "-lock"].map((end) => path + end);
}

/** Renames a mirror's log files, because SQLite would otherwise apply them to a new file at the mirror's path. */
export function moveLogFiles(path: string, aside: string): void {
  for (const end of ["-wal", "-shm", "-journal"])
    if (existsSync(path + end)) renameSync(path + end, aside + end);
}

export function readFileId(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/**
 * Checks that the path still refers to the open file.
 * @throws MirrorUnusable if the file was replaced or removed
 */
export function checkNotReplaced({ fileId, path }: { fileId: string | null; path: string }): void {
  const now = fileId === null ? null : readFileId(path);
  if (now === fileId) return;
  const [what, hint] =
    now === null
      ? ["moved or removed", "put it back, or run the same command again to create a new mirror"]
      : ["replaced by another file", "the new file was not changed; run the same command again"];
  throw new MirrorUnusable(`The mirror was ${what} during this run: ${path}.`, { hint });
}

/** The maximum size of a file that Node can read into a buffer, in bytes. */
const maxFileSize = 2 ** 31 - 1;

/**
 * Reads a mirror on a read-only file system into memory. SQLite's `immutable=1` is not an option, because it requires
 * URI file names, which better-sqlite3 does not support.
 * @throws MirrorUnusable if the log contains changes, a sync is writing to the mirror, or the file is too large
 */
export function readIntoMemory(path: string): Buffer {
  const createError = (reason: string) =>
    new MirrorUnusable(`The mirror cannot be read in a read-only folder${reason}: ${path}.`, {
      hint: "copy the mirror, with its `-wal` and `-shm` files, to a writable folder, and open the copy with `--db`",
    });
  const before = statSync(path);
  if (before.size > maxFileSize) throw createError(", because it is larger than 2 GiB");
  const database = readFileSync(path);
  const after = statSync(path);
  if (hasLog(path) || before.mtimeMs !== after.mtimeMs || before.size !== after.size)
    throw createError(" while some of its data is in a log");
  return clearLogMode(database);
}

/**
 * Clears WAL mode in a buffer's database header (bytes 18 and 19), because an in-memory database cannot use it.
 * @returns the same buffer
 */
export function clearLogMode(database: Buffer): Buffer {
  return database[18] === 2 ? database.fill(1, 18, 20) : database;
}

/** True if the mirror and its folder are writable. SQLite creates the log in that folder. */
export function isWritable(path: string): boolean {
  try {
    const file = realpathSync(path);
    for (const target of [file, dirname(file)]) accessSync(target, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function hasLog(path: string): boolean {
  return (statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

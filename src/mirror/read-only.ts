import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { MirrorUnusable } from "../errors.js";

/** The largest file that Node reads at once, in bytes. */
const maxFileSize = 2 ** 31 - 1;

/**
 * Reads a mirror on a read-only file system, or in a read-only folder, as a database for memory. SQLite's own way,
 * `immutable=1`, needs URI file names, which better-sqlite3 disables.
 * @throws MirrorUnusable if the last changes are still in the log, a sync is writing, or the file is too large
 */
export function readIntoMemory(path: string): Buffer {
  const refuse = (reason: string) =>
    new MirrorUnusable(`The mirror cannot be read in a read-only folder${reason}: ${path}.`, {
      hint: "copy the mirror, with its `-wal` and `-shm` files, to a folder where you can write, and name the copy with `--db`",
    });
  const before = statSync(path);
  if (before.size > maxFileSize) throw refuse(", because it is larger than 2 GiB");
  const database = readFileSync(path);
  const after = statSync(path);
  if (hasLog(path) || before.mtimeMs !== after.mtimeMs || before.size !== after.size)
    throw refuse(" while some of its data is in a log");
  // Bytes 18 and 19 of the header: 2 for WAL mode, which a database in memory cannot have.
  if (database[18] === 2) database.fill(1, 18, 20);
  return database;
}

/** Returns true if a mirror, and the files that SQLite keeps next to it, can be written. */
export function isWritable(path: string): boolean {
  try {
    const file = realpathSync(path);
    for (const each of [file, dirname(file)]) accessSync(each, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function hasLog(path: string): boolean {
  const log = `${existsSync(path) ? realpathSync(path) : path}-wal`;
  return (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

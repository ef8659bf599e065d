import type { Database } from "better-sqlite3";
import { checkFile } from "./place.js";

/** The file that a connection opened. */
export interface OpenFile {
  readonly db: Database;
  /** As the person named it: a link may lead to the file. */
  readonly path: string;
  /** Device and inode of the file that was opened; null in memory. */
  readonly id: string | null;
}

/**
 * Begins a transaction that may stay open while something is awaited.
 * @returns its commit, which does the last work in it. It throws MirrorUnusable if the mirror was replaced or removed, or
 * SQLite's error: then nothing is kept
 * @throws SQLite's SQLITE_BUSY if another program writes for too long
 */
export function openTransaction(mirror: OpenFile): (last?: () => void) => void {
  const { db } = mirror;
  db.exec(outermost.before);
  return (last) => {
    // SQLite rolls back by itself if the disk is full. The statement that failed has thrown that error already.
    if (!db.inTransaction) return;
    try {
      last?.();
      checkFile(mirror);
      db.exec(outermost.after);
    } catch (error) {
      if (db.inTransaction) db.exec(outermost.undo);
      throw error;
    }
  };
}

const outermost = { before: "BEGIN IMMEDIATE", after: "COMMIT", undo: "ROLLBACK" };
const nested = {
  before: "SAVEPOINT nested",
  after: "RELEASE nested",
  undo: "ROLLBACK TO nested; RELEASE nested",
};

/** Keeps all that `work` writes, or nothing. Inside another transaction it is a savepoint of that one. */
export function transact<T>(mirror: OpenFile, work: () => T): T {
  const { db } = mirror;
  const { before, after, undo } = db.inTransaction ? nested : outermost;
  db.exec(before);
  try {
    const result = work();
    if (after === outermost.after) checkFile(mirror);
    db.exec(after);
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec(undo);
    throw error;
  }
}

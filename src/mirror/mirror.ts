import type { Database, Statement } from "better-sqlite3";
import { checkFile, idOf } from "./place.js";
import { type OpenFile, transact } from "./transaction.js";

/** An open mirror file. */
export interface Mirror extends OpenFile {
  /** Keeps all that `work` writes, or nothing. Inside another transaction it is a savepoint. */
  transaction<T>(work: () => T): T;
}

export function mirrorOf(opened: OpenFile): Mirror {
  const mirror: Mirror = { ...opened, transaction: (work) => transact(mirror, work) };
  return mirror;
}

/**
 * Ends a run's work on a mirror.
 * @throws MirrorUnusable if the file was replaced or removed
 */
export function closeMirror(mirror: Mirror): void {
  const { db, id, path } = mirror;
  if (db.inTransaction) db.exec("ROLLBACK");
  // SQLite leaves the log of a moved file where it was: a file that took its place would be read with that log.
  if (id !== idOf(path)) emptyLog(mirror);
  db.close();
  checkFile(mirror);
}

/** Moves all that the log holds into the mirror's file. @returns false if a program that reads the mirror prevents it */
export function emptyLog({ db }: Mirror): boolean {
  return db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
}

const prepared = new WeakMap<Database, Map<string, Statement>>();

/** Returns a statement that is compiled once per connection. */
export function statement({ db }: Mirror, sql: string): Statement {
  const known = prepared.get(db) ?? new Map<string, Statement>();
  prepared.set(db, known);
  const found = known.get(sql) ?? db.prepare(sql);
  known.set(sql, found);
  return found;
}

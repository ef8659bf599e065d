import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import { MirrorUnusable } from "../../errors.js";
import { loadSqlite } from "../../util/sqlite.js";
import { damagedHint, errorCode } from "../../util/system-errors.js";
import {
  checkMirrorPath,
  checkNotReplaced,
  fileIdentity,
  mirrorFiles,
  moveLogFiles,
  readIntoMemory,
  resolveMirrorPath,
} from "./mirror-files.js";

/** Milliseconds that SQLite waits for another writer. No signals are handled during that time. */
export const busyMs = 1_000;

/** An open mirror. `open.ts` opens one for a command; `connect` opens any SQLite file. */
export class Mirror {
  /**
   * @param path as the user named it: it may be a link
   * @param id device and inode of the file that was opened; null for a database in memory
   */
  constructor(
    readonly db: Database,
    readonly path: string,
    readonly id: string | null,
  ) {}

  /**
   * Runs `work` in a transaction, or in a savepoint if a transaction is already open. Rolls back if it throws.
   * @throws MirrorUnusable if the file was replaced or removed; what `work` throws
   */
  transaction<T>(work: () => T): T {
    const { db } = this;
    const isNested = db.inTransaction;
    const { begin, commit, rollBack } = isNested ? savepoint : transaction;
    db.exec(begin);
    try {
      const result = work();
      if (!isNested) checkNotReplaced(this);
      db.exec(commit);
      return result;
    } catch (error) {
      // SQLite has already rolled back if the disk is full.
      if (db.inTransaction) db.exec(rollBack);
      throw error;
    }
  }
}

const transaction = { begin: "BEGIN IMMEDIATE", commit: "COMMIT", rollBack: "ROLLBACK" };
const savepoint = {
  begin: "SAVEPOINT nested",
  commit: "RELEASE nested",
  rollBack: "ROLLBACK TO nested; RELEASE nested",
};

/**
 * Begins a transaction that may stay open while something is awaited.
 * @returns a function that runs `last`, if given, and commits. It throws MirrorUnusable if the mirror was replaced or removed,
 * or SQLite's error, and then rolls back
 * @throws SQLite's SQLITE_BUSY if another program writes for too long
 */
export function beginTransaction(mirror: Mirror): (last?: () => void) => void {
  const { db } = mirror;
  db.exec(transaction.begin);
  return (last) => {
    // On a full disk SQLite has rolled back, and the statement that failed has thrown.
    if (!db.inTransaction) return;
    try {
      last?.();
      checkNotReplaced(mirror);
      db.exec(transaction.commit);
    } catch (error) {
      if (db.inTransaction) db.exec(transaction.rollBack);
      throw error;
    }
  };
}

/** Runs `work` in a read transaction: all its reads see one state of the mirror, even if a sync is writing. */
export async function withReadTransaction<T>({ db }: Mirror, work: () => Promise<T>): Promise<T> {
  db.exec("BEGIN");
  try {
    return await work();
  } finally {
    if (db.open && db.inTransaction) db.exec("ROLLBACK");
  }
}

const statements = new WeakMap<Database, Map<string, Statement>>();

/** Returns a prepared statement, which is compiled once per connection. */
export function statement({ db }: Mirror, sql: string): Statement {
  const prepared = statements.get(db) ?? new Map<string, Statement>();
  statements.set(db, prepared);
  const result = prepared.get(sql) ?? db.prepare(sql);
  prepared.set(sql, result);
  return result;
}

/** Returns an entry of the table `mirror_info`; null if there is none. */
export function readInfo(mirror: Mirror, name: string): string | null {
  const select = statement(mirror, "SELECT value FROM mirror_info WHERE name = ?").pluck();
  return (select.get(name) as string | undefined) ?? null;
}

export function writeInfo(mirror: Mirror, name: string, value: string): void {
  statement(
    mirror,
    `INSERT INTO mirror_info VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
  ).run(name, value);
}

export function deleteInfo(mirror: Mirror, name: string): void {
  statement(mirror, "DELETE FROM mirror_info WHERE name = ?").run(name);
}

/**
 * Opens the SQLite file at a path, whatever it contains. A read-only file in a folder that is not writable is read into memory.
 * @throws MirrorUnusable if SQLite cannot open it
 */
export async function connect(path: string, readonly: boolean): Promise<Mirror> {
  checkMirrorPath(path);
  const Sqlite = await loadSqlite();
  const id = fileIdentity(path);
  let db: Database | undefined;
  try {
    db = new Sqlite(path, { readonly, fileMustExist: true, timeout: busyMs });
    storeTempInMemory(db);
    // A user's table may reference ours: moving or rebuilding rows must neither fail nor delete its rows.
    db.pragma("foreign_keys = OFF");
    // The first read opens the log by name; after that, the files cannot be mixed up.
    db.pragma("schema_version");
    checkNotReplaced({ id, path });
    return new Mirror(db, path, id);
  } catch (error) {
    db?.close();
    if (!readonly || !/^SQLITE_(CANTOPEN|READONLY)/.test(errorCode(error))) throw asMirrorError(error, path);
  }
  // SQLite opens a database in WAL mode only where it can create the `-wal` and `-shm` files.
  try {
    db = new Sqlite(readIntoMemory(path), { readonly });
    storeTempInMemory(db);
    return new Mirror(db, path, id);
  } catch (error) {
    db?.close();
    throw asMirrorError(error, path);
  }
}

/** Sorting and temporary tables then need no temporary folder, which a read-only system does not have. */
function storeTempInMemory(db: Database): void {
  db.pragma("temp_store = MEMORY");
}

type Work<T> = (mirror: Mirror) => T | Promise<T>;

/** Waits for a mirror to be opened, passes it to `work`, and closes it even if `work` throws. */
export async function withMirror<T>(opening: Promise<Mirror>, work: Work<T>): Promise<T> {
  const mirror = await opening;
  try {
    return await work(mirror);
  } finally {
    mirror.db.close();
  }
}

/** Opens the file at a path for writing, passes it to `work`, and closes it even if `work` throws. */
export async function withMirrorFile<T>(path: string, work: Work<T>): Promise<T> {
  return await withMirror(connect(path, false), work);
}

/**
 * Closes a mirror at the end of a run.
 * @throws MirrorUnusable if the file was replaced or removed
 */
export function closeMirror(mirror: Mirror): void {
  const { db, id, path } = mirror;
  if (db.inTransaction) db.exec("ROLLBACK");
  // SQLite leaves the log of a moved file in place, and would apply it to the file that replaced it.
  if (id !== fileIdentity(path)) truncateLog(mirror);
  db.close();
  checkNotReplaced(mirror);
}

/** Moves all changes from the log to the mirror's file. @returns false if a program that reads the mirror prevents it */
export function truncateLog({ db }: Mirror): boolean {
  return db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
}

/** Creates an empty database (0600) and its folder. The file is complete when it appears at the path. */
export async function createMirrorFile(path: string): Promise<void> {
  const place = resolveMirrorPath(path);
  const temporary = `${place}-new`;
  const removeTemporary = () => {
    for (const file of mirrorFiles(temporary)) rmSync(file, { force: true });
  };
  const Sqlite = await loadSqlite();
  removeTemporary();
  try {
    // SQLite would create it world-readable (0644).
    closeSync(openSync(temporary, "a", 0o600));
    const db = new Sqlite(temporary);
    try {
      setFileFormat(db);
    } finally {
      db.close();
    }
    moveLogFiles(place, `${place}-old`);
    renameSync(temporary, place);
  } finally {
    removeTemporary();
  }
}

/** Sets the page size of an empty database, and WAL mode. */
export function setFileFormat(db: Database): void {
  // A record has about a kilobyte: large pages waste less space.
  db.pragma("page_size = 16384");
  db.pragma("journal_mode = WAL");
}

/** Returns SQLite's error as a MirrorUnusable that names the mirror; any other error unchanged. */
export function asMirrorError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  const create = (problem: string, hint: string) =>
    new MirrorUnusable(`The mirror ${problem}: ${path}.`, { hint, cause: error });
  if (code === "SQLITE_NOTADB") return create("is not an SQLite database", damagedHeaderHint);
  if (code.startsWith("SQLITE_CORRUPT")) return create("is damaged", damagedHint);
  if (code === "SQLITE_CANTOPEN") return create("cannot be opened", "check the path and its permissions");
  if (code.startsWith("SQLITE_READONLY")) return create("cannot be written", "check its permissions");
  return error;
}

const damagedHeaderHint =
  "if it was a mirror, its header is damaged: restore a backup with `brandapi backup --restore FILE`; otherwise choose another file with `--db`";

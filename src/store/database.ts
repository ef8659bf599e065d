import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import { loadSqlite } from "../util/sqlite.js";
import { damagedHint, errorCode } from "../util/system-errors.js";
import {
  checkMirrorPath,
  checkNotReplaced,
  fileIdentity,
  mirrorFiles,
  moveLogFiles,
  readIntoMemory,
  resolveMirrorPath,
} from "./mirror-files.js";

const damagedHeaderHint =
  "if it was a mirror, its header is damaged: restore a copy with `brandapi backup --restore FILE`; otherwise name another file with `--db`";
export const otherFileHint = "name another mirror with `--db`, or another backup with `--restore`";

/** Returns SQLite's error as a sentence about the mirror; any other error unchanged. */
export function asMirrorError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  const say = (what: string, hint: string) =>
    new MirrorUnusable(`The mirror ${what}: ${path}.`, { hint, cause: error });
  if (code === "SQLITE_NOTADB") return say("is not an SQLite database", damagedHeaderHint);
  if (code.startsWith("SQLITE_CORRUPT")) return say("is damaged", damagedHint);
  if (code === "SQLITE_CANTOPEN") return say("cannot be opened", "check the path and its permissions");
  if (code.startsWith("SQLITE_READONLY")) return say("cannot be written", "check its permissions");
  return error;
}

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
export function beginTransaction(mirror: OpenFile): (last?: () => void) => void {
  const { db } = mirror;
  db.exec(outermost.before);
  return (last) => {
    // SQLite rolls back by itself if the disk is full. The statement that failed has thrown that error already.
    if (!db.inTransaction) return;
    try {
      last?.();
      checkNotReplaced(mirror);
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
export function runTransaction<T>(mirror: OpenFile, work: () => T): T {
  const { db } = mirror;
  const { before, after, undo } = db.inTransaction ? nested : outermost;
  db.exec(before);
  try {
    const result = work();
    if (after === outermost.after) checkNotReplaced(mirror);
    db.exec(after);
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec(undo);
    throw error;
  }
}

/** Runs `work` in a read transaction: whatever a sync writes meanwhile, all reads see one state of the mirror. */
export async function withReadTransaction<T>({ db }: OpenFile, work: () => Promise<T>): Promise<T> {
  db.exec("BEGIN");
  try {
    return await work();
  } finally {
    if (db.open && db.inTransaction) db.exec("ROLLBACK");
  }
}

/** An open mirror file. */
export interface Mirror extends OpenFile {
  /** Keeps all that `work` writes, or nothing. Inside another transaction it is a savepoint. */
  transaction<T>(work: () => T): T;
}

export function wrapDatabase(opened: OpenFile): Mirror {
  const mirror: Mirror = { ...opened, transaction: (work) => runTransaction(mirror, work) };
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
  if (id !== fileIdentity(path)) truncateLog(mirror);
  db.close();
  checkNotReplaced(mirror);
}

/** Moves all that the log holds into the mirror's file. @returns false if a program that reads the mirror prevents it */
export function truncateLog({ db }: Mirror): boolean {
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

/** How long SQLite waits for another program that writes, in milliseconds. No signal is handled meanwhile. */
export const busyMs = 1_000;

/**
 * Opens the file at a path, whatever it holds.
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
    // A table that somebody added may reference ours: moving or rebuilding rows must neither fail nor delete its rows.
    db.pragma("foreign_keys = OFF");
    // SQLite opens its log, by name, with the first read.
    db.pragma("schema_version");
    checkNotReplaced({ id, path });
    return wrapDatabase({ db, path, id });
  } catch (error) {
    db?.close();
    if (!readonly || !/^SQLITE_(CANTOPEN|READONLY)/.test(errorCode(error))) throw asMirrorError(error, path);
  }
  // SQLite opens a database in WAL mode only where it can create the files beside it.
  try {
    db = new Sqlite(readIntoMemory(path), { readonly });
    storeTempInMemory(db);
    return wrapDatabase({ db, path, id });
  } catch (error) {
    db?.close();
    throw asMirrorError(error, path);
  }
}

/** Sorting and temporary tables need no temporary folder, which a read-only system does not have. */
function storeTempInMemory(db: Database): void {
  db.pragma("temp_store = MEMORY");
}

type Work<T> = (mirror: Mirror) => T | Promise<T>;

/** Uses a mirror that is being opened, and closes it however `work` ends. */
export async function withMirror<T>(opening: Promise<Mirror>, work: Work<T>): Promise<T> {
  const mirror = await opening;
  try {
    return await work(mirror);
  } finally {
    mirror.db.close();
  }
}

/** Opens the file at a path for writing, as long as `work` takes. */
export async function withMirrorFile<T>(path: string, work: Work<T>): Promise<T> {
  return await withMirror(connect(path, false), work);
}

/** Creates an empty mirror for its owner alone (0600), and its folder. It is complete when it appears at its path. */
export async function createMirrorFile(path: string): Promise<void> {
  const place = resolveMirrorPath(path);
  const temporary = `${place}-new`;
  const clear = () => {
    for (const one of mirrorFiles(temporary)) rmSync(one, { force: true });
  };
  const Sqlite = await loadSqlite();
  clear();
  try {
    // SQLite alone would create it readable for everybody: 0644.
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
    clear();
  }
}

/** Sets the form of a mirror's file, as far as it can still be chosen. */
export function setFileFormat(db: Database): void {
  // A record is about a kilobyte: large pages waste less on it.
  db.pragma("page_size = 16384");
  db.pragma("journal_mode = WAL");
}

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

interface Brand {
  id: string;
  name: string;
}

/** Returns the brand that the mirror belongs to, the one that filled it first; null for an empty mirror. */
export function readOwner(mirror: Mirror): Brand | null {
  const id = readInfo(mirror, "brand_id");
  return id === null ? null : { id, name: readInfo(mirror, "brand_name") ?? id };
}

/**
 * Checks that a mirror belongs to the key's brand.
 * @param owner the mirror's brand; null if there is no mirror, or an empty one
 * @param expected the brand of the profile, which counts for a mirror without an owner
 * @throws MirrorUnusable if the key is another brand's
 */
export function checkOwner(owner: Brand | null, brand: Brand, expected?: Brand): void {
  const required = owner ?? expected;
  if (required === undefined || required.id === brand.id) return;
  // Two brands may have the same name.
  const [requiredText, keyText] = [required, brand].map(({ id, name }) => `${name} (${id})`);
  const what = owner === null ? "profile" : "mirror";
  throw new MirrorUnusable(
    `The ${what} belongs to another brand, ${requiredText}, and the key to ${keyText}.`,
    {
      hint: "use a profile for each brand: `--profile NAME`, or another file: `--db PATH`",
    },
  );
}

/** Makes the mirror this brand's. @throws MirrorUnusable if it is another brand's */
export function claimMirror(mirror: Mirror, brand: Brand): void {
  checkOwner(readOwner(mirror), brand);
  writeInfo(mirror, "brand_id", brand.id);
  writeInfo(mirror, "brand_name", brand.name);
}

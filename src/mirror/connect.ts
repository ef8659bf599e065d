import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { codeOf } from "../lib/failures.js";
import { loadSqlite } from "../lib/sqlite.js";
import { asMirrorError } from "./errors.js";
import { type Mirror, mirrorOf } from "./mirror.js";
import { checkFile, checkPlace, idOf, mirrorFiles, moveLogs, realPlace } from "./place.js";
import { readIntoMemory } from "./read-only.js";

/** How long SQLite waits for another program that writes, in milliseconds. No signal is handled meanwhile. */
export const busyMs = 1_000;

/**
 * Opens the file at a path, whatever it holds.
 * @throws MirrorUnusable if SQLite cannot open it
 */
export async function connect(path: string, readonly: boolean): Promise<Mirror> {
  checkPlace(path);
  const Sqlite = await loadSqlite();
  const id = idOf(path);
  let db: Database | undefined;
  try {
    db = new Sqlite(path, { readonly, fileMustExist: true, timeout: busyMs });
    keepTempInMemory(db);
    // A table that somebody added may reference ours: moving or rebuilding rows must neither fail nor delete its rows.
    db.pragma("foreign_keys = OFF");
    // SQLite opens its log, by name, with the first read.
    db.pragma("schema_version");
    checkFile({ id, path });
    return mirrorOf({ db, path, id });
  } catch (error) {
    db?.close();
    if (!readonly || !/^SQLITE_(CANTOPEN|READONLY)/.test(codeOf(error))) throw asMirrorError(error, path);
  }
  // SQLite opens a database in WAL mode only where it can create the files beside it.
  try {
    db = new Sqlite(readIntoMemory(path), { readonly });
    keepTempInMemory(db);
    return mirrorOf({ db, path, id });
  } catch (error) {
    db?.close();
    throw asMirrorError(error, path);
  }
}

/** Sorting and temporary tables need no temporary folder, which a read-only system does not have. */
function keepTempInMemory(db: Database): void {
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
export async function withFile<T>(path: string, work: Work<T>): Promise<T> {
  return await withMirror(connect(path, false), work);
}

/** Creates an empty mirror for its owner alone (0600), and its folder. It is complete when it appears at its path. */
export async function createFile(path: string): Promise<void> {
  const place = realPlace(path);
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
      layOut(db);
    } finally {
      db.close();
    }
    moveLogs(place, `${place}-old`);
    renameSync(temporary, place);
  } finally {
    clear();
  }
}

/** Sets the form of a mirror's file, as far as it can still be chosen. */
export function layOut(db: Database): void {
  // A record is about a kilobyte: large pages waste less on it.
  db.pragma("page_size = 16384");
  db.pragma("journal_mode = WAL");
}

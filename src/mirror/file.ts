import { closeSync, openSync, realpathSync, renameSync, rmSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import { loadSqlite } from "../lib/sqlite.js";
import type { Lock } from "./lock.js";
import { lossError } from "./loss.js";
import { type Mirror, mirrorOf } from "./mirror.js";
import { checkPlace, idOf, mirrorFiles, realPlace } from "./place.js";
import { applicationId, migrations } from "./schema.js";
import { quote } from "./typed-table.js";

/** How long SQLite waits for another program that writes, in milliseconds: it hears no signal meanwhile. */
export const busyMs = 1_000;

export async function connect(path: string, readonly: boolean): Promise<Mirror> {
  checkPlace(path);
  const Sqlite = await loadSqlite();
  try {
    for (;;) {
      const id = idOf(path);
      const db = new Sqlite(path, { readonly, fileMustExist: true, timeout: busyMs });
      try {
        // SQLite opens the log, by its name, when it first reads.
        db.pragma("schema_version");
        if (id === idOf(path)) return mirrorOf({ db, path: realpathSync(path), id });
      } catch (error) {
        db.close();
        throw error;
      }
      // Another file came to this path in between.
      db.close();
    }
  } catch (error) {
    if (readonly && isForbidden(error))
      throw unusable(
        "cannot be read where nothing may be written",
        path,
        "SQLite keeps a log beside it: allow writing into its folder, or copy it elsewhere and name the copy with `--db`",
        error,
      );
    throw asMirrorError(error, path);
  }
}

/**
 * Creates an empty mirror, which comes into its place whole, with a folder for it.
 * @throws MirrorUnusable where the run that holds the lock has seen one there
 */
export async function createFile(path: string, lock?: Lock): Promise<void> {
  if (lock && lock.mirrorId !== null) throw lossError("removed", path);
  const place = realPlace(path);
  const made = `${place}-new`;
  const clear = () => {
    for (const one of mirrorFiles(made)) rmSync(one, { force: true });
  };
  const Sqlite = await loadSqlite();
  clear();
  try {
    // SQLite would create it for everyone to read: 0644.
    closeSync(openSync(made, "a", 0o600));
    const db = new Sqlite(made);
    try {
      layOut(db);
    } finally {
      db.close();
    }
    renameSync(made, place);
  } finally {
    clear();
  }
}

/** The form of a mirror's file, as far as it can still be chosen. */
export function layOut(db: Database): void {
  // A record is about a kilobyte, and large pages hold them with less waste and copying.
  db.pragma("page_size = 16384");
  db.pragma("journal_mode = WAL");
}

export function checkIdentity({ db, path }: Mirror): void {
  const version = Number(db.pragma("user_version", { simple: true }));
  const id = Number(db.pragma("application_id", { simple: true }));
  const hasTables = db.prepare("SELECT count(*) FROM sqlite_master").pluck().get() !== 0;
  if (version === 0 && id === 0 && !hasTables) return;
  if (id !== applicationId)
    throw new MirrorUnusable(`Not a mirror of brandapi: ${path}.`, { hint: "name another file with `--db`" });
  if (version > migrations.length)
    throw new MirrorUnusable(`The mirror was written by a newer version of brandapi: ${path}.`, {
      hint: "use the newer brandapi, or update this one: `git pull && npm ci` in a checkout, `npm install -g` with its newer package; the file was left as it is",
    });
  // Version and tables are written in one transaction: one without the other was somebody else's doing.
  if (version < 1 && holdsRecords(db))
    throw unusable("is damaged: it holds records, but its version is gone", path, damagedHint, undefined);
}

const damagedHint = "restore it from a backup, or move it away and run `brandapi sync --full`";

function holdsRecords(db: Database): boolean {
  const table = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'records'");
  if (table.get() === undefined) return false;
  return db.prepare("SELECT 1 FROM records LIMIT 1").get() !== undefined;
}

export function migrate(db: Database): void {
  const version = Number(db.pragma("user_version", { simple: true }));
  if (version === migrations.length) return;
  if (version < 1) clear(db);
  for (const step of migrations.slice(Math.max(0, version))) db.exec(step);
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${migrations.length}`);
}

/** A mirror of ours that was never finished holds nothing: it is made anew. */
function clear(db: Database): void {
  const parts = db
    .prepare(
      "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^'",
    )
    .all() as { type: string; name: string }[];
  for (const { type, name } of parts) db.exec(`DROP ${type} IF EXISTS ${quote(name)}`);
}

export function asMirrorError(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "SQLITE_NOTADB")
    return unusable("is not an SQLite database", path, "name another file with `--db`", error);
  if (code.startsWith("SQLITE_CORRUPT")) return unusable("is damaged", path, damagedHint, error);
  // ENOENT: it was taken away while it was being opened.
  if (code === "SQLITE_CANTOPEN" || code === "ENOENT")
    return unusable("cannot be opened", path, "check the path and its permissions", error);
  if (isForbidden(error)) return unusable("cannot be written", path, "check its permissions", error);
  return error;
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_READONLY");
}

function unusable(what: string, path: string, hint: string, cause: unknown): MirrorUnusable {
  return new MirrorUnusable(`The mirror ${what}: ${path}.`, { hint, cause });
}

/** Whether a mirror's system tables are those of this version; 0: it has none yet. */
export function schemaVersion({ db }: Mirror): "none" | "older" | "current" {
  const version = Number(db.pragma("user_version", { simple: true }));
  if (version < 1) return "none";
  return version === migrations.length ? "current" : "older";
}

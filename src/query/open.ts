import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { ConfigurationError, MirrorUnusable } from "../errors.js";
import type { Mirror } from "../mirror/mirror.js";
import { checkPlace } from "../mirror/place.js";
import { applicationId, migrations, quote } from "../mirror/schema.js";
import { isOutdated, reproject } from "../records/index.js";
import { createViews } from "./views.js";

/**
 * Opens the mirror for writing, creating it (mode 0600, its folder 0700) where there is none, and migrates it
 * to this version's tables in one transaction.
 * @throws MirrorUnusable when the file is no mirror, damaged, or written by a newer version (left untouched)
 */
export async function openMirror(path: string): Promise<Mirror> {
  if (!existsSync(path)) createFile(path);
  const mirror = await connect(path, false);
  try {
    checkIdentity(mirror);
    // Before anything is in it: a record is about a kilobyte, and large pages hold them with less waste and copying.
    mirror.db.pragma("page_size = 16384");
    mirror.db.pragma("journal_mode = WAL");
    mirror.db.pragma("synchronous = NORMAL");
    mirror.db.pragma("cache_size = -8000");
    mirror.db.pragma("wal_autocheckpoint = 1000");
    mirror.db
      .transaction(() => {
        migrate(mirror.db);
        reproject(mirror);
        createViews(mirror);
      })
      .immediate();
    return mirror;
  } catch (error) {
    mirror.db.close();
    throw asMirrorError(error, path);
  }
}

/**
 * Opens the mirror for reading: never blocked by a sync, never blocking one. A mirror that an older version wrote is
 * brought up to date first, from what it holds.
 * @throws ConfigurationError when there is no mirror yet
 */
export async function openMirrorReadOnly(path: string): Promise<Mirror> {
  if (!existsSync(path))
    throw new ConfigurationError(`No mirror yet: ${path}.`, {
      hint: "run `brandapi sync` first, or `brandapi demo`",
    });
  const mirror = await connect(path, true);
  try {
    checkIdentity(mirror);
    const version = Number(mirror.db.pragma("user_version", { simple: true }));
    if (version < 1)
      throw new ConfigurationError(`The mirror is empty: ${path}.`, { hint: "run `brandapi sync` first" });
    if (version === migrations.length && !isOutdated(mirror)) return mirror;
    mirror.db.close();
    (await openMirror(path)).db.close();
    return await connect(path, true);
  } catch (error) {
    mirror.db.close();
    throw asMirrorError(error, path);
  }
}

/**
 * Opens what is there for reading; where there is no mirror yet, an empty one in memory.
 * @throws MirrorUnusable when what is there is no mirror of this version or an older one
 */
export async function openMirrorOrNone(path: string): Promise<Mirror> {
  if (existsSync(path)) {
    const mirror = await connect(path, true);
    try {
      checkIdentity(mirror);
      if (Number(mirror.db.pragma("user_version", { simple: true })) > 0) return mirror;
      mirror.db.close();
    } catch (error) {
      mirror.db.close();
      throw asMirrorError(error, path);
    }
  }
  const { default: Sqlite } = await import("better-sqlite3");
  const mirror = { db: new Sqlite(":memory:"), path };
  migrate(mirror.db);
  return mirror;
}

async function connect(path: string, readonly: boolean): Promise<Mirror> {
  checkPlace(path);
  const { default: Sqlite } = await import("better-sqlite3");
  try {
    return {
      db: new Sqlite(path, { readonly, fileMustExist: true, timeout: 10_000 }),
      path: realpathSync(path),
    };
  } catch (error) {
    throw asMirrorError(error, path);
  }
}

/** SQLite would create the file for everyone to read: 0644. */
function createFile(path: string): void {
  mkdirSync(dirname(resolve(path)), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

function checkIdentity({ db, path }: Mirror): void {
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

function migrate(db: Database): void {
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

function asMirrorError(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "SQLITE_NOTADB")
    return unusable("is not an SQLite database", path, "name another file with `--db`", error);
  if (code.startsWith("SQLITE_CORRUPT")) return unusable("is damaged", path, damagedHint, error);
  if (code === "SQLITE_CANTOPEN")
    return unusable("cannot be opened", path, "check the path and its permissions", error);
  if (code.startsWith("SQLITE_READONLY"))
    return unusable("cannot be written", path, "check its permissions", error);
  return error;
}

function unusable(what: string, path: string, hint: string, cause: unknown): MirrorUnusable {
  return new MirrorUnusable(`The mirror ${what}: ${path}.`, { hint, cause });
}

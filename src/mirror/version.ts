import type { Database } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import { otherFileHint } from "./errors.js";
import type { Mirror } from "./mirror.js";
import { applicationId, migrations } from "./schema.js";

/** @throws MirrorUnusable if the file is no mirror, or was written by a newer version */
export function checkIdentity({ db, path }: Mirror): void {
  const version = versionOf(db);
  const id = Number(db.pragma("application_id", { simple: true }));
  const isEmpty = db.prepare("SELECT count(*) FROM sqlite_master").pluck().get() === 0;
  if (version === 0 && id === 0 && isEmpty) return;
  // Tables, version and identity are written in one transaction.
  if (id !== applicationId || version < 1)
    throw new MirrorUnusable(`Not a mirror of brandapi: ${path}.`, { hint: otherFileHint });
  if (version > migrations.length)
    throw new MirrorUnusable(`The mirror was written by a newer version of brandapi: ${path}.`, {
      hint: "use the newer brandapi, or update this one: `git pull && npm ci` in a checkout, `npm install -g` with its newer package; the file was left as it is",
    });
}

/** Brings the system tables to this version. Call it in a transaction. */
export function migrate(db: Database): void {
  const version = versionOf(db);
  if (version === migrations.length) return;
  for (const step of migrations.slice(version)) db.exec(step);
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${migrations.length}`);
}

/** Tells whether a mirror's system tables are missing, older or those of this version. */
export function schemaVersion({ db }: Mirror): "none" | "older" | "current" {
  const version = versionOf(db);
  if (version < 1) return "none";
  return version === migrations.length ? "current" : "older";
}

function versionOf(db: Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}

/** Returns the first damage that SQLite finds in a mirror's file, indexes included; null if there is none. */
export function findDamage({ db }: Pick<Mirror, "db">): string | null {
  const first = String(db.pragma("integrity_check(1)", { simple: true }));
  return first === "ok" ? null : first;
}

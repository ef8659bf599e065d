import { closeSync, openSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import { loadSqlite } from "../lib/sqlite.js";
import { findDamage } from "./integrity.js";
import type { Mirror } from "./mirror.js";
import { quote } from "./typed-table.js";

const pagesPerStep = 500;

/**
 * Copies a mirror as it is at one instant, beside a running sync, into a new file (0600), and checks the copy.
 * @returns the number of records
 * @throws MirrorUnusable if the copy is damaged or differs from the mirror; the caller removes the file
 */
export async function copyMirror({ db }: Mirror, to: string, signal: AbortSignal): Promise<number> {
  const Sqlite = await loadSqlite();
  closeSync(openSync(to, "wx", 0o600));
  let copy: Database | undefined;
  // SQLite copies what an open transaction sees. VACUUM INTO takes none, so its copy could not be compared.
  db.exec("BEGIN");
  try {
    const contents = contentsOf(db);
    const progress = () => {
      signal.throwIfAborted();
      return pagesPerStep;
    };
    await db.backup(to, { progress });
    copy = new Sqlite(to);
    // A file in WAL mode could not be opened in a folder that is not writable.
    copy.pragma("journal_mode = DELETE");
    const damage = findDamage({ db: copy }) ?? (contentsOf(copy) === contents ? null : "other rows");
    if (damage === null) return copy.prepare<[], number>("SELECT count(*) FROM records").pluck().get() ?? 0;
    throw new MirrorUnusable(`The copy does not agree with the mirror (${damage}).`, {
      hint: "nothing was kept of it: see `brandapi doctor`, then run the same command again",
    });
  } finally {
    copy?.close();
    db.exec("ROLLBACK");
  }
}

/** Returns the number of rows of each table, and the last run of each resource, as text to compare. */
function contentsOf(db: Database): string {
  const names = db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  const counts = names.map((name) => [
    name,
    db
      .prepare(`SELECT count(*) FROM ${quote(name)}`)
      .pluck()
      .get(),
  ]);
  const runs = db.prepare("SELECT max(run_id), * FROM sync_runs GROUP BY resource").all();
  return JSON.stringify([counts, runs]);
}

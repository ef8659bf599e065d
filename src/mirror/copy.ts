import { closeSync, openSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import { loadSqlite } from "../lib/sqlite.js";
import { findDamage } from "./integrity.js";
import type { Mirror } from "./mirror.js";

const pagesPerStep = 500;

/**
 * Copies a mirror as it is at one instant, beside a running sync, into a new file of its own (0600), and compares the
 * copy with what was copied: the original keeps its snapshot until then.
 * @returns the number of records
 * @throws MirrorUnusable if the copy is damaged or does not agree; the file is left to the caller
 */
export async function copyMirror({ db }: Mirror, to: string, signal: AbortSignal): Promise<number> {
  closeSync(openSync(to, "wx", 0o600));
  // SQLite's backup copies the snapshot of a transaction that is open.
  db.exec("BEGIN");
  try {
    const contents = contentsOf(db);
    const progress = () => {
      signal.throwIfAborted();
      return pagesPerStep;
    };
    await db.backup(to, { progress });
    await checkCopy(contents, to);
    return contents.tables.records ?? 0;
  } finally {
    db.exec("ROLLBACK");
  }
}

/** Rows of each table, and the last run of each resource. */
export function contentsOf(db: Database) {
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const count = (name: string) =>
    db
      .prepare<[], number>(`SELECT count(*) FROM "${name.replaceAll('"', '""')}"`)
      .pluck()
      .get() ?? 0;
  const tables: Record<string, number> = Object.fromEntries(names.map((name) => [name, count(name)]));
  const runs = db.prepare("SELECT max(run_id), * FROM sync_runs GROUP BY resource ORDER BY resource").all();
  return { tables, runs };
}

/** @throws MirrorUnusable if a copy is damaged, or does not hold what it is a copy of */
export async function checkCopy(contents: ReturnType<typeof contentsOf>, path: string): Promise<void> {
  const Sqlite = await loadSqlite();
  const db = new Sqlite(path);
  try {
    // A file in WAL mode could not be opened in a folder that is not writable.
    db.pragma("journal_mode = DELETE");
    const damage = findDamage({ db });
    const isSame = JSON.stringify(contentsOf(db)) === JSON.stringify(contents);
    if (damage === null && isSame) return;
    throw new MirrorUnusable(`The copy does not agree with the mirror (${damage ?? "other rows"}).`, {
      hint: "nothing was kept of it: see `brandapi doctor`, then run the same command again",
    });
  } finally {
    db.close();
  }
}

import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../lib/make-folder.js";
import { loadSqlite } from "../lib/sqlite.js";
import { type Account, Ledger } from "./ledger.js";

/** Milliseconds that a transaction of another process may hold this one up before an error comes. */
const busyMs = 200;

/** An open ledger. */
export interface LedgerFile {
  ledger: Ledger;
  /** False once the path leads to another file, or to none. */
  isCurrent(): boolean;
}

/** Loads SQLite. @returns what opens ledgers in a file (made with its folder if missing), or with null in memory */
export async function ledgerOpener(account: Account, limit: number, windowMs: number) {
  const Sqlite = await loadSqlite();
  return function open(file: string | null): LedgerFile {
    if (file !== null) makePrivate(file);
    const inode = file === null ? undefined : inodeOf(file);
    const db = new Sqlite(file ?? ":memory:", { timeout: busyMs });
    try {
      // No WAL: its two more files can be deleted, too. A power cut costs milliseconds, and the window is older by then.
      db.pragma("journal_mode = TRUNCATE");
      db.pragma("synchronous = OFF");
      const ledger = new Ledger(db, account, limit, windowMs);
      return { ledger, isCurrent: () => file === null || inodeOf(file) === inode };
    } catch (error) {
      db.close();
      throw error;
    }
  };
}

/** Removes a damaged file with its journal; false if the system does not allow it. */
export function removeLedgerFile(file: string): boolean {
  try {
    for (const ending of ["", "-journal"]) rmSync(file + ending, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Returns the code of SQLite's or the system's error; empty for a defect of this program. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" && /^(SQLITE_|E[A-Z]+$)/.test(code) ? code : "";
}

/** Made here first, because better-sqlite3 would make it readable for everyone. */
function makePrivate(file: string): void {
  makeFolder(dirname(file), 0o700);
  closeSync(openSync(file, "a", 0o600));
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

import { chmodSync, closeSync, openSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../lib/make-folder.js";
import { loadSqlite } from "../lib/sqlite.js";
import { type Account, type Budget, Ledger } from "./ledger.js";

/** How long a transaction of another process may hold this one up before it looks again, in milliseconds. */
const busyMs = 200;

/** The ledger that all processes share, and the identity of its file: whoever deletes it is noticed. */
export interface LedgerFile {
  ledger: Ledger;
  /** False once the path leads to another file, or to none. */
  isCurrent(): boolean;
}

export function ledgerPath(folder: string): string {
  return join(folder, "rate.sqlite");
}

/** Opens `rate.sqlite` in `folder`, made where missing (folder 0700, file 0600). Throws what the system says. */
export async function openLedgerFile(folder: string, account: Account, budget: Budget): Promise<LedgerFile> {
  const Database = await loadSqlite();
  const path = ledgerPath(folder);
  makeFolder(folder, 0o700);
  // Opening a pipe would wait for whoever writes to it, and hear no signal.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw Object.assign(new Error("rate.sqlite is not a file"), { code: "ENOTSUP" });
  // Made here first: better-sqlite3 would make it readable for everyone.
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const identity = identityOf(path);
  const db = new Database(path, { timeout: busyMs });
  try {
    // A rollback journal, not WAL: two files fewer to go wrong when someone deletes one. Losing the last
    // milliseconds in a power cut is harmless, the window is older by then.
    db.pragma("journal_mode = TRUNCATE");
    db.pragma("synchronous = OFF");
    const ledger = new Ledger(db, account, budget);
    return { ledger, isCurrent: () => identityOf(path) === identity };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A ledger of this process alone. */
export async function openLedgerInMemory(account: Account, budget: Budget): Promise<LedgerFile> {
  const Database = await loadSqlite();
  return { ledger: new Ledger(new Database(":memory:"), account, budget), isCurrent: () => true };
}

/** Removes a damaged file, with its journal. */
export function removeLedgerFile(folder: string): void {
  for (const ending of ["", "-journal"]) rmSync(ledgerPath(folder) + ending, { force: true });
}

function identityOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}` : null;
}

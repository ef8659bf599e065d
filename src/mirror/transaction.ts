import type { Clock } from "../deps.js";
import type { Mirror } from "./mirror.js";

/** How long another program that writes is waited for, in milliseconds. */
const patienceMs = 10_000;

/** One transaction after another, each as long as its owner wants: it may stay open while something is awaited. */
export interface Transaction {
  readonly isOpen: boolean;
  /** Waits for another program that writes. Rejects with the signal's reason, or SQLite's SQLITE_BUSY. */
  begin(): Promise<void>;
  /** @throws what SQLite says; then nothing of it is kept */
  commit(): void;
  /** Takes it back, unless SQLite has done so itself, as it does when the disk is full. */
  rollback(): void;
}

export function openTransaction(
  { db }: Mirror,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Transaction {
  let isOpen = false;
  const rollback = () => {
    isOpen = false;
    if (db.inTransaction) db.exec("ROLLBACK");
  };
  return {
    get isOpen() {
      return isOpen;
    },
    async begin() {
      const until = clock.monotonic() + patienceMs;
      while (!isOpen)
        try {
          db.exec("BEGIN IMMEDIATE");
          isOpen = true;
        } catch (error) {
          if (!isBusy(error) || clock.monotonic() >= until) throw error;
          await clock.sleep(0, signal);
        }
    },
    commit() {
      if (!isOpen) return;
      try {
        db.exec("COMMIT");
        isOpen = false;
      } catch (error) {
        rollback();
        throw error;
      }
    },
    rollback,
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}

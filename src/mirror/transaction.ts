import type { Clock } from "../deps.js";
import { inParts } from "../lib/in-parts.js";
import type { Mirror } from "./mirror.js";

/** How long another program that writes is waited for, in milliseconds. */
const patienceMs = 10_000;

/** One transaction after another, each as long as its owner wants: it may stay open while something is awaited. */
export interface Transaction {
  readonly isOpen: boolean;
  /** Waits for another program that writes. Rejects with the signal's reason, or SQLite's SQLITE_BUSY. */
  begin(): Promise<void>;
  /** @throws MirrorUnusable where the run has lost its mirror, and what SQLite says; then nothing of it is kept */
  commit(): void;
  /** Takes it back, unless SQLite has done so itself, as it does when the disk is full. */
  rollback(): void;
}

export function openTransaction(
  mirror: Mirror,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Transaction {
  let isOpen = false;
  return {
    get isOpen() {
      return isOpen;
    },
    async begin() {
      const until = clock.monotonic() + patienceMs;
      while (!isOpen)
        try {
          begin(mirror);
          isOpen = true;
        } catch (error) {
          if (!isBusy(error) || clock.monotonic() >= until) throw error;
          await clock.sleep(0, signal);
        }
    },
    commit() {
      if (!isOpen) return;
      isOpen = false;
      commit(mirror);
    },
    rollback() {
      isOpen = false;
      rollback(mirror);
    },
  };
}

/**
 * Keeps all that these parts write, or nothing: a signal between two of them takes it back. What else this process writes
 * meanwhile goes with it.
 */
export async function transactInParts<Result>(
  mirror: Mirror,
  parts: Generator<void, Result>,
  waiting: { clock: Clock; signal: AbortSignal },
): Promise<Result> {
  const transaction = openTransaction(mirror, waiting);
  await transaction.begin();
  try {
    const result = await inParts(parts, waiting);
    transaction.commit();
    return result;
  } finally {
    // Committed by now, unless something was thrown.
    if (transaction.isOpen) transaction.rollback();
  }
}

/** Keeps all that `work` writes, or nothing; within another transaction, with what that one keeps. */
export function inTransaction<T>(mirror: Mirror, work: () => T): T {
  if (mirror.db.inTransaction) return mirror.db.transaction(work)();
  begin(mirror);
  try {
    const result = work();
    commit(mirror);
    return result;
  } catch (error) {
    rollback(mirror);
    throw error;
  }
}

function begin({ db, held }: Mirror): void {
  held?.begin();
  db.exec("BEGIN IMMEDIATE");
}

function commit(mirror: Mirror): void {
  const { db, held } = mirror;
  try {
    held?.look();
    db.exec("COMMIT");
  } catch (error) {
    rollback(mirror);
    throw error;
  }
  held?.settle();
}

function rollback({ db }: Mirror): void {
  if (db.inTransaction) db.exec("ROLLBACK");
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}

import type { Mirror } from "./mirror.js";

/** One transaction after another, each as long as its owner wants: it may stay open while something is awaited. */
export interface Transaction {
  readonly isOpen: boolean;
  begin(): void;
  /** @throws what SQLite says; then nothing of it is kept */
  commit(): void;
  /** Takes it back, unless SQLite has done so itself, as it does when the disk is full. */
  rollback(): void;
}

export function openTransaction({ db }: Mirror): Transaction {
  let isOpen = false;
  const rollback = () => {
    isOpen = false;
    if (db.inTransaction) db.exec("ROLLBACK");
  };
  return {
    get isOpen() {
      return isOpen;
    },
    begin() {
      db.exec("BEGIN IMMEDIATE");
      isOpen = true;
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

import { openTransaction } from "../mirror/index.js";
import type { SyncRun } from "./run.js";

/** Answers that come faster than they are written share a transaction of at most so many milliseconds. */
const longestMs = 250;
/** How long the next answer is waited for before a transaction is committed, in milliseconds. */
const patienceMs = 25;

/** Answers that are committed together. A kill costs what is not committed. */
export interface Group {
  /** Writes one answer whole, or nothing of it. Commits unless the next answer comes at once. */
  write(answer: () => void, next: Promise<unknown> | null): Promise<void>;
  commit(): Promise<void>;
}

export function openGroup({ clock, mirror, row }: Pick<SyncRun, "clock" | "mirror" | "row">): Group {
  let open: { transaction: ReturnType<typeof openTransaction>; since: number; before: typeof counts } | null =
    null;
  const counts = { rows_new: 0, rows_changed: 0, rows_read: 0 };

  /** What is counted of rows is set back if they are not kept. */
  function undo(): void {
    if (open?.transaction.isOpen) open.transaction.rollback();
    Object.assign(row, open?.before);
    open = null;
  }

  const group: Group = {
    async write(answer, next) {
      if (!open) {
        const { rows_new, rows_changed, rows_read } = row;
        open = {
          transaction: openTransaction(mirror),
          since: clock.monotonic(),
          before: { rows_new, rows_changed, rows_read },
        };
      }
      const { rows_new, rows_changed, rows_read } = row;
      try {
        mirror.transaction(answer);
      } catch (error) {
        Object.assign(row, { rows_new, rows_changed, rows_read });
        throw error;
      }
      const isOld = clock.monotonic() - open.since >= longestMs;
      if (isOld || !next || !(await comesSoon(next))) await group.commit();
    },
    async commit() {
      if (!open) return;
      try {
        open.transaction.commit();
        open = null;
      } catch (error) {
        undo();
        throw error;
      }
    },
  };

  async function comesSoon(next: Promise<unknown>): Promise<boolean> {
    const came = next.then(
      () => true,
      () => true,
    );
    return await Promise.race([came, clock.sleep(patienceMs).then(() => false)]);
  }

  return group;
}

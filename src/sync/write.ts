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
  commit(): void;
}

export function openGroup({ clock, mirror }: Pick<SyncRun, "clock" | "mirror">): Group {
  let transaction: ReturnType<typeof openTransaction> | null = null;
  let openedAt = 0;

  async function comesSoon(next: Promise<unknown>): Promise<boolean> {
    const came = next.then(
      () => true,
      () => true,
    );
    return await Promise.race([came, clock.sleep(patienceMs).then(() => false)]);
  }

  const group: Group = {
    async write(answer, next) {
      if (!transaction) openedAt = clock.monotonic();
      transaction ??= openTransaction(mirror);
      mirror.transaction(answer);
      const isOld = clock.monotonic() - openedAt >= longestMs;
      if (isOld || !next || !(await comesSoon(next))) group.commit();
    },
    commit() {
      const open = transaction;
      transaction = null;
      open?.commit();
    },
  };
  return group;
}

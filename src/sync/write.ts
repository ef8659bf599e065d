import { BrandapiError } from "../errors.js";
import { openTransaction, type Run } from "../mirror/index.js";
import type { ApiRecord } from "../resources/types.js";
import { formatInstant } from "../times.js";
import type { SyncRun } from "./run.js";

/** What one answer held, to be written whole. */
export interface Answered {
  records: readonly ApiRecord[];
  /** Milliseconds since 1970: when it was asked for. */
  askedAt: number;
  /** The place of the first record in the whole list: the key of records that have none. */
  position?: number;
}

/** Large transactions are far cheaper, since random keys touch the same index pages again and again. */
const mostTogether = 150;
const longestMs = 1_000;
/** So many times as long as it took to write the last answer, the next one is waited for. */
const patience = 3;

/**
 * Writes what comes, each answer whole. Answers that come faster than they are written share a transaction of at most a
 * second; otherwise each is committed at once. A kill costs what is not committed.
 */
export async function writeEach<One>(
  { clock, signal, mirror, row }: Pick<SyncRun, "clock" | "signal" | "mirror" | "row">,
  ones: AsyncIterable<One>,
  write: (one: One) => void,
): Promise<void> {
  const transaction = openTransaction(mirror, { clock, signal });
  const iterator = ones[Symbol.asyncIterator]();
  let before: Partial<Run> = {};
  let together = 0;
  let openedAt = 0;
  let tookMs = 0;

  /** What a run counts of rows is set back when they are not kept after all. */
  function keepOrUndo(work: () => void): void {
    try {
      work();
    } catch (error) {
      // An answer that cannot be kept is refused before any of it is written: those before it stay.
      if (error instanceof BrandapiError) throw error;
      transaction.rollback();
      Object.assign(row, before);
      throw error;
    }
  }

  try {
    for (;;) {
      const next = iterator.next();
      if (transaction.isOpen && !(await comesWithin(clock, next, patience * tookMs)))
        keepOrUndo(transaction.commit);
      const { value, done } = await next;
      if (done) return;
      const startedAt = clock.monotonic();
      if (!transaction.isOpen) {
        await transaction.begin();
        const { rows_changed, rows_new, rows_read } = row;
        before = { rows_changed, rows_new, rows_read };
        openedAt = startedAt;
        together = 0;
      }
      together += 1;
      keepOrUndo(() => write(value));
      tookMs = clock.monotonic() - startedAt;
      const isLong = together >= mostTogether || clock.monotonic() - openedAt >= longestMs;
      if (isLong) keepOrUndo(transaction.commit);
    }
  } finally {
    // Nobody asks for more: what is under way is called off.
    iterator.return?.().catch(() => {});
    keepOrUndo(transaction.commit);
  }
}

/** Why a wait was called off: made once, since an error is dear. */
const cameFirst = new Error("the next answer came");

async function comesWithin(
  { sleep }: SyncRun["clock"],
  next: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  const off = new AbortController();
  const came = next.then(
    () => true,
    () => true,
  );
  const late = sleep(Math.max(1, ms), off.signal).then(
    () => false,
    () => false,
  );
  const isThere = await Promise.race([came, late]);
  off.abort(cameFirst);
  return isThere;
}

/**
 * Writes one answer's records. Call it in a transaction.
 * @returns their ids in the mirror
 * @throws UnexpectedAnswer, before anything is written, when a documented record lacks its id
 */
export function writeAnswer(run: SyncRun, { records, askedAt, position = 0 }: Answered): number[] {
  const { resource, state, store } = run;
  store.checkKeys(records);
  const { strategy } = resource;
  const isList = strategy.kind === "details" && strategy.into === "merge";
  const written = store.write(records, { readAt: formatInstant(askedAt), position, isList });
  state.found(written.ids);
  return written.ids;
}

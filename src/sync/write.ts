import { UnexpectedAnswer } from "../errors.js";
import { atOnce, inParts } from "../lib/in-parts.js";
import { formatInstant } from "../lib/times.js";
import { openTransaction, type Run, type Transaction } from "../mirror/index.js";
import type { ApiRecord } from "../resources/types.js";
import type { SyncRun } from "./run.js";

/** What one answer held, to be written whole. */
export interface Answered {
  records: readonly ApiRecord[];
  /** Milliseconds since 1970: when it was asked for. */
  askedAt: number;
}

/** Large transactions are far cheaper, since random keys touch the same index pages again and again. */
const mostTogether = 150;
const longestMs = 1_000;
/** Characters. An honest page has 100,000, and is written in milliseconds. */
const largeText = 300_000;
/** So many times as long as it took to write the last answer, the next one is waited for, within these bounds. */
const patience = 3;
const [shortestWaitMs, longestWaitMs] = [10, 100];

/**
 * Writes what comes, each answer whole. Answers that come faster than they are written share a transaction of at most a
 * second; otherwise each is committed at once. A large one has its own, so that a signal takes back nothing else. A kill
 * costs what is not committed.
 * @returns what they came to
 */
export async function writeEach<One extends Pick<Answered, "records">, End>(
  { clock, signal, mirror, row }: Pick<SyncRun, "clock" | "signal" | "mirror" | "row">,
  ones: AsyncGenerator<One, End>,
  write: (one: One) => Generator<void>,
): Promise<End> {
  let transaction: Transaction | null = null;
  let before: Partial<Run> = {};
  let together = 0;
  let openedAt = 0;
  let tookMs = 0;

  /** What a run counts of rows is set back when they are not kept after all. */
  async function keepOrUndo(work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // An answer that cannot be kept is refused before any of it is written: those before it stay.
      if (error instanceof UnexpectedAnswer) throw error;
      transaction?.rollback();
      Object.assign(row, before);
      throw error;
    }
  }

  try {
    for (;;) {
      const next = ones.next();
      const waitMs = Math.min(Math.max(shortestWaitMs, patience * tookMs), longestWaitMs);
      if (transaction?.isOpen && !(await comesWithin(clock, next, waitMs)))
        await keepOrUndo(() => transaction?.commit());
      const { value, done } = await next;
      if (done) return value;
      const isLarge = textOf(value) > largeText;
      if (isLarge) await keepOrUndo(() => transaction?.commit());
      const startedAt = clock.monotonic();
      if (!transaction?.isOpen) {
        transaction = openTransaction(mirror);
        const { rows_changed, rows_new, rows_read } = row;
        before = { rows_changed, rows_new, rows_read };
        openedAt = startedAt;
        together = 0;
      }
      together += 1;
      const parts = write(value);
      await keepOrUndo(() => (isLarge ? inParts(parts, { clock, signal }) : atOnce(parts)));
      tookMs = clock.monotonic() - startedAt;
      const isLong = isLarge || together >= mostTogether || clock.monotonic() - openedAt >= longestMs;
      if (isLong) await keepOrUndo(() => transaction?.commit());
    }
  } finally {
    // Nobody asks for more: what is under way is called off.
    ones.return(undefined as End).catch(() => {});
    await keepOrUndo(() => transaction?.commit());
  }
}

function textOf({ records }: Pick<Answered, "records">): number {
  return records.reduce((sum, { json }) => sum + json.length, 0);
}

/** The wait is not called off when the answer comes: a timer that runs out soon costs less than that. */
async function comesWithin(
  { sleep }: SyncRun["clock"],
  next: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  const came = next.then(
    () => true,
    () => true,
  );
  return await Promise.race([came, sleep(ms).then(() => false)]);
}

/**
 * Writes one answer's records. Call it in a transaction.
 * @returns their ids in the mirror
 * @throws UnexpectedAnswer, before anything is written, when a documented record lacks its id
 */
export function* writeAnswer(run: SyncRun, { records, askedAt }: Answered): Generator<void, number[]> {
  const { state, store } = run;
  store.checkKeys(records);
  const written = yield* store.write(records, { readAt: formatInstant(askedAt) });
  state.forgetMissing(written.ids);
  return written.ids;
}

import { beginTransaction } from "../store/database.js";
import type { RecordWriter } from "../store/records.js";
import type { RangeRecords } from "../store/sync-state.js";
import type { Range } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import { dropDailyTotals, storeDailyTotals } from "./daily-totals.js";
import type { NewestRecords } from "./read.js";
import { groupByResponse, type ListRecord } from "./read-list.js";
import type { DatedRun } from "./session.js";

/** Answers that come faster than they are written share a transaction of at most so many milliseconds. */
const longestMs = 250;
/** Turns of the event loop until a request is sent: undici looks at an idle connection first. */
const turnsToSend = 2;
/** How long the next answer is waited for before a transaction is committed, in milliseconds. */
const patienceMs = 25;

/** What became of the records of a response: those that were written, and older copies, which were not. */
type Written = ReturnType<RecordWriter["writeNewest"]>;

/** Responses that are committed together, the newest first. A kill costs what is not committed. */
export class WriteBatch {
  /** Commits the open transaction; null if none is open. */
  #commit: ReturnType<typeof beginTransaction> | null = null;
  #openedAt = 0;
  /** All that its answers show together. */
  #shown: (RangeRecords & { ids: Set<number> }) | null = null;

  constructor(private readonly run: DatedRun) {}

  /** Writes one response completely, or nothing of it. Commits unless the next response comes at once. */
  async write(answer: NewestRecords, covers: Range, next: Promise<unknown> | null): Promise<Written> {
    const { clock, mirror, row } = this.run;
    // The next request goes out first: it is answered while this answer is written.
    for (let turn = 0; next && turn < turnsToSend; turn += 1) await clock.sleep(0);
    if (!this.#commit) this.#openedAt = clock.monotonic();
    this.#commit ??= beginTransaction(mirror);
    const written = mirror.transaction(() => this.#writeRecords(answer, covers));
    this.#shown ??= {
      range: { ...covers },
      ids: new Set(),
      requestedAt: answer.requestedAt,
      runId: row.run_id,
    };
    this.#shown.range.from = covers.from;
    for (const id of written.ids) this.#shown.ids.add(id);
    const isOld = clock.monotonic() - this.#openedAt >= longestMs;
    if (isOld || !next || !(await this.#comesSoon(next))) this.commit();
    return written;
  }

  #writeRecords({ records, requestedAt }: NewestRecords, covers: Range): Written {
    const { state, store } = this.run;
    const before = changesOf(this.run);
    const written = store.writeNewest(records, { readAt: formatInstant(requestedAt) });
    state.missing.delete(written.ids);
    if (changesOf(this.run) > before) dropDailyTotals(this.run, covers);
    return written;
  }

  /** Covers what the answers have shown, and commits. */
  commit(): void {
    const [commit, shown] = [this.#commit, this.#shown];
    this.#commit = this.#shown = null;
    commit?.(() => shown && cover(this.run, shown));
  }

  async #comesSoon(next: Promise<unknown>): Promise<boolean> {
    const came = Promise.allSettled([next]).then(() => true);
    return await Promise.race([came, this.run.clock.sleep(patienceMs).then(() => false)]);
  }
}

/** Writes the records of a list with dates, those of one response together. */
export function writeList({ store }: DatedRun, records: readonly ListRecord[]): Written {
  const responses = groupByResponse(records).map(({ items, requestedAt }) =>
    store.writeNewest(items, { readAt: formatInstant(requestedAt) }),
  );
  return {
    ids: responses.flatMap(({ ids }) => ids),
    copies: responses.flatMap(({ copies }) => copies),
  };
}

/** Covers dates, and keeps the figures of the days that are whole by now. */
export function cover(run: DatedRun, shown: RangeRecords): void {
  if (run.state.cover(shown) > 0) dropDailyTotals(run, shown.range);
  storeDailyTotals(run, shown.range);
}

/** Returns how many records of the mirror the run has changed. */
export function changesOf({ row }: DatedRun): number {
  return row.rows_new + row.rows_changed;
}

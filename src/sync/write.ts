import { beginTransaction } from "../store/mirror/database.js";
import type { WrittenRecords } from "../store/records/record-writer.js";
import type { RangeRecords } from "../store/state/sync-state.js";
import type { Range } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import { dropDailyTotals, storeDailyTotals } from "./daily-totals.js";
import { groupByResponse, type ListRecord } from "./read-list.js";
import type { DatedSync } from "./session.js";

/** A response to a date query, with the dates that it returned completely. */
interface RangeResponse {
  records: Parameters<DatedSync["writer"]["writeNewest"]>[0];
  requestedAt: number;
  coveredRange: Range;
}

/** The maximum duration of a transaction, in milliseconds, if responses arrive faster than they are written. */
const maxBatchMs = 250;
/** The number of event loop turns before undici sends a request on an idle connection. */
const turnsToSend = 2;
/** The time to wait for the next response before a commit, in milliseconds. */
const maxWaitMs = 25;

/** Writes the responses of a range in transactions of one or more responses. A kill loses only the open transaction. */
export class WriteBatch {
  /** Commits the open transaction; null if none is open. */
  #commit: ReturnType<typeof beginTransaction> | null = null;
  #openedAt = 0;
  /** The records and dates in the open transaction. */
  #written: (RangeRecords & { ids: Set<number> }) | null = null;
  /** The records of the last response. */
  #lastIds: ReadonlySet<number> = new Set();

  constructor(private readonly run: DatedSync) {}

  /** Writes one response atomically. Commits unless the next response arrives soon. */
  async write(response: RangeResponse, next: Promise<unknown> | null): Promise<WrittenRecords> {
    const { clock, runId, mirror } = this.run;
    // The next request is sent first, so that the API works while this response is written.
    for (let turn = 0; next && turn < turnsToSend; turn += 1) await clock.sleep(0);
    if (!this.#commit) this.#openedAt = clock.monotonic();
    this.#commit ??= beginTransaction(mirror);
    const written = mirror.transaction(() => this.#writeRecords(response));
    const { coveredRange, requestedAt } = response;
    this.#written ??= { range: { ...coveredRange }, ids: new Set(), requestedAt, runId };
    this.#written.range.from = coveredRange.from;
    for (const recordId of written.ids) this.#written.ids.add(recordId);
    const isOld = clock.monotonic() - this.#openedAt >= maxBatchMs;
    if (isOld || !next || !(await this.#arrivesSoon(next))) this.commit();
    return written;
  }

  #writeRecords({ records, requestedAt, coveredRange }: RangeResponse): WrittenRecords {
    const { progress, state, writer } = this.run;
    const written = writer.writeNewest(records, { readAt: formatInstant(requestedAt) });
    state.missing.delete(written.ids);
    if (written.addedOrChanged > 0) dropDailyTotals(this.run, coveredRange);
    // A response repeats records of the last second of the previous response, which are counted only once.
    progress.addRows(written.ids.filter((id) => !this.#lastIds.has(id)).length);
    this.#lastIds = new Set(written.ids);
    return written;
  }

  /** Marks the dates of the responses as covered, and commits. */
  commit(): void {
    const [commit, written] = [this.#commit, this.#written];
    this.#commit = this.#written = null;
    commit?.(() => written && cover(this.run, written));
  }

  async #arrivesSoon(next: Promise<unknown>): Promise<boolean> {
    const arrival = Promise.allSettled([next]).then(() => true);
    return await Promise.race([arrival, this.run.clock.sleep(maxWaitMs).then(() => false)]);
  }
}

/**
 * Writes the records of a list with dates, grouped by response.
 * @param isOutsideRange true if the list was requested for a range without the records' dates
 */
export function writeList(
  { writer }: DatedSync,
  records: readonly ListRecord[],
  isOutsideRange = false,
): WrittenRecords {
  const responses = groupByResponse(records).map(({ items, requestedAt }) =>
    writer.writeNewest(items, { readAt: formatInstant(requestedAt), isOutsideRange }),
  );
  return {
    added: responses.flatMap(({ added }) => added),
    ids: responses.flatMap(({ ids }) => ids),
    copies: responses.flatMap(({ copies }) => copies),
    addedOrChanged: responses.reduce((sum, { addedOrChanged }) => sum + addedOrChanged, 0),
  };
}

/** Marks dates as covered, and stores the daily totals of complete days. */
export function cover(run: DatedSync, records: RangeRecords): void {
  if (run.state.cover(records) > 0) dropDailyTotals(run, records.range);
  storeDailyTotals(run, records.range);
}

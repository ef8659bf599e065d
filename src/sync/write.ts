import type { WrittenRecords } from "../store/records.js";
import type { RangeRecords } from "../store/sync-state.js";
import type { Range } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import { dropDailyTotals, storeDailyTotals } from "./daily-totals.js";
import { groupByResponse, type ListRecord } from "./read-list.js";
import type { DatedSync } from "./session.js";

/** A response to a date query, with the dates that it returned completely. */
interface RangeResponse {
  records: Parameters<DatedSync["store"]["writeNewest"]>[0];
  requestedAt: number;
  coveredRange: Range;
  /** The record IDs that an earlier response has returned, too: they are not counted again. */
  alreadyCounted: readonly number[];
}

/**
 * Writes one response, or nothing of it: its records, the coverage of its dates, and as missing the mirrored records of
 * these dates that it lacks.
 */
export function writeResponse(run: DatedSync, response: RangeResponse): WrittenRecords {
  const { id, mirror, progress, state, store } = run;
  const { alreadyCounted, coveredRange: range, records, requestedAt } = response;
  return mirror.transaction(() => {
    const written = store.writeNewest(records, { readAt: formatInstant(requestedAt) });
    state.missing.delete(written.ids);
    if (written.changed > 0) dropDailyTotals(run, range);
    cover(run, { range, ids: new Set(written.ids), requestedAt, runId: id });
    progress.addRows(written.ids.filter((recordId) => !alreadyCounted.includes(recordId)).length);
    return written;
  });
}

/** Writes the records of a list with dates, those of one response together. */
export function writeList({ store }: DatedSync, records: readonly ListRecord[]): WrittenRecords {
  const responses = groupByResponse(records).map(({ items, requestedAt }) =>
    store.writeNewest(items, { readAt: formatInstant(requestedAt) }),
  );
  return {
    ids: responses.flatMap(({ ids }) => ids),
    copies: responses.flatMap(({ copies }) => copies),
    changed: responses.reduce((sum, { changed }) => sum + changed, 0),
  };
}

/** Covers dates, and stores the daily totals of the days that are complete now. */
export function cover(run: DatedSync, records: RangeRecords): void {
  if (run.state.cover(records) > 0) dropDailyTotals(run, records.range);
  storeDailyTotals(run, records.range);
}

import type { SkippedCopy, WriteOptions, WrittenRecords } from "../store/record-writer.js";
import type { TotalsByDay } from "../store/sync-state.js";
import type { Json } from "../util/json-value.js";
import type { TimeRange } from "../util/time-ranges.js";
import type { DatedRun, SyncRun } from "./session.js";

/** The records in one response. */
interface ResponseRecords extends WriteOptions {
  items: readonly Json[];
}

/** The records that the API returned for a date range, or for a list without dates. Times are in milliseconds. */
export interface Reading {
  /** The dates that were read, or null for a list without dates. */
  range: TimeRange | null;
  /**
   * The range that contains the dates of all returned records, if it is larger than `range`. If a record has changed, the
   * stored daily totals of this range are deleted.
   */
  returnedRange?: TimeRange;
  requestedAt: number;
  /** False if the API may have more records. */
  isComplete: boolean;
  responses: readonly ResponseRecords[];
  /** The faulty records, and a description of the first fault. */
  faulty?: { responses: readonly ResponseRecords[]; fault: string } | null;
}

/** A reading of a date range, for resources with dates. */
interface DatedReading extends Reading {
  range: TimeRange;
  /** A description of the list if it never settled (A9); otherwise null. */
  unsettled?: string | null;
}

/**
 * Stores a reading, as `storeReading` does. If its list never settled, the run is incomplete until it re-reads these
 * dates.
 * @returns the copies of mirrored records, which the caller must resolve
 */
export function storeDatedReading(run: DatedRun, reading: DatedReading): readonly SkippedCopy[] {
  const { range, unsettled = null } = reading;
  if (unsettled === null) run.unsettledSlices.remove(range);
  else run.unsettledSlices.add({ ...range, text: unsettled });
  return storeReading(run, reading, run.apiTotals).copies;
}

/**
 * Stores a reading: writes its records, and then updates the coverage, the missing records and the daily totals. Must
 * be called in a transaction. The records are written first, because the change log needs to know which of them were
 * missing, and since when.
 * @param apiTotals the API's daily totals, to be stored for the days that the run has now read in full
 * @returns the IDs of the written records, and the copies of mirrored records, which the caller must resolve
 */
export function storeReading(
  { progress, runId, state, writer }: SyncRun,
  reading: Reading,
  apiTotals: TotalsByDay | null = null,
): { ids: readonly number[]; copies: readonly SkippedCopy[] } {
  const { faulty, isComplete, range, returnedRange = range, requestedAt, responses } = reading;
  const write = (records: readonly ResponseRecords[], isFaulty: boolean) =>
    combine(records.map(({ items, ...options }) => writer.write(items, { ...options, isFaulty })));
  const valid = write(responses, false);
  const writtenFaulty = write(faulty?.responses ?? [], true);
  const { ids } = valid;
  const faultyIds = [...writtenFaulty.ids, ...writtenFaulty.copies.map(({ id }) => id)];
  const records = [...responses, ...(faulty?.responses ?? [])].flatMap(({ items }) => items);
  progress.addReading(records.length, [...ids, ...faultyIds]);
  if (range === null) state.applyList({ runId, requestedAt, isComplete, ids });
  else
    state.applyReading(
      {
        runId,
        range,
        requestedAt,
        isComplete,
        ids,
        changed: valid.changeCount > 0 ? returnedRange : null,
        faulty: faulty
          ? {
              ids: faultyIds,
              addedIds: writtenFaulty.addedIds,
              fault: faulty.fault,
            }
          : null,
      },
      apiTotals,
    );
  return { ids, copies: [...valid.copies, ...writtenFaulty.copies] };
}

function combine(responses: readonly WrittenRecords[]): WrittenRecords {
  return {
    ids: responses.flatMap(({ ids }) => ids),
    addedIds: responses.flatMap(({ addedIds }) => addedIds),
    copies: responses.flatMap(({ copies }) => copies),
    changeCount: responses.reduce((sum, { changeCount }) => sum + changeCount, 0),
  };
}

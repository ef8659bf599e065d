import { containsInstant, overlaps, type TimeRange } from "../util/time-ranges.js";
import {
  collectFaultyIds,
  findLastReadAt,
  type SyncedDates,
  withCoveredRange,
  withFaultySlice,
} from "./coverage.js";

/** The result of reading a date range, after the returned records have been written. */
export interface WrittenReading {
  runId: number;
  range: TimeRange;
  /** The dates for which a complete read must return every mirrored record. Defaults to `range`. */
  expectedDates?: TimeRange;
  requestedAt: number;
  /** False if the API may have more records in the range. */
  isComplete: boolean;
  /** The IDs of the returned records, except faulty ones. */
  ids: readonly number[];
  /** The range that contains the added and changed records, if there are any. */
  changed?: TimeRange | null;
  faulty?: FaultyRecords | null;
}

/** The faulty records that were returned for a range. */
interface FaultyRecords {
  ids: readonly number[];
  /** The IDs of the faulty records that are new to the mirror. */
  addedIds: readonly number[];
  /** A description of the first fault. */
  fault: string;
}

/** Looks up records in the mirror. */
export interface RecordLookup {
  /** Returns the IDs of the current records in a range. */
  currentIds(range: TimeRange): readonly number[];
  /** Returns a record's date, or null if the record is not current or its date is unreadable. */
  dateOf(id: number): number | null;
  /** True if a record is current and its date is unreadable. */
  isUndated(id: number): boolean;
}

/** A record that the API did not return for its date. */
export interface MissingId {
  id: number;
  /** The time (ISO 8601) of the previous read of the record's date or list. Null for new and undated faulty records. */
  lastSeenAt: string | null;
}

/** The effects of a read on the sync state. */
export interface StateUpdate {
  /** The coverage and the faulty slices after the read, or null if they are unchanged. */
  dates: SyncedDates | null;
  notMissing: readonly number[];
  missing: readonly MissingId[];
  /** The dates whose stored daily totals describe earlier versions of the records. */
  outdatedTotals: readonly TimeRange[];
}

/**
 * Decides what a read changes. Each date is either covered, in a faulty slice, or unread. If any record is faulty, the
 * range becomes a faulty slice. Otherwise, the range is covered if it was fully read.
 *
 * A later step may remove missing records. The last read of a record's date decides whether the record is missing:
 *
 * | the API returned the record                      | the record is                                            |
 * | ------------------------------------------------ | -------------------------------------------------------- |
 * | for its own date, or in a list without dates     | not missing                                              |
 * | not at all, although the record's date was read  | missing                                                  |
 * | with an unreadable date, in a faulty slice       | faulty, and missing once it is no longer in that slice   |
 * | for a date other than its own, in a faulty slice | faulty, and missing if it is new and its date is covered |
 */
export function decideUpdate(
  before: SyncedDates,
  reading: WrittenReading,
  lookup: RecordLookup,
): StateUpdate {
  const { changed, faulty, ids, isComplete } = reading;
  const outdatedTotals = changed ? [changed] : [];
  if (faulty) return decideFaulty(before, { ...reading, faulty }, lookup, outdatedTotals);
  if (isComplete) return decideComplete(before, reading, lookup, outdatedTotals);
  return { dates: null, notMissing: ids, missing: [], outdatedTotals };
}

function decideComplete(
  before: SyncedDates,
  reading: WrittenReading,
  lookup: RecordLookup,
  outdatedTotals: readonly TimeRange[],
): StateUpdate {
  const { ids, range, expectedDates = range, requestedAt, runId } = reading;
  const returnedIds = new Set(ids);
  const dates = withCoveredRange(before, { ...range, requestedAt, runId });
  const notReturned = lookup.currentIds(expectedDates).filter((id) => !returnedIds.has(id));
  const missing = notReturned.map((id) => ({
    id,
    lastSeenAt: findLastReadAt(before.coverage, lookup.dateOf(id)),
  }));
  return {
    dates,
    notMissing: ids,
    missing: [...missing, ...findMissingUndated(before, dates, ids, lookup)],
    outdatedTotals: notReturned.length > 0 ? [...outdatedTotals, range] : outdatedTotals,
  };
}

function decideFaulty(
  before: SyncedDates,
  { faulty, ids, isComplete, range, requestedAt, runId }: WrittenReading & { faulty: FaultyRecords },
  lookup: RecordLookup,
  outdatedTotals: readonly TimeRange[],
): StateUpdate {
  const { dateOf, isUndated } = lookup;
  const isDateCovered = (id: number) => {
    const date = dateOf(id);
    return date !== null && before.coverage.some((covered) => containsInstant(covered, date));
  };
  const replaced = before.faultySlices.filter((slice) => overlaps(slice, range));
  // If the range was not fully read, the undated records in the replaced slices may still exist. They are added to the
  // new slice, because no other range contains them.
  const kept = isComplete ? [] : [...collectFaultyIds(replaced)].filter(isUndated);
  const recordIds = [...new Set([...faulty.ids, ...kept])];
  const slice = { ...range, requestedAt, runId, recordIds, fault: faulty.fault };
  const dates = withFaultySlice(before, slice);
  // The dates of these new records are covered, but no read of those dates returned the records, so the API does not
  // count them there. Mark the records as missing, so that the mirror does not count them either.
  const missingNew = faulty.addedIds.filter(isDateCovered).map((id) => ({ id, lastSeenAt: null }));
  return {
    dates,
    notMissing: [...ids, ...faulty.ids.filter(isUndated)],
    missing: [...missingNew, ...findMissingUndated(before, dates, ids, lookup)],
    outdatedTotals: [...outdatedTotals, range],
  };
}

/** Returns the undated records that the read did not return and that are no longer in any faulty slice. */
function findMissingUndated(
  before: SyncedDates,
  after: SyncedDates,
  returned: readonly number[],
  { isUndated }: RecordLookup,
): MissingId[] {
  const found = new Set([...collectFaultyIds(after.faultySlices), ...returned]);
  const missing = [...collectFaultyIds(before.faultySlices)].filter((id) => !found.has(id) && isUndated(id));
  return missing.map((id) => ({ id, lastSeenAt: null }));
}

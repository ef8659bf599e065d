import { containsInstant, overlaps, type TimeRange } from "../util/time-ranges.js";
import { listFaultyIds, type SyncedDates, withCoveredRange, withFaultySlice } from "./coverage.js";

/** The result of reading a date range, after the returned records have been written. */
export interface RangeReading {
  runId: number;
  range: TimeRange;
  requestedAt: number;
  /** False if the API may have more records in the range. */
  isComplete: boolean;
  /** The IDs of the returned records, except faulty ones. */
  ids: readonly number[];
  /** The range that contains the records that were added or changed, if there are any. */
  changed?: TimeRange | null;
  faulty?: FaultyRecords | null;
}

/** The faulty records that were returned for a range. */
interface FaultyRecords {
  ids: readonly number[];
  /** The IDs of those that are new in the mirror. */
  added: readonly number[];
  /** A description of the first fault. */
  fault: string;
}

export interface MirroredRecords {
  /** Returns the IDs of the current records that a complete list for the range must contain. */
  expectedIds(): readonly number[];
  /** Returns a record's date: null if it is unreadable, undefined if the record is not current. */
  dateOf(id: number): number | null | undefined;
}

/** The effects of a read on the sync state. */
export interface StateUpdate {
  dates: SyncedDates;
  /** The records that the API returned, and which are therefore not missing. */
  found: readonly number[];
  /** The records that the API did not return for their dates. */
  absent: readonly number[];
  /** Other records that are missing. The coverage does not show when the API last returned them. */
  misplaced: readonly number[];
  /** The dates for which the stored daily totals describe earlier versions of the records. */
  outdatedTotals: readonly TimeRange[];
}

/**
 * Decides what a read changes. Each date is either covered, in a faulty slice, or unread. If any record is faulty, the
 * range becomes a faulty slice. Otherwise, the range is covered if it was read completely.
 *
 * The last read of its date decides whether a record is missing, which means that a later step may remove it:
 *
 * | the API returned the record                       | the record is                                          |
 * | ------------------------------------------------- | ------------------------------------------------------ |
 * | for its own date, or in a list without dates      | not missing                                            |
 * | not at all, although it read the record's date    | missing                                                |
 * | with an unreadable date, in a faulty slice        | faulty, and missing once it is no longer in that slice |
 * | for a date other than its own, in a faulty slice  | faulty, and missing if it is new and its date covered  |
 */
export function decideUpdate(
  before: SyncedDates,
  reading: RangeReading,
  { dateOf, expectedIds }: MirroredRecords,
): StateUpdate {
  const { faulty, ids, isComplete, range, requestedAt, runId } = reading;
  const read = { ...range, readAt: requestedAt, runId };
  const changed = reading.changed ? [reading.changed] : [];
  const returned = new Set(ids);
  const isUndated = (id: number) => dateOf(id) === null;
  /** Returns the undated records that are no longer in a faulty slice, unless the read returned them. */
  const findDropped = (after: SyncedDates) => {
    const stillFaulty = listFaultyIds(after.faultySlices);
    const dropped = [...listFaultyIds(before.faultySlices)].filter((id) => !stillFaulty.has(id));
    return dropped.filter((id) => !returned.has(id) && isUndated(id));
  };

  if (faulty) {
    const isCovered = (id: number) => {
      const date = dateOf(id) ?? null;
      return date !== null && before.coverage.some((covered) => containsInstant(covered, date));
    };
    // If the range was not read completely, the undated records of the replaced slices may still exist. They are added
    // to the new slice, because no other range contains them.
    const replaced = isComplete ? [] : before.faultySlices.filter((slice) => overlaps(slice, range));
    const kept = [...listFaultyIds(replaced)].filter(isUndated);
    const recordIds = [...new Set([...faulty.ids, ...kept])];
    const dates = withFaultySlice(before, { ...read, recordIds, fault: faulty.fault });
    return {
      dates,
      found: [...ids, ...faulty.ids.filter(isUndated)],
      absent: [],
      misplaced: [...faulty.added.filter(isCovered), ...findDropped(dates)],
      outdatedTotals: [...changed, range],
    };
  }
  if (!isComplete) return { dates: before, found: ids, absent: [], misplaced: [], outdatedTotals: changed };
  const dates = withCoveredRange(before, read);
  const absent = expectedIds().filter((id) => !returned.has(id));
  const outdatedTotals = absent.length > 0 ? [...changed, range] : changed;
  return { dates, found: ids, absent, misplaced: findDropped(dates), outdatedTotals };
}

import { maxPerPage } from "../api/pagination.js";
import { findNthDate, recordDate } from "../store/records.js";
import { startOfDay, type TimeRange } from "../util/time-ranges.js";
import { dayMs } from "../util/timestamps.js";
import { resolveCopies } from "./copies.js";
import { compareCount } from "./counts.js";
import { Budget, type DatedRun } from "./session.js";
import { readSlice, type SliceReading, storeSlice } from "./slices.js";

/** Slices are split until the API counts at most this many records in each, or until they are one day long. */
const maxSliceRecords = 2_000;
/** When a range without a start is split in the middle, it is treated as starting on this date. */
const openRangeStart = Date.UTC(2006, 0, 1);
/** If a slice has more faulty records than this, all of its days count as faulty. */
const maxFaultsToLocate = 10;
/** The request budget for locating the days with faulty records in a slice. */
const maxLocateRequests = 100;

/** A date range and the API's count for it. The count is null if it is unknown. */
interface CountedRange extends TimeRange {
  total: number | null;
}

/**
 * Reads a date range by page number, in slices, newest first. This is the fallback if the API does not sort records
 * newest first, or if it returns dates that are unreadable or outside the requested range. All records are stored. The
 * first slice is read even if the budget is used up.
 * @returns the oldest time that was read, in milliseconds since the Unix epoch
 */
export async function readByPage(
  run: DatedRun,
  range: TimeRange,
  budget = new Budget(run.api),
): Promise<number> {
  let oldestRead = range.to + 1;
  const newestPart = selectNewestPart(run, range, budget.remaining * maxPerPage);
  const pending: CountedRange[] = [{ ...newestPart, total: null }];
  for (let slice = pending.pop(); slice; slice = pending.pop()) {
    const halves = await splitLargeRange(run, slice);
    if (halves) {
      pending.push(halves.older, halves.newer);
      continue;
    }
    const locateBudget = new Budget(run.api, Math.min(maxLocateRequests, budget.remaining));
    await readAndStore(run, slice, locateBudget);
    oldestRead = slice.from;
    if (budget.remaining <= 0) break;
  }
  return oldestRead;
}

/** Returns the newest part of a range: whole days that together have about `records` mirrored records. */
function selectNewestPart(
  { mirror, resource, state }: DatedRun,
  { from, to }: TimeRange,
  records: number,
): TimeRange {
  const mirrored = Number.isFinite(records) ? state.count({ from, to }) : 0;
  if (mirrored <= records) return { from, to };
  const oldest = findNthDate(mirror, resource.name, { from, to }, mirrored - Math.max(records, 1));
  return { from: oldest === null ? from : Math.max(from, startOfDay(oldest)), to };
}

interface SplitRange {
  newer: TimeRange & { total: number };
  older: TimeRange & { total: number };
}

/** Splits a range at the start of a day if it has too many records. Returns null if it should be read as one list. */
async function splitLargeRange(run: DatedRun, { from, to, total }: CountedRange): Promise<SplitRange | null> {
  const start = Math.max(from, openRangeStart);
  const middle = startOfDay(start + (to + 1 - start) / 2);
  if (middle <= from || middle > to) return null;
  const apiCount = total ?? (await compareCount(run, { from, to })).apiCount;
  if (apiCount <= maxSliceRecords) return null;
  const halves = await countHalves(run, { from, to }, middle);
  // If each half has as many records as the whole range, the API ignores the date filter, so splitting would not help.
  return halves.newer.total >= apiCount && halves.older.total >= apiCount ? null : halves;
}

async function countHalves(run: DatedRun, { from, to }: TimeRange, middle: number): Promise<SplitRange> {
  const newer = { from: middle, to };
  const older = { from, to: middle - 1 };
  return {
    newer: { ...newer, total: (await compareCount(run, newer)).apiCount },
    older: { ...older, total: (await compareCount(run, older)).apiCount },
  };
}

/**
 * Reads and stores a slice. If only a few records are faulty and the budget allows it, bisects the slice first to find
 * the days that contain the faulty records.
 */
async function readAndStore(run: DatedRun, slice: TimeRange, budget: Budget): Promise<void> {
  const reading = await readSlice(run, slice);
  const { faulty, list } = reading;
  const middle = findMedianDay(run, reading);
  const hasFewFaults = list.isComplete && faulty.length > 0 && faulty.length <= maxFaultsToLocate;
  if (hasFewFaults && middle !== null && budget.remaining > 0) {
    const { newer, older } = await countHalves(run, slice, middle);
    // If the halves have more records in total than the slice, the API returns some records for both, so bisecting
    // would not help.
    if (newer.total + older.total <= list.total) {
      await readAndStore(run, newer, budget);
      await readAndStore(run, older, budget);
      return;
    }
  }
  await resolveCopies(run, storeSlice(run, reading), list.requestedAt);
}

/** Returns the start of a day that splits the slice near its median valid record, or null if there is no such day. */
function findMedianDay({ resource }: DatedRun, { slice, valid }: SliceReading): number | null {
  const dates = valid.flatMap(({ record }) => recordDate(resource, record) ?? []);
  if (dates.length === 0) return null;
  const median = startOfDay(dates.toSorted((a, b) => a - b)[Math.floor(dates.length / 2)] ?? 0);
  const middle = median > slice.from ? median : median + dayMs;
  return middle <= slice.to ? middle : null;
}

import { maxPerPage } from "../api/pagination.js";
import { findNthDate, recordDate } from "../store/records.js";
import { type Range, startOfDay } from "../util/ranges.js";
import { dayMs } from "../util/times.js";
import { resolveCopies } from "./copies.js";
import { compareCount } from "./counts.js";
import { Budget, type DatedRun, type IncompleteReason } from "./run.js";
import { readSlice, type SliceReading, writeSlice } from "./slices.js";

/** A slice is split until the API counts at most this many records in it, or until it is one day long. */
const maxSliceRecords = 2_000;
const maxSplits = 12;
/** The assumed length of a range without a start, which determines where the range is first split. */
const openRangeMs = 20 * 365 * dayMs;
/** The number of faulty records above which all days of a slice are marked, even days without faulty records. */
const maxFaultsToLocate = 10;
/** The request budget for finding the days of a slice that have faulty records. */
const maxLocateRequests = 100;

export interface RangeResult {
  /** The oldest instant that was read, in milliseconds since the Unix epoch. */
  reached: number;
  unsettled: IncompleteReason[];
}

/**
 * Reads a date range by page number, in slices, newest first. This is the fallback if the API does not sort records
 * newest first, or returns dates that are unreadable or outside the requested range. All records are stored. The first
 * slice is always read.
 */
export async function readByPage(
  run: DatedRun,
  range: Range,
  budget = new Budget(run.api),
): Promise<RangeResult> {
  const unsettled: IncompleteReason[] = [];
  let reached = range.to + 1;
  for await (const slice of splitIntoSlices(
    run,
    selectNewestPart(run, range, budget.remaining * maxPerPage),
  )) {
    const locateBudget = new Budget(run.api, Math.min(maxLocateRequests, budget.remaining));
    for await (const reading of locateFaults(run, slice, locateBudget))
      unsettled.push(...(await storeSlice(run, reading)));
    reached = slice.from;
    if (budget.remaining <= 0) break;
  }
  return { reached, unsettled };
}

export async function readAsList(run: DatedRun, range: Range): Promise<IncompleteReason[]> {
  return await storeSlice(run, await readSlice(run, range));
}

async function storeSlice(run: DatedRun, reading: SliceReading): Promise<IncompleteReason[]> {
  const { copies, unsettled } = writeSlice(run, reading);
  return [...unsettled, ...(await resolveCopies(run, copies, reading.list.requestedAt))];
}

/** Returns the newest days in a range, with about `records` mirrored records in total. */
function selectNewestPart(
  { mirror, resource, state }: DatedRun,
  { from, to }: Range,
  records: number,
): Range {
  const mirrored = Number.isFinite(records) ? state.count({ from, to }) : 0;
  if (mirrored <= records) return { from, to };
  const oldest = findNthDate(mirror, resource.name, { from, to }, mirrored - Math.max(records, 1));
  return { from: oldest === null ? from : Math.max(from, startOfDay(oldest)), to };
}

/**
 * Splits a range at day boundaries until no slice has too many records. Yields the slices newest first.
 * @param counted the API's count for the range, if known
 */
async function* splitIntoSlices(
  run: DatedRun,
  { from, to }: Range,
  counted?: number,
  splits = 0,
): AsyncGenerator<Range, void> {
  const middle = findMiddleDay({ from, to });
  if (middle === null || splits === maxSplits) return yield { from, to };
  const total = counted ?? (await compareCount(run, { from, to })).apiCount;
  if (total <= maxSliceRecords) return yield { from, to };
  const halves = await countHalves(run, { from, to }, middle);
  // If both halves have as many records as the range, the API ignores dates, and the range is read as one list.
  if (halves.every((half) => half.total >= total)) return yield { from, to };
  for (const half of halves) yield* splitIntoSlices(run, half, half.total, splits + 1);
}

/** Returns the API's record counts for the two parts of a slice, starting with the newer part. */
async function countHalves(
  run: DatedRun,
  { from, to }: Range,
  middle: number,
): Promise<(Range & { total: number })[]> {
  const upper = { from: middle, to };
  const lower = { from, to: middle - 1 };
  const { apiCount: inUpper } = await compareCount(run, upper);
  const { apiCount: inLower } = await compareCount(run, lower);
  return [
    { ...upper, total: inUpper },
    { ...lower, total: inLower },
  ];
}

function findMiddleDay({ from, to }: Range): number | null {
  const start = Math.max(from, to - openRangeMs);
  const middle = startOfDay(start + (to - start) / 2);
  return middle > from && middle <= to ? middle : null;
}

/**
 * Reads a slice. If it has a few faulty records, bisects it to find the days that must be marked.
 */
async function* locateFaults(
  run: DatedRun,
  slice: Range,
  budget: Budget,
): AsyncGenerator<SliceReading, void> {
  const reading = await readSlice(run, slice);
  const { faults, list } = reading;
  const middle = findMedianDay(run, reading);
  const canDivide = list.isComplete && faults.size > 0 && faults.size <= maxFaultsToLocate;
  if (!canDivide || middle === null || budget.remaining <= 0) return yield reading;
  const halves = await countHalves(run, slice, middle);
  // If the halves have more records than the slice, some records are in both halves, so bisecting would not help.
  if (halves.reduce((sum, { total }) => sum + total, 0) > list.total) return yield reading;
  for (const { from, to } of halves) yield* locateFaults(run, { from, to }, budget);
}

/** Returns the start of a day that splits the slice near its median valid record, or null if there is no such day. */
function findMedianDay({ resource }: DatedRun, { faults, list, slice }: SliceReading): number | null {
  const dates = [...list.records].flatMap(([id, { record }]) =>
    faults.has(id) ? [] : (recordDate(resource, record) ?? []),
  );
  if (dates.length === 0) return null;
  const median = startOfDay(dates.toSorted((a, b) => a - b)[Math.floor(dates.length / 2)] ?? 0);
  const middle = median > slice.from ? median : median + dayMs;
  return middle <= slice.to ? middle : null;
}

import { maxPerPage } from "../api/pagination.js";
import { recordDate } from "../store/record-key.js";
import { countUndated, findNthDate } from "../store/records.js";
import { type Range, startOfDay } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayMs } from "../util/timestamp.js";
import { compareCount } from "./counts.js";
import type { RangeReading } from "./read.js";
import { type DatedRun, type DatedSync, startBudget } from "./run.js";
import { readSlice, resolveCopies, type SliceReading, writeSlice } from "./slices.js";

/** A slice is split until the API counts at most this many records in it, or until it is one day long. */
const maxSliceRecords = 2_000;
const maxSplits = 12;
/** The length assumed for a range without a start when the range is first split. */
const openRangeMs = 20 * 365 * dayMs;
/** Slices with more unexpected dates than this are marked as a whole, without reading their days separately. */
const maxFaultsToLocate = 10;
/** The request budget for reading a slice's days separately. */
const maxLocateRequests = 100;

/**
 * Reads a range of dates by page number, in slices, newest first. This is used if the API does not return records
 * newest first, or returns dates that are unreadable or outside the requested range. All records are kept.
 * @param remaining returns the number of requests left; the first slice is always read
 */
export async function readByPage(
  run: DatedSync,
  range: Range,
  remaining = () => Number.POSITIVE_INFINITY,
): Promise<RangeReading> {
  let reached = range.to + 1;
  let addedOrChanged = 0;
  for await (const slice of splitIntoSlices(run, newestPart(run, range, remaining() * maxPerPage))) {
    const remainingToLocate = startBudget(run, maxLocateRequests);
    const readings = locateFaults(run, slice, () => Math.min(remainingToLocate(), remaining()));
    for await (const reading of readings) {
      const written = writeSlice(run, reading);
      addedOrChanged +=
        written.addedOrChanged + (await resolveCopies(run, written.copies, reading.list.requestedAt));
    }
    reached = slice.from;
    if (remaining() <= 0) break;
  }
  return { reached, addedOrChanged };
}

/** Returns the newest days in a range that together contain about `records` mirrored records. */
function newestPart({ mirror, resource, state }: DatedRun, range: Range, records: number): Range {
  const mirrored = Number.isFinite(records) ? state.count(range) : 0;
  const oldest =
    mirrored > records ? findNthDate(mirror, resource.name, range, mirrored - Math.max(records, 1)) : null;
  return oldest === null ? range : { from: Math.max(range.from, startOfDay(oldest)), to: range.to };
}

/** Splits a range at day boundaries until each slice has few enough records. Yields the newest slice first. */
async function* splitIntoSlices(run: DatedRun, range: Range): AsyncGenerator<Range, void> {
  const total = middleDay(range) === null ? 0 : (await compareCount(run, range)).apiCount;
  yield* split(run, { ...range, total }, 0);
}

async function* split(
  run: DatedRun,
  slice: Range & { total: number },
  splits: number,
): AsyncGenerator<Range, void> {
  const { from, to, total } = slice;
  const isSmall = total <= maxSliceRecords || splits === maxSplits;
  const middle = middleDay(slice);
  if (isSmall || middle === null) return yield { from, to };
  const halves = await countHalves(run, slice, middle);
  // If the API ignores the dates, it counts all records in both halves. The slice is then read as one list.
  if (halves.every((half) => half.total >= total)) return yield { from, to };
  for (const half of halves) yield* split(run, half, splits + 1);
}

/**
 * Counts the records in the two parts of a slice, newest first.
 * @param middle the start of the newer part
 */
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

/** Returns the start of the day in the middle of a range, or null if that day does not start within the range. */
function middleDay({ from, to }: Range): number | null {
  const start = Math.max(from, to - openRangeMs);
  const middle = startOfDay(start + (to - start) / 2);
  return middle > from && middle <= to ? middle : null;
}

/**
 * Reads a slice. If a few of its records have unexpected dates, bisects it repeatedly, so that only the days that
 * return these records are marked.
 * @param remaining returns the number of requests left for reading halves
 */
async function* locateFaults(
  run: DatedSync,
  slice: Range,
  remaining: () => number,
): AsyncGenerator<SliceReading, void> {
  const reading = await readSlice(run, slice);
  const { faults, list } = reading;
  const middle = medianDay(run, reading);
  const canDivide = list.isComplete && faults.size > 0 && faults.size <= maxFaultsToLocate;
  if (!canDivide || middle === null || remaining() <= 0) return yield reading;
  const halves = await countHalves(run, slice, middle);
  // If the API counts a record in both halves, it returns the record in every range.
  if (halves.reduce((sum, { total }) => sum + total, 0) > list.total) return yield reading;
  for (const { from, to } of halves) yield* locateFaults(run, { from, to }, remaining);
}

/**
 * Returns the start of the day that splits the records with expected dates in half, or null if there are no such
 * records, or if the slice is one day long.
 */
function medianDay({ resource }: DatedRun, { faults, list, slice }: SliceReading): number | null {
  const dates = [...list.records].flatMap(([name, { record }]) =>
    faults.has(name) ? [] : (recordDate(resource, record) ?? []),
  );
  if (dates.length === 0) return null;
  const median = startOfDay(dates.toSorted((a, b) => a - b)[Math.floor(dates.length / 2)] ?? 0);
  const middle = median > slice.from ? median : median + dayMs;
  return middle <= slice.to ? middle : null;
}

/**
 * Describes the records with unexpected dates: the newest problem, and how many of these records there are. Returns
 * null if there are none.
 */
export function describeMarked({
  mirror,
  resource,
  state,
}: Pick<DatedRun, "mirror" | "resource" | "state">): string | null {
  const newest = state.markedSlices().at(-1);
  const undated = countUndated(mirror, resource.name);
  if (!newest) return undated > 0 ? `${pluralize(undated, "record")} without a readable date` : null;
  const records = pluralize(state.markedIds().size, "such record");
  const unreadable = undated > 0 ? `, ${undated} without a readable date` : "";
  return `${newest.fault} (${records}${unreadable})`;
}

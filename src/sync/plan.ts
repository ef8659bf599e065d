import type { CoveredRange } from "../store/coverage.js";
import { clipRanges, mergeRanges, overlaps, type Range, subtractRanges } from "../util/ranges.js";
import { hourMs, minTimestampMs } from "../util/timestamp.js";
import type { SyncOptions } from "./run.js";

/** The time for which data from an interrupted run is not re-read, in milliseconds. */
export const resumableMs = hourMs;

export interface PlanInput {
  coverage: readonly CoveredRange[];
  /** The marked slices, which must be read by page number. */
  markedSlices: readonly Range[];
  /** The oldest date that any run was asked to read, or null before the first run. */
  floor: number | null;
  /** The end of the dates that finished runs have read, or null before the first finished run. */
  finishedUntil: number | null;
  /** The ranges that an interrupted run read within the last hour. */
  readRecently: readonly Range[];
  /** The days on which records are missing. */
  missing: readonly Range[];
}

export interface DatedPlan {
  /** The ranges to read, newest first. */
  ranges: Range[];
  /** The marked slices to read, newest first. Adjacent slices are merged. */
  markedSlices: Range[];
  /** The oldest date that this run or an earlier one was asked to read. */
  floor: number;
  /** The ranges between the floor and the newest date that remain unread. */
  gaps: Range[];
}

type PlanOptions = Pick<SyncOptions, "since" | "until" | "full" | "windowMs"> &
  Partial<Pick<SyncOptions, "allMarked">>;

/**
 * Decides which dates to read.
 * 1. By default, a run reads the gaps in the coverage, each with the window before it. It also reads all dates from one
 *    window before the end of the last finished run up to `readUntil`. `--since` and `--until` request a single range,
 *    and `--full` requests all dates.
 * 2. Ranges that an interrupted run read within the last hour are skipped.
 * 3. Days on which records are missing are always read.
 * 4. Marked slices are not gaps. Marked slices that overlap the planned ranges are read by page number.
 * 5. Dates before the floor, the oldest date that any run was asked to read, are never read.
 */
export function planDated(before: PlanInput, options: PlanOptions, readUntil: number): DatedPlan {
  const { coverage, readRecently, missing } = before;
  const floor = findFloor(options, before.floor);
  const wanted = subtractRanges(wantedRanges(before, options, floor, readUntil), readRecently);
  const due = mergeRanges(clipRanges([...wanted, ...missing], { from: floor, to: readUntil }));
  const ranges = subtractRanges(due, before.markedSlices);
  const isDue = (slice: Range) => options.allMarked || due.some((range) => overlaps(range, slice));
  const marked = mergeRanges(before.markedSlices.filter(isDue));
  const read = mergeRanges([...coverage, ...before.markedSlices, ...ranges]);
  const newest = read.at(-1)?.to ?? floor;
  const gaps = subtractRanges([{ from: floor, to: newest }], read);
  return { ranges: ranges.toReversed(), markedSlices: marked.toReversed(), floor, gaps };
}

/**
 * Returns the floor after this run.
 * @param before the floor from earlier runs
 */
export function findFloor(
  { full, since }: Pick<PlanOptions, "full" | "since">,
  before: number | null,
): number {
  if (full) return Number.NEGATIVE_INFINITY;
  if (before === null) return since ?? Number.NEGATIVE_INFINITY;
  return since === undefined ? before : Math.min(since, before);
}

/** Subtracts a time span from an instant. Returns -Infinity if the result is before the year 0. */
export function earlier(ms: number, spanMs: number): number {
  return ms - spanMs < minTimestampMs ? Number.NEGATIVE_INFINITY : ms - spanMs;
}

/** Returns the dates to read, including those that an interrupted run has just read. */
function wantedRanges(
  { coverage, finishedUntil, markedSlices }: PlanInput,
  options: PlanOptions,
  floor: number,
  readUntil: number,
): Range[] {
  const { full, since, until = readUntil, windowMs } = options;
  const to = Math.min(until, readUntil);
  if (full) return [{ from: floor, to }];
  if (since !== undefined) return [{ from: since, to }];

  const unread = subtractRanges([{ from: floor, to: readUntil }], [...coverage, ...markedSlices]);
  // If no run has finished, only the ranges read by interrupted runs are known. On the first run, all dates are unread.
  const finishedEnd = Math.min(finishedUntil ?? coverage.at(-1)?.to ?? readUntil, readUntil);
  const sinceFinished = { from: finishedEnd + 1, to: readUntil };
  const withWindows = [...unread, sinceFinished].map((range) => ({
    from: earlier(range.from, windowMs),
    to: range.to,
  }));
  return clipRanges(withWindows, { from: floor, to });
}

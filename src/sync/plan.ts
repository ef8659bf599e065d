import type { CoveredRange } from "../store/coverage.js";
import { clipRanges, mergeRanges, overlaps, type Range, subtractRanges } from "../util/ranges.js";
import { hourMs, minTimestampMs } from "../util/times.js";
import type { SyncOptions } from "./run.js";

/** The time for which an interrupted run's data is not re-read, in milliseconds. */
export const resumableMs = hourMs;

export interface PlanInput {
  coverage: readonly CoveredRange[];
  markedSlices: readonly Range[];
  /** The oldest date that any run has requested, or null before the first run. */
  floor: number | null;
  finishedUntil: number | null;
  resumable: readonly Range[];
  missingDays: readonly Range[];
}

export interface DatedPlan {
  ranges: Range[];
  markedSlices: Range[];
  floor: number;
  /** The ranges between the floor and the newest date read that will still be unread after this run. */
  gaps: Range[];
}

type PlanOptions = Pick<SyncOptions, "since" | "until" | "full" | "windowMs"> &
  Partial<Pick<SyncOptions, "allMarked">>;

/**
 * Decides which dates to read. These are the requested dates, except those that an interrupted run has just read, and
 * the days of missing records. Dates before the floor are never read.
 */
export function planDated(before: PlanInput, options: PlanOptions, readUntil: number): DatedPlan {
  const { coverage, markedSlices, missingDays, resumable } = before;
  const floor = findFloor(options, before.floor);
  const requested = subtractRanges(findRequestedRanges(before, options, floor, readUntil), resumable);
  const due = mergeRanges(clipRanges([...requested, ...missingDays], { from: floor, to: readUntil }));
  const dueSlices = markedSlices.filter(
    (slice) => options.allMarked || due.some((range) => overlaps(range, slice)),
  );
  const ranges = subtractRanges(due, markedSlices);
  const read = mergeRanges([...coverage, ...markedSlices, ...ranges]);
  const gaps = subtractRanges([{ from: floor, to: read.at(-1)?.to ?? floor }], read);
  return {
    ranges: ranges.toReversed(),
    markedSlices: mergeRanges(dueSlices).toReversed(),
    floor,
    gaps,
  };
}

/**
 * Returns the oldest date requested by any run, including this one.
 * @param before the floor after the previous run, or null before the first run
 */
export function findFloor(
  { full, since }: Pick<PlanOptions, "full" | "since">,
  before: number | null,
): number {
  if (full) return Number.NEGATIVE_INFINITY;
  if (before === null) return since ?? Number.NEGATIVE_INFINITY;
  return since === undefined ? before : Math.min(since, before);
}

/** Subtracts a duration from an instant. Returns -Infinity if the result would be before the year 0. */
export function subtractWindow(ms: number, spanMs: number): number {
  return ms - spanMs < minTimestampMs ? Number.NEGATIVE_INFINITY : ms - spanMs;
}

/**
 * Returns the dates to read according to the options. `--full` requests all dates, and `--since` requests one range. By
 * default, a run reads the gaps in the coverage, the dates after the last finished run, and the window before each of
 * these ranges.
 */
function findRequestedRanges(
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
  // Until a run has finished, the range since the last finished run is empty, and only the window before it is read.
  const sinceFinished = { from: Math.min(finishedUntil ?? readUntil, readUntil) + 1, to: readUntil };
  const withWindows = [...unread, sinceFinished].map((range) => ({
    from: subtractWindow(range.from, windowMs),
    to: range.to,
  }));
  return clipRanges(withWindows, { from: floor, to });
}

import type { CoveredRange } from "../store/coverage.js";
import { findLastFinishedSync, loadFinishedUntil } from "../store/runs.js";
import {
  allTime,
  clipRanges,
  dayRange,
  findGaps,
  mergeRanges,
  overlaps,
  subtractRanges,
  type TimeRange,
  utcDay,
} from "../util/time-ranges.js";
import { hourMs, minTimestampMs } from "../util/timestamps.js";
import type { DatedSession, RequestedDates, SyncOptions } from "./session.js";

/** The maximum age, in milliseconds, of an interrupted run's data. Older data is re-read. */
export const resumableMs = hourMs;

export interface PlanState {
  coverage: readonly CoveredRange[];
  faultySlices: readonly TimeRange[];
  /** The oldest date that any run has requested, or null before the first run. */
  floor: number | null;
  /** The latest date that a finished sync has reached, or null if no sync has finished. */
  finishedUntil: number | null;
  /** The ranges that an unfinished sync has read since the last finished sync. */
  interrupted: readonly CoveredRange[];
  /**
   * The days of the missing records. If one of these records has no readable date, all dates are included, so that the
   * run reads the whole history to find it.
   */
  missingDates: readonly TimeRange[];
}

interface DatedPlan {
  /** The ranges to read, newest first. */
  ranges: TimeRange[];
  /** The faulty slices to re-read, newest first. */
  faultySlices: TimeRange[];
  /** The oldest date to read or, if there is nothing to read, the floor. */
  since: number;
  floor: number;
  /** The unread ranges that this run will leave between the floor and the newest date read. */
  gaps: TimeRange[];
  /** The requested dates that are not read, because an interrupted run has just read them. */
  skipped: TimeRange[];
  /** True if the run continues where an interrupted run stopped. */
  isResumed: boolean;
}

type PlanOptions = Pick<SyncOptions, "full" | "windowMs" | "allFaulty">;

export function loadPlanState({ mirror, resource, state }: DatedSession): PlanState {
  const { coverage, faultySlices } = state.loadDates();
  const finishedSyncId = findLastFinishedSync(mirror, resource.name)?.run_id ?? 0;
  const removable = state.loadRemovableRecords();
  return {
    coverage,
    faultySlices,
    floor: state.loadFloor(),
    finishedUntil: loadFinishedUntil(mirror, resource.name),
    interrupted: [...coverage, ...faultySlices].filter(({ runId }) => runId > finishedSyncId),
    missingDates: removable.map(({ date }) => (date === null ? allTime : dayRange(utcDay(date)))),
  };
}

/** Decides which dates to read, and which of them to read by page number: those in faulty slices. */
export function planDated(
  before: PlanState,
  options: PlanOptions,
  requested: RequestedDates,
  readableUntil: number,
): DatedPlan {
  const floor = chooseFloor(options, requested, before.floor);
  const { due, skipped } = findDueRanges(before, options, requested, { from: floor, to: readableUntil });
  const isDue = (slice: TimeRange) => options.allFaulty || due.some((range) => overlaps(range, slice));
  const faultySlices = mergeRanges(before.faultySlices.filter(isDue));
  const ranges = subtractRanges(due, before.faultySlices);
  return {
    ranges: ranges.toReversed(),
    faultySlices: faultySlices.toReversed(),
    since: mergeRanges([...ranges, ...faultySlices])[0]?.from ?? floor,
    floor,
    gaps: findGaps([...before.coverage, ...before.faultySlices, ...ranges], floor),
    skipped: subtractRanges(skipped, faultySlices),
    isResumed: isResumed(skipped, due),
  };
}

/**
 * Returns the oldest date requested by any run, including this one. Dates before it are never read.
 * @param before the floor after the previous run, or null before the first run
 */
export function chooseFloor(
  { full }: Pick<PlanOptions, "full">,
  { since }: Pick<RequestedDates, "since">,
  before: number | null,
): number {
  if (full) return Number.NEGATIVE_INFINITY;
  if (before === null) return since ?? Number.NEGATIVE_INFINITY;
  return since === undefined ? before : Math.min(since, before);
}

/** True if the run skips dates that an interrupted run has just read and continues with older dates. */
function isResumed([oldestSkipped]: readonly TimeRange[], due: readonly TimeRange[]): boolean {
  return oldestSkipped !== undefined && due.some(({ from }) => from < oldestSkipped.from);
}

/**
 * Divides the requested dates into those to read and those to skip. Dates that an interrupted run has just read are
 * skipped. The dates of missing records are always read.
 * @param readable the range from the floor to the start of this run
 */
function findDueRanges(
  before: PlanState,
  options: PlanOptions,
  requested: RequestedDates,
  readable: TimeRange,
): { due: TimeRange[]; skipped: TimeRange[] } {
  const { interrupted, missingDates } = before;
  const justRead = interrupted.filter(({ requestedAt }) => requestedAt >= readable.to - resumableMs);
  const ranges = findRequestedRanges(before, options, requested, readable);
  const due = mergeRanges(clipRanges([...subtractRanges(ranges, justRead), ...missingDates], readable));
  return { due, skipped: mergeRanges(subtractRanges(ranges, due)) };
}

/**
 * Returns the dates that the options request: all dates for `--full`, and a single range for `--since`. The default is
 * the unread ranges and the dates since the end of the last finished sync. Each of these ranges is extended by the
 * window before it, because the orders from that window were last read when they were new, before most refunds.
 */
function findRequestedRanges(
  { coverage, faultySlices, finishedUntil }: PlanState,
  { full, windowMs }: PlanOptions,
  { since, until }: RequestedDates,
  readable: TimeRange,
): TimeRange[] {
  if (full) return [{ from: readable.from, to: until }];
  if (since !== undefined) return [{ from: since, to: until }];
  const unread = subtractRanges([readable], [...coverage, ...faultySlices]);
  const unreadWithWindows = unread.map(({ from, to }) => ({ from: subtractWindow(from, windowMs), to }));
  // If no sync has finished yet, or if the clock was set back, the window ends at the start of this run.
  const windowEnd = Math.min(finishedUntil ?? readable.to, readable.to);
  const window = { from: subtractWindow(windowEnd + 1, windowMs), to: readable.to };
  return clipRanges([...unreadWithWindows, window], { from: readable.from, to: until });
}

/** Subtracts a duration from an instant. Returns -Infinity if the result would be before the year 0. */
export function subtractWindow(ms: number, spanMs: number): number {
  return ms - spanMs < minTimestampMs ? Number.NEGATIVE_INFINITY : ms - spanMs;
}

import type { CoveredRange } from "../store/coverage.js";
import { findLastFinishedRun, readFinishedUntil } from "../store/runs.js";
import {
  allTime,
  clipRanges,
  dayRange,
  mergeRanges,
  overlaps,
  subtractRanges,
  type TimeRange,
  utcDay,
} from "../util/time-ranges.js";
import { hourMs, minTimestampMs } from "../util/timestamps.js";
import type { DatedSession, SyncOptions } from "./run.js";

/** How long the next run may rely on an interrupted run's data before re-reading it, in milliseconds. */
export const resumableMs = hourMs;

export interface PlanState {
  coverage: readonly CoveredRange[];
  faultySlices: readonly TimeRange[];
  /** The oldest date that any run has requested, or null before the first run. */
  floor: number | null;
  /** The newest date up to which a finished run has read, or null if no run has finished. */
  finishedUntil: number | null;
  /** The ranges that an unfinished sync has read since the last finished run. */
  interrupted: readonly CoveredRange[];
  missingDates: readonly TimeRange[];
}

interface DatedPlan {
  /** The ranges to read, newest first. */
  ranges: TimeRange[];
  /** The faulty slices to re-read, newest first. */
  faultySlices: TimeRange[];
  floor: number;
  /** The ranges, between the floor and the newest date read, that will still be unread after this run. */
  gaps: TimeRange[];
  isResumed: boolean;
}

type PlanOptions = Pick<SyncOptions, "since" | "until" | "full" | "windowMs" | "allFaulty">;

export function readPlanState({ mirror, resource, state }: DatedSession): PlanState {
  const coverage = state.coverage();
  const faultySlices = state.faultySlices();
  const finishedRunId = findLastFinishedRun(mirror, resource.name)?.run_id ?? 0;
  const missing = state.removableRecords();
  return {
    coverage,
    faultySlices,
    floor: state.floor(),
    finishedUntil: readFinishedUntil(mirror, resource.name),
    interrupted: [...coverage, ...faultySlices].filter(({ runId }) => runId > finishedRunId),
    missingDates: missing.map(({ dated }) => (dated === null ? allTime : dayRange(utcDay(dated)))),
  };
}

/**
 * Decides which dates to read: the requested dates, without those that an interrupted run has just read, and the days
 * of missing records. Dates before the floor are never read.
 */
export function planDated(input: PlanState, options: PlanOptions, readUntil: number): DatedPlan {
  const { coverage, interrupted, faultySlices, missingDates } = input;
  const floor = findFloor(options, input.floor);
  const justRead = interrupted.filter(({ readAt }) => readAt >= readUntil - resumableMs);
  const requested = subtractRanges(findRequestedRanges(input, options, floor, readUntil), justRead);
  const due = mergeRanges(clipRanges([...requested, ...missingDates], { from: floor, to: readUntil }));
  const dueSlices = faultySlices.filter(
    (slice) => options.allFaulty || due.some((range) => overlaps(range, slice)),
  );
  const ranges = subtractRanges(due, faultySlices);
  const read = mergeRanges([...coverage, ...faultySlices, ...ranges]);
  return {
    ranges: ranges.toReversed(),
    faultySlices: mergeRanges(dueSlices).toReversed(),
    floor,
    gaps: subtractRanges([{ from: floor, to: read.at(-1)?.to ?? floor }], read),
    isResumed: interrupted.length > 0,
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
 * Returns the dates that the options request: all dates for `--full`, and a single range for `--since`. The default is
 * the gaps in the coverage, the dates after the last finished run, and the window before each of these ranges.
 */
function findRequestedRanges(
  { coverage, finishedUntil, faultySlices }: PlanState,
  options: PlanOptions,
  floor: number,
  readUntil: number,
): TimeRange[] {
  const { full, since, until = readUntil, windowMs } = options;
  const to = Math.min(until, readUntil);
  if (full) return [{ from: floor, to }];
  if (since !== undefined) return [{ from: since, to }];

  const unread = subtractRanges([{ from: floor, to: readUntil }], [...coverage, ...faultySlices]);
  const withWindows = unread.map((range) => ({
    from: subtractWindow(range.from, windowMs),
    to: range.to,
  }));
  const finished = Math.min(finishedUntil ?? readUntil, readUntil);
  const sinceFinished = { from: subtractWindow(finished + 1, windowMs), to: readUntil };
  return clipRanges([...withWindows, sinceFinished], { from: floor, to });
}

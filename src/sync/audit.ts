import type { CoveredRange, MarkedSlice } from "../store/coverage.js";
import { mergeRanges, type Range } from "../util/ranges.js";
import { hourMs } from "../util/timestamp.js";
import { readByPage } from "./by-page.js";
import { readRange } from "./read.js";
import { type DatedSync, startBudget } from "./run.js";

/**
 * Ranges read within the last 20 hours are skipped, so that a second sync on the same day does not re-read the same
 * records.
 */
const restMs = 20 * hourMs;

/**
 * Re-reads some old records to find changes that affect neither a count nor a daily total. A cursor moves from the
 * newest date to the oldest and then starts over, so that every record is re-read within a predictable number of runs.
 * Marked slices take precedence over dates that were read more recently.
 */
export async function audit(run: DatedSync): Promise<void> {
  const { mirror, readUntil, options, state } = run;
  const remaining = startBudget(run, options.audit);
  const freshSince = readUntil - restMs;
  let cursor = state.cursor() ?? readUntil;
  // The second pass starts at the newest date, so that the dates above the cursor are read as well. Each iteration
  // either sends a request or ends a pass.
  let passes = 0;
  while (passes < 2 && remaining() > 0) {
    const due = nextDue(state.coverage(), cursor, freshSince);
    const slice = leastRecent(state.markedSlices());
    if (slice && slice.readAt < Math.min(freshSince, due?.readAt ?? freshSince)) {
      await readByPage(run, slice, remaining);
      continue;
    }
    const reached = due ? (await readRange(run, due, remaining)).reached : Number.NEGATIVE_INFINITY;
    const isAtEnd = reached === Number.NEGATIVE_INFINITY;
    if (isAtEnd) passes += 1;
    cursor = isAtEnd ? readUntil : reached - 1;
    mirror.transaction(() => state.setCursor(cursor));
  }
}

function leastRecent(slices: readonly MarkedSlice[]): MarkedSlice | undefined {
  return slices.toSorted((a, b) => a.readAt - b.readAt)[0];
}

/**
 * Returns the newest covered range before the cursor that has not been read recently, extended by all adjacent older
 * dates.
 */
function nextDue(
  coverage: readonly CoveredRange[],
  at: number,
  freshSince: number,
): (Range & { readAt: number }) | null {
  const newest = coverage.findLast(({ from, readAt }) => from <= at && readAt < freshSince);
  const joined =
    newest && mergeRanges(coverage).find(({ from, to }) => from <= newest.from && to >= newest.to);
  return newest && joined ? { from: joined.from, to: Math.min(at, newest.to), readAt: newest.readAt } : null;
}

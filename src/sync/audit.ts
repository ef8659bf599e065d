import type { MarkedSlice } from "../store/sync-state.js";
import { type CoveredRange, mergeRanges, type Range } from "../util/ranges.js";
import { readByPage } from "./by-page.js";
import { readRange } from "./read.js";
import { type DatedRun, startBudget } from "./session.js";

/** A second sync right after the first audits nothing: what was read within 20 hours is not read again. */
const restMs = 20 * 3_600_000;

/**
 * Reads on from a cursor through the dates, one page per request, because a change may move no daily total and no count. The
 * cursor goes down to the beginning and starts again at the top, whatever else is read: each record is read again within a
 * known number of runs. A marked slice that was read longer ago comes first.
 */
export async function audit(run: DatedRun): Promise<void> {
  const { mirror, now, options, state } = run;
  const left = startBudget(run, options.audit);
  const freshSince = now - restMs;
  let at = state.cursor() ?? now;
  // At most from the cursor down to the beginning, and from the top down to the cursor.
  for (let turns = 0; turns < 2 && left() > 0; ) {
    const due = nextDue(state.coverage(), at, freshSince);
    const slice = leastRecent(state.markedSlices());
    if (slice && slice.readAt < Math.min(freshSince, due?.readAt ?? freshSince)) {
      await readByPage(run, slice, left);
      continue;
    }
    const reached = due ? await readRange(run, due, left) : Number.NEGATIVE_INFINITY;
    const isAtEnd = reached === Number.NEGATIVE_INFINITY;
    if (isAtEnd) turns += 1;
    at = isAtEnd ? now : reached - 1;
    mirror.transaction(() => state.setCursor(at));
  }
}

function leastRecent(slices: readonly MarkedSlice[]): MarkedSlice | undefined {
  return slices.toSorted((a, b) => a.readAt - b.readAt)[0];
}

/** Returns the newest stretch at or below an instant that was read long enough ago, and what lies unbroken below it. */
function nextDue(
  covered: readonly CoveredRange[],
  at: number,
  freshSince: number,
): (Range & { readAt: number }) | null {
  const head = covered.findLast(({ from, readAt }) => from <= at && readAt < freshSince);
  const joined = head && mergeRanges(covered).find((range) => range.from <= head.from && range.to >= head.to);
  return head && joined ? { from: joined.from, to: Math.min(at, head.to), readAt: head.readAt } : null;
}

import type { CoveredRange } from "../store/coverage.js";
import type { MarkedSlice } from "../store/marked-slices.js";
import { mergeRanges, type Range } from "../util/ranges.js";
import { readByPage } from "./by-page.js";
import { readRange } from "./read.js";
import { type DatedSync, startBudget } from "./session.js";

/** What was read within 20 hours is not read again: a second sync right after the first audits nothing. */
const restMs = 20 * 3_600_000;

/**
 * Reads on from a cursor through the dates, one page per request, because a change may affect no daily total and no count.
 * The cursor goes down to the beginning and starts again at the top, whatever else is read: each record is read again within
 * a known number of runs. A marked slice that was read longer ago comes first.
 */
export async function audit(run: DatedSync): Promise<void> {
  const { mirror, readUntil, options, state } = run;
  const remaining = startBudget(run, options.audit);
  const freshSince = readUntil - restMs;
  let cursor = state.cursor() ?? readUntil;
  // At most from the cursor down to the beginning, and from the top down to the cursor.
  for (let turns = 0; turns < 2 && remaining() > 0; ) {
    const due = nextDue(state.coverage(), cursor, freshSince);
    const slice = leastRecent(state.markedSlices());
    if (slice && slice.readAt < Math.min(freshSince, due?.readAt ?? freshSince)) {
      await readByPage(run, slice, remaining);
      continue;
    }
    const reached = due ? (await readRange(run, due, remaining)).reached : Number.NEGATIVE_INFINITY;
    const isAtEnd = reached === Number.NEGATIVE_INFINITY;
    if (isAtEnd) turns += 1;
    cursor = isAtEnd ? readUntil : reached - 1;
    mirror.transaction(() => state.setCursor(cursor));
  }
}

function leastRecent(slices: readonly MarkedSlice[]): MarkedSlice | undefined {
  return slices.toSorted((a, b) => a.readAt - b.readAt)[0];
}

/** Returns the newest range at or below an instant that was read long enough ago, with everything covered below it. */
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

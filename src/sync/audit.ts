import type { CoveredRange, MarkedSlice } from "../store/coverage.js";
import { mergeRanges, overlaps, type Range } from "../util/ranges.js";
import { hourMs } from "../util/timestamp.js";
import { readRange } from "./read.js";
import { type DatedSync, startBudget } from "./run.js";
import { readByPage } from "./slices.js";

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
  const { mirror, options, readUntil, state } = run;
  const remaining = startBudget(run, options.audit);
  const freshSince = readUntil - restMs;
  // The second pass starts at the newest date, so that the dates above the cursor are read as well.
  for (const start of [state.cursor() ?? readUntil, readUntil]) {
    let cursor = start;
    while (Number.isFinite(cursor) && remaining() > 0) {
      const due = nextDue(state.coverage(), cursor, freshSince);
      const slice = leastRecent(state.markedSlices());
      if (slice && slice.readAt < Math.min(freshSince, due?.readAt ?? freshSince)) {
        await readByPage(run, slice, remaining);
        continue;
      }
      cursor = due ? (await readRange(run, due, remaining)) - 1 : Number.NEGATIVE_INFINITY;
      mirror.transaction(() => state.setCursor(Number.isFinite(cursor) ? cursor : readUntil));
    }
  }
}

function leastRecent(slices: readonly MarkedSlice[]): MarkedSlice | undefined {
  return slices.toSorted((a, b) => a.readAt - b.readAt)[0];
}

/**
 * Returns the newest covered range below the cursor that has not been read recently. The range is extended by all
 * adjacent older dates, because `readRange` stops when the budget is used up.
 */
function nextDue(
  coverage: readonly CoveredRange[],
  cursor: number,
  freshSince: number,
): (Range & { readAt: number }) | null {
  const newest = coverage.findLast(({ from, readAt }) => from <= cursor && readAt < freshSince);
  if (!newest) return null;
  const joined = mergeRanges(coverage).find((range) => overlaps(range, newest));
  return { from: joined?.from ?? newest.from, to: Math.min(cursor, newest.to), readAt: newest.readAt };
}

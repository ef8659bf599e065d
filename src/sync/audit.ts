import type { CoveredRange, MarkedSlice } from "../store/coverage.js";
import { mergeRanges, overlaps, type Range } from "../util/ranges.js";
import { hourMs } from "../util/timestamp.js";
import { readRange } from "./read.js";
import { type DatedSync, startBudget } from "./run.js";
import { readByPage } from "./slices.js";

/**
 * Ranges that were read within the last 20 hours are skipped, so a second sync on the same day audits other records.
 */
const restMs = 20 * hourMs;

/**
 * Re-reads a few old records in each run, because some changes affect neither a count nor a daily total. A cursor moves
 * from the newest date to the oldest and then starts over, which bounds the number of runs until every record has been
 * re-read. A marked slice takes precedence if it was read longer ago than the next range.
 */
export async function audit(run: DatedSync): Promise<void> {
  const { mirror, options, readUntil, state } = run;
  const remaining = startBudget(run, options.audit);
  const freshSince = readUntil - restMs;
  // The first pass ends at the oldest date. The second pass reads the dates that are newer than the stored cursor.
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
 * Returns the newest covered range that is not newer than the cursor and is due for a re-read. It includes all
 * contiguous older coverage, because `readRange` stops when the budget runs out.
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

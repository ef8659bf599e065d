import type { CoveredRange, FaultySlice } from "../store/coverage.js";
import { clipRanges, mergeRanges, type TimeRange } from "../util/time-ranges.js";
import { hourMs } from "../util/timestamps.js";
import { readByPage } from "./read-by-page.js";
import { readRange } from "./read-range.js";
import { Budget, type DatedRun } from "./session.js";

/**
 * The audit skips dates read within the last 20 hours, so that a second sync on the same day audits different records.
 */
const minReauditMs = 20 * hourMs;

/**
 * Re-reads a few old records in each run, because some changes affect neither a count nor a daily total. A cursor moves
 * from the newest date to the oldest and then starts over, so every record is re-read after a limited number of runs.
 */
export async function audit(run: DatedRun): Promise<void> {
  const { api, mirror, options, readableUntil, state } = run;
  const coverage = state.loadCoverage();
  const oldest = coverage[0]?.from ?? readableUntil;
  const budget = new Budget(api, options.auditRequests);
  const cursor = state.loadAuditCursor() ?? readableUntil;
  const parts = planAudit(coverage, state.loadFaultySlices(), cursor, readableUntil - minReauditMs);
  for (const { isFaulty, ...range } of parts) {
    if (budget.remaining <= 0) break;
    if (isFaulty) {
      await readByPage(run, range, budget);
      continue;
    }
    const oldestRead = await readRange(run, range, budget);
    // After the oldest date, the audit starts over at the newest.
    const next = oldestRead > oldest ? oldestRead - 1 : readableUntil;
    mirror.transaction(() => state.saveAuditCursor(next));
  }
}

interface AuditedPart extends TimeRange {
  isFaulty: boolean;
}

/**
 * Returns the stale dates and faulty slices to audit. The slices come first if one of them was read longer ago than the
 * date at the cursor, so that both are re-read regularly.
 * @param staleBefore only dates and slices last read before this time are audited
 */
export function planAudit(
  coverage: readonly CoveredRange[],
  faultySlices: readonly FaultySlice[],
  cursor: number,
  staleBefore: number,
): AuditedPart[] {
  const isStale = ({ requestedAt }: CoveredRange) => requestedAt < staleBefore;
  const stale = coverage.filter(isStale);
  const slices = faultySlices.filter(isStale).toSorted((a, b) => a.requestedAt - b.requestedAt);
  const dates = rotateAtCursor(stale, cursor).map((range) => ({ ...range, isFaulty: false }));
  const faulty = slices.map((slice) => ({ ...slice, isFaulty: true }));
  const atCursor = stale.findLast(({ from }) => from <= cursor) ?? stale.at(-1);
  return wasReadEarlier(slices[0], atCursor) ? [...faulty, ...dates] : [...dates, ...faulty];
}

/**
 * Returns the dates before the cursor, newest first, and then the dates after it. Adjacent dates are merged into one
 * range, even if earlier runs read them separately, so that every request returns a full page.
 */
function rotateAtCursor(coverage: readonly CoveredRange[], cursor: number): TimeRange[] {
  const beforeCursor = { from: Number.NEGATIVE_INFINITY, to: cursor };
  const afterCursor = { from: cursor + 1, to: Number.POSITIVE_INFINITY };
  return [beforeCursor, afterCursor].flatMap((dates) =>
    mergeRanges(clipRanges(coverage, dates)).toReversed(),
  );
}

function wasReadEarlier(slice: FaultySlice | undefined, dates: CoveredRange | undefined): boolean {
  return slice !== undefined && dates !== undefined && slice.requestedAt < dates.requestedAt;
}

import type { CoveredRange, MarkedSlice } from "../store/coverage.js";
import { mergeRanges, overlaps, type Range } from "../util/ranges.js";
import { hourMs } from "../util/times.js";
import { readByPage } from "./by-page.js";
import { readRange } from "./read.js";
import { Budget, type DatedRun, type IncompleteReason } from "./run.js";

/**
 * Ranges that were read within the last 20 hours are skipped, so a second sync on the same day audits other records.
 */
const restMs = 20 * hourMs;

/**
 * Re-reads a few old records in each run, because some changes affect neither a count nor a daily total. A cursor moves
 * from the newest date to the oldest and then starts over, which bounds the number of runs until every record has been
 * re-read.
 */
export async function audit(run: DatedRun): Promise<IncompleteReason[]> {
  const { api, mirror, options, readUntil, state } = run;
  const budget = new Budget(api, options.audit);
  const unsettled: IncompleteReason[] = [];
  // The first pass ends at the oldest date. The second pass reads the dates that are newer than the stored cursor.
  for (const start of [state.cursor() ?? readUntil, readUntil]) {
    let cursor = start;
    while (Number.isFinite(cursor) && budget.remaining > 0) {
      const step = chooseStep(state.coverage(), state.markedSlices(), cursor, readUntil - restMs);
      if (step.kind === "slice") {
        unsettled.push(...(await readByPage(run, step.slice, budget)).unsettled);
        continue;
      }
      cursor = Number.NEGATIVE_INFINITY;
      if (step.kind === "range") {
        const result = await readRange(run, step.range, budget);
        unsettled.push(...result.unsettled);
        cursor = result.reached - 1;
      }
      mirror.transaction(() => state.setCursor(Number.isFinite(cursor) ? cursor : readUntil));
    }
  }
  return unsettled;
}

type AuditStep = { kind: "slice"; slice: Range } | { kind: "range"; range: Range } | { kind: "done" };

/**
 * Chooses between the newest covered range that is not newer than the cursor and the least recently read marked slice,
 * and takes the one that was read earlier. The range can include all contiguous older coverage, because `readRange`
 * stops when the budget runs out.
 */
function chooseStep(
  coverage: readonly CoveredRange[],
  markedSlices: readonly MarkedSlice[],
  cursor: number,
  freshSince: number,
): AuditStep {
  const newest = coverage.findLast(({ from, readAt }) => from <= cursor && readAt < freshSince);
  const [slice] = markedSlices.toSorted((a, b) => a.readAt - b.readAt);
  if (slice && slice.readAt < (newest?.readAt ?? freshSince)) return { kind: "slice", slice };
  if (!newest) return { kind: "done" };
  const joined = mergeRanges(coverage).find((range) => overlaps(range, newest));
  const range = { from: joined?.from ?? newest.from, to: Math.min(cursor, newest.to) };
  return { kind: "range", range };
}

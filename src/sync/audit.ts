import { type Covered, join, type Range } from "../lib/ranges.js";
import type { Figures } from "../state/index.js";
import { readRange } from "./read.js";
import { budgetOf, type DatedRun } from "./run.js";

/** What was read in the last 20 hours has had no time to grow old: a second sync right after the first reads nothing. */
const restMs = 20 * 3_600_000;

/**
 * Reads what a cursor through the dates has come to, a page a request, and moves it on: a partial refund on an old
 * order may move no figure and no count, so that only reading shows it. The cursor goes down to the beginning and
 * starts again at the top, whatever else is read: so every record is read again within a known number of runs.
 */
export async function audit(run: DatedRun, figures: Figures | null): Promise<void> {
  const { now, options, state } = run;
  const left = budgetOf(run, options.audit);
  let at = state.cursor() ?? now;
  for (let turns = 0; turns < 2 && left() > 0; ) {
    const stale = nextStale(state.coverage(), at, now - restMs);
    const reached = stale
      ? Math.min(await readRange(run, stale, figures, left()), stale.to)
      : Number.NEGATIVE_INFINITY;
    // From the beginning it goes on at the top; a part that could not be read is passed by: it has been told.
    if (reached === Number.NEGATIVE_INFINITY) turns += 1;
    at = reached === Number.NEGATIVE_INFINITY ? now : reached - 1;
    state.moveCursor(at);
  }
}

/** From an instant down: the newest stretch that was read long enough ago, and what lies unbroken below it. */
function nextStale(covered: readonly Covered[], at: number, freshSince: number): Range | null {
  const head = covered.findLast(({ from, readAt }) => from <= at && readAt < freshSince);
  const whole = head && join(covered).find((range) => range.from <= head.from && range.to >= head.to);
  return head && whole ? { from: whole.from, to: Math.min(at, head.to) } : null;
}

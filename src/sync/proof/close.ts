import { readCoverage, stretches } from "../../mirror/coverage.js";
import { candidates, countPresent } from "../../mirror/removals.js";
import { removeGone } from "../close-range.js";
import type { SyncContext } from "../context.js";
import type { Goal } from "../plan.js";
import { readUntilProven } from "../walk.js";
import { auditOldest } from "./audit.js";
import { findDifferences } from "./counts.js";
import { joinDays, joinRanges } from "./days.js";
import { askTripwire, movedDays, rememberDays, type Wire } from "./tripwire.js";

/** Requests that may go into days whose figures moved; what is left is found again by the next run. */
const mostRequests = 100;
/** A read that takes longer is followed by another look at the figures. */
const longReadMs = 60_000;

/**
 * Closes old changes, those beyond the window, at a bounded price: the days whose figures moved are read again, also
 * those that moved while this run was reading; the counts of the whole history are compared; and a few requests go to
 * what was read longest ago. What is gone is removed when all places have been looked at that it could have moved to.
 * @param since milliseconds: when this run began to read
 */
export async function closeOldChanges(context: SyncContext, since: number, wire: Wire | null): Promise<void> {
  if (wire) {
    await rereadMoved(context, wire);
    rememberDays(context, wire);
    if (isWorthAnother(context, wire)) await rereadMovedMeanwhile(context);
  }
  const spans = readCoverage(context.mirror, context.resource.name);
  // Read in the future: by a clock that was ahead.
  if (spans.some(({ readAt }) => readAt < since || readAt > context.clock.now())) {
    for (const covered of stretches(spans)) await rereadDiffering(context, covered);
    await removeGone(context);
    await auditOldest(context, since);
  }
  await removeGone(context);
  if (wire) rememberDays(context, wire);
}

/** Long reads let things happen behind them, and what is missing may have moved behind them too. */
function isWorthAnother({ clock, mirror, resource }: SyncContext, { askedAt }: Wire): boolean {
  return candidates(mirror, resource.name).length > 0 || Math.abs(clock.now() - askedAt) > longReadMs;
}

async function rereadMovedMeanwhile(context: SyncContext): Promise<void> {
  const wire = await askTripwire(context);
  if (!wire) return;
  await rereadMoved(context, wire);
  rememberDays(context, wire);
}

async function rereadMoved(context: SyncContext, wire: Wire): Promise<void> {
  let left = mostRequests;
  for (const range of joinDays(movedDays(context, wire))) {
    const price = Math.ceil((countPresent(context.mirror, context.resource.name, range) + 1) / 100);
    if (price > left) break;
    left -= price;
    await readUntilProven(context, range);
  }
}

async function rereadDiffering(context: SyncContext, covered: Goal): Promise<void> {
  const differences = await findDifferences(context, covered);
  for (const range of joinRanges(differences)) {
    context.reporter.detail(
      `${context.resource.name}: the API's counts differ from the mirror's: reading again`,
    );
    await readUntilProven(context, range);
  }
  if (differences.length === 0) return;
  const rest = await findDifferences(context, covered);
  if (rest.length > 0)
    context.shortfalls.push(
      `the API's counts still differ from the mirror's on ${rest.length} days: run \`brandapi verify ${context.resource.name}\``,
    );
}

import { countPresent } from "../../state/counting.js";
import { readCoverage, stretches } from "../../state/coverage.js";
import { candidates } from "../../state/removals.js";
import { readTripwires } from "../../state/tripwires.js";
import { removeGone } from "../close-range.js";
import type { SyncContext } from "../context.js";
import { mostPerPage } from "../pass.js";
import type { Goal } from "../plan.js";
import { readAgain } from "../walk.js";
import { auditOldest } from "./audit.js";
import { allRecords, countChecks } from "./counts.js";
import { joinDays } from "./days.js";
import { rereadDiffering } from "./differing.js";
import { askTripwire, movedDays, rememberDays, type Wire } from "./tripwire.js";

/** Requests that may go into days whose figures moved; what is left is found again by the next run. */
export const mostRequests = 100;
/** A read that takes longer is followed by another look at the figures. */
const longReadMs = 60_000;

/**
 * Reads the days again whose figures moved since they were read, however old they are.
 * @param figures.wire asked for before the run read anything
 * @param figures.begun asked for by the run whose stopped read this one went on with
 */
export async function rereadMovedDays(
  context: SyncContext,
  { wire, begun }: { wire: Wire | null; begun: Wire | null },
): Promise<void> {
  // What was read before a stop is as old as the figures that were asked for before it.
  if (begun) rememberDays(context, begun);
  if (!wire) return;
  await rereadMoved(context, wire);
  rememberDays(context, wire);
}

/**
 * Closes old changes, those beyond the window, at a bounded price: days that moved while this run was reading are read
 * again; the counts of the whole history are compared; and a few requests go to what was read longest ago. What is
 * gone is removed when all places have been looked at that it could have moved to.
 * @param read.since milliseconds: when this run began to read
 * @param read.unsure whether something was read in several answers, and not looked at again when the last was there
 * @param read.isCounted whether all records of the history were counted already, and found as many
 */
export async function closeOldChanges(
  context: SyncContext,
  wire: Wire | null,
  { since, unsure, isCounted }: { since: number; unsure: boolean; isCounted: boolean },
): Promise<void> {
  const isLater = wire !== null && (unsure || isWorthAnother(context, wire));
  const unseen = hasKnownFigures(context) && wire !== null ? "nothing" : "earlier";
  const latest = isLater ? await rereadMovedMeanwhile(context) : wire;
  const spans = readCoverage(context.mirror, context.resource.name);
  // Read in the future: by a clock that was ahead.
  if (spans.some(({ readAt }) => readAt < since || readAt > context.clock.now())) {
    const checks = countChecks(context).filter((check) => !isCounted || check !== allRecords);
    for (const covered of stretches(spans)) await rereadDiffering(context, covered, checks);
    await removeGone(context, unseen);
    await auditOldest(context, since);
  }
  await removeGone(context, unseen);
  if (latest) rememberDays(context, latest);
}

/**
 * Closes a read that is not of everything up to now: who is missing may have moved to a day that it did not read, and
 * another have gone from there. Costs nothing where nobody is missing.
 */
export async function closeEarlier(context: SyncContext): Promise<void> {
  if (candidates(context.mirror, context.resource.name).length === 0) return;
  const known = hasKnownFigures(context);
  const wire = await rereadMovedMeanwhile(context);
  await removeGone(context, known && wire !== null ? "nothing" : "everything");
}

/** Whether there is something to compare figures by day with. */
export function hasKnownFigures({ mirror, resource }: SyncContext): boolean {
  return readTripwires(mirror, resource.name).size > 0;
}

/** Long reads let things happen behind them, and what is missing may have moved behind them too. */
function isWorthAnother({ clock, mirror, resource }: SyncContext, { askedAt }: Wire): boolean {
  return candidates(mirror, resource.name).length > 0 || Math.abs(clock.now() - askedAt) > longReadMs;
}

async function rereadMovedMeanwhile(context: SyncContext): Promise<Wire | null> {
  const wire = await askTripwire(context);
  if (!wire) return null;
  await rereadMoved(context, wire);
  rememberDays(context, wire);
  return wire;
}

async function rereadMoved(context: SyncContext, wire: Wire): Promise<void> {
  let left = mostRequests;
  for (const range of joinDays(movedDays(context, wire))) {
    left -= requestsFor(context, range);
    if (left < 0) break;
    await readAgain(context, range);
  }
}

/** What reading a range takes: its pages, with room for a record more. */
export function requestsFor({ mirror, resource }: SyncContext, range: Goal): number {
  return Math.ceil((countPresent(mirror, resource.name, range) + 1) / mostPerPage);
}

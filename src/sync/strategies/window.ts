import { clearCheckpoint } from "../../state/checkpoints.js";
import { coverageUntil, readCoverage, trimCoverage } from "../../state/coverage.js";
import { formatInstant } from "../../times.js";
import type { PlanStep, StrategyRun, SyncContext } from "../context.js";
import { type Goal, planWindow, type WindowPlan } from "../plan.js";
import { readBeyond } from "../proof/beyond.js";
import { closeEarlier, closeOldChanges, rereadMovedDays } from "../proof/close.js";
import { takeSoundings } from "../proof/soundings.js";
import { askTripwire, keepWire, keptWire, speaksOf, type Wire } from "../proof/tripwire.js";
import { closeUndated } from "../proof/undated.js";
import { countItems, unfinishedGoal, walkRange } from "../walk.js";

/**
 * Paged, newest first, filtered by a date: orders. A run re-reads the window behind the last complete read, since
 * refunds, cancellations and attributions come late (the API document, "4. GET /orders", Sync guidance).
 */
export const window: StrategyRun = {
  async plan(context) {
    const { goals } = decide(context);
    const steps: PlanStep[] = [];
    for (const goal of goals) {
      const items = await countItems(context, goal.from, goal.to);
      const pages = Math.max(1, Math.ceil(items / 100));
      steps.push({
        what: `${goal.resume ? "finish the stopped read of " : ""}${describeRange(goal)}: ${items} ${context.resource.name}`,
        requests: pages + Math.floor(pages / 200),
      });
    }
    return steps;
  },

  async run(context) {
    trimCoverage(context.mirror, context.resource.name, context.now);
    const isFirst = readCoverage(context.mirror, context.resource.name).length === 0;
    const { goals, gaps } = decide(context);
    context.run.since = instantOrNull(Math.min(...goals.map(({ from }) => from)));
    context.run.until = instantOrNull(Math.max(...goals.map(({ to }) => to)));
    const since = context.clock.now();
    const isOpen = context.options.until === undefined;
    const wire = isOpen ? await askTripwire(context) : null;
    const resumed = goals.some(({ resume }) => resume);
    const begun = resumed ? keptWire(context) : null;
    if (!resumed) keepWire(context, wire);
    for (const goal of goals) {
      await walkRange(context, goal);
      clearCheckpoint(context.mirror, context.resource.name);
    }
    if (isOpen) await rereadMovedDays(context, { wire, begun });
    // A range that never settled is not claimed: there is nothing to look at again.
    const found =
      context.shortfalls.length === 0
        ? await lookBehind(context, goals, { wire, begun, since, isFirst })
        : { unsure: false, isCounted: false };
    if (isOpen && context.shortfalls.length === 0) await closeUndated(context);
    if (isOpen) await closeOldChanges(context, wire, { since, ...found });
    else await closeEarlier(context);
    for (const gap of gaps)
      context.reporter.warn(
        `${context.resource.name}: ${describeRange(gap)} has never been read and is not claimed as covered: run \`brandapi sync ${context.resource.name}\``,
      );
  },
};

/** Pages looked at again where the API has no figures by day; more where much time may have passed behind the reader. */
const mostWithoutFigures = 4;
const mostAfterStop = 10;

/**
 * Looks again at what lies behind the reader, and beyond the range.
 * @returns `unsure`: the figures by day must be asked for again; `isCounted`: the API has as many records as the mirror
 */
async function lookBehind(
  context: SyncContext,
  goals: WindowPlan["goals"],
  { wire, begun, since, isFirst }: { wire: Wire | null; begun: Wire | null; since: number; isFirst: boolean },
): Promise<{ unsure: boolean; isCounted: boolean }> {
  const isOpen = context.options.until === undefined;
  const told = goals.map((goal) => speaksOf(context, goal.resume ? begun : wire, goal));
  // What was never read before has nothing else to be compared with; it costs no request more.
  const isNew = isFirst && !goals.some(({ resume }) => resume);
  const isCounted = isOpen && (await readBeyond(context, { isWhole: isNew || !told.every(Boolean), since }));
  let unsure = false;
  for (const [index, goal] of goals.entries()) {
    const hasFigures = told[index] === true;
    const most = mostLooks(goal, hasFigures);
    const looks = { first: isOpen ? 2 : 1, most, isWhole: isNew || !hasFigures };
    const isSure = await takeSoundings(context, goal, looks);
    unsure ||= hasFigures && !isSure;
  }
  return { unsure, isCounted };
}

/** With figures one look at a long read, and none at a nightly window: it is read again for a month of nights. */
function mostLooks({ from, resume }: WindowPlan["goals"][number], hasFigures: boolean): number {
  if (hasFigures) return resume || !Number.isFinite(from) ? 1 : 0;
  return resume ? mostAfterStop : mostWithoutFigures;
}

function decide(context: SyncContext): WindowPlan {
  return planWindow(
    coverageUntil(readCoverage(context.mirror, context.resource.name), context.now),
    unfinishedGoal(context),
    context.options,
    context.now,
  );
}

function instantOrNull(ms: number): string | null {
  return Number.isFinite(ms) ? formatInstant(ms) : null;
}

/** A range as a person reads it: days are enough. */
export function describeRange({ from, to }: Goal): string {
  const end = formatInstant(to).slice(0, 16).replace("T", " ");
  return Number.isFinite(from)
    ? `${formatInstant(from).slice(0, 16).replace("T", " ")} to ${end}`
    : `everything until ${end}`;
}

import { clearCheckpoint } from "../../mirror/checkpoints.js";
import { readCoverage } from "../../mirror/coverage.js";
import { formatInstant } from "../../times.js";
import { removeGone } from "../close-range.js";
import type { PlanStep, StrategyRun, SyncContext } from "../context.js";
import { type Goal, planWindow, type WindowPlan } from "../plan.js";
import { closeOldChanges } from "../proof/close.js";
import { askTripwire } from "../proof/tripwire.js";
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
    const { goals, gaps } = decide(context);
    context.run.since = instantOrNull(Math.min(...goals.map(({ from }) => from)));
    context.run.until = instantOrNull(Math.max(...goals.map(({ to }) => to)));
    const since = context.clock.now();
    const wire = context.options.until === undefined ? await askTripwire(context) : null;
    for (const goal of goals) {
      await walkRange(context, goal);
      clearCheckpoint(context.mirror, context.resource.name);
    }
    if (context.options.until === undefined) await closeOldChanges(context, since, wire);
    else await removeGone(context);
    for (const gap of gaps)
      context.reporter.warn(
        `${context.resource.name}: ${describeRange(gap)} has never been read and is not claimed as covered: run \`brandapi sync ${context.resource.name}\``,
      );
  },
};

function decide(context: SyncContext): WindowPlan {
  return planWindow(
    readCoverage(context.mirror, context.resource.name),
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

import { counted } from "../../lib/counted.js";
import { describe } from "../../lib/ranges.js";
import { formatInstant, instantOrNull, minuteOf } from "../../lib/times.js";
import { lastFinding } from "../../mirror/index.js";
import type { Dated } from "../../resources/types.js";
import { countPresent } from "../../state/index.js";
import { checksOf, countItems } from "../counts.js";
import { askFigures } from "../figures.js";
import { figuresName } from "../moved.js";
import { planDated } from "../plan.js";
import { isNew, readRange } from "../read.js";
import { reconcile } from "../reconcile.js";
import {
  believedFloor,
  type DatedRun,
  doubtClock,
  type PlanStep,
  pagesFor,
  type StrategyRun,
  warnOfGaps,
} from "../run.js";
import { filterQueries, readFiltered } from "./filtered.js";

/**
 * Newest first, filtered by a date: orders, content. A run reads the window behind the last complete read again, since
 * changes come late (the API document, "4. GET /orders", Sync guidance), and finds by evidence what no window shows.
 */
export const dated: StrategyRun<Dated> = {
  async plan(run) {
    const queries = filterQueries(run);
    if (queries.length > 0) return [{ what: "what the filters select", requests: queries.length }];
    const { goal, ranges } = decide(run);
    const isResumed = goal.begunAt < run.now;
    const steps: PlanStep[] = [];
    for (const range of ranges) {
      const items = await countItems(run, range);
      const what = `${isResumed ? "finish the stopped read: " : ""}${describe(range)}: ${counted(items, "record")}`;
      // That there is nothing where something was is asked twice.
      const isDoubted = items === 0 && !isNew(run, range);
      steps.push({ what, requests: pagesFor(items) + (isDoubted ? 1 : 0) });
    }
    const { figures } = run.resource.strategy;
    const requests = (figures ? 1 : 0) + checksOf(run).length;
    // Answers share a record, and what moved or the audit comes to is read besides.
    const what = figures ? "its proof: figures by day, and counts" : "its proof: counts";
    steps.push({ what, requests, open: true });
    return steps;
  },

  async run(run) {
    const queries = filterQueries(run);
    await (queries.length > 0 ? readFiltered(run, queries) : readRanges(run));
  },
};

async function readRanges(run: DatedRun): Promise<void> {
  const { mirror, now, options, reporter, resource, row, shortfalls, state, undated } = run;
  // Only `--full` looks for records without a date: who was missing from an earlier one may be back.
  const undatedMissing = state.missing().flatMap(({ dated, id }) => (dated === null ? id : []));
  mirror.transaction(() => {
    state.trim(now);
    state.forgetMissing(undatedMissing);
  });
  if (options.full)
    for (const name of [figuresName, ...(resource.strategy.counts ?? []).map((count) => count.name)])
      state.trust(name);
  const asked = state.floor();
  const { floor, gaps, goal, lowest, ranges } = decide(run);
  if (asked !== null && asked > now && !options.full) {
    const what = `the oldest date asked for, ${formatInstant(asked).slice(0, 10)}, is`;
    if (floor > now) doubtClock(run, what, "everything");
    else reporter.warn(`${resource.name}: ${what} still to come: it is forgotten, and everything is read`);
  }
  const newest = ranges[0]?.to ?? options.until ?? now;
  row.since = instantOrNull(ranges.at(-1)?.from ?? newest);
  row.until = instantOrNull(Math.min(now, newest));
  row.covered_from = instantOrNull(lowest);
  if (state.coverage().some(({ readAt }) => readAt >= goal.begunAt) && goal.begunAt < now)
    reporter.note(
      `${resource.name}: goes on with the read begun ${minuteOf(goal.begunAt)}: ${counted(countPresent(mirror, resource.name), "record")} already here`,
    );
  if (ranges.length === 0) {
    run.isPartial = true;
    reporter.note(`${resource.name}: nothing up to then is left to read: \`--since\` reads it again`);
  }
  state.setGoal(floor, goal);
  state.remember(options);
  const figures = await askFigures(run);
  state.noteFigures((figures?.days.size ?? 0) > 0, now);
  for (const range of ranges) await readRange(run, range, figures);
  state.finish();
  const isAll = ranges.some(({ from, to }) => !Number.isFinite(from) && !Number.isFinite(to));
  if (options.full && isAll && shortfalls.length === 0) state.missUndated(undated);
  // What told one month from another is asked again, until nothing speaks against the mirror.
  const isDoubted = lastFinding(mirror, resource.name) !== null;
  if (isDoubted && gaps.length > 0) run.isPartial = true;
  await reconcile(run, figures, isDoubted);
  warnOfGaps(run, gaps);
}

function decide(run: DatedRun) {
  const { now, options, state } = run;
  const before = { coverage: state.coverage(), goal: state.goal(), floor: believedFloor(run) };
  return planDated(before, options, now);
}

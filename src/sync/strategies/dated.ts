import { counted } from "../../lib/counted.js";
import { dayOf, dayRange, describe, everything, type Range } from "../../lib/ranges.js";
import { instantOrNull } from "../../lib/times.js";
import type { Dated } from "../../resources/types.js";
import { finishedRuns } from "../../state/index.js";
import { audit } from "../audit.js";
import { checksOf, count } from "../counts.js";
import { askFigures, movedDays } from "../figures.js";
import { planDated } from "../plan.js";
import { readRange } from "../read.js";
import { readMoved, reconcile } from "../reconcile.js";
import { removeMissing } from "../removals.js";
import { budgetOf, type DatedRun, type PlanStep, pagesFor, type StrategyRun } from "../run.js";
import { filterQuery, readFiltered } from "./filtered.js";

/** Newest first, filtered by a date: orders, content. The loop is described in `../README.md`. */
export const dated: StrategyRun<Dated> = {
  async plan(run) {
    if (filterQuery(run)) return [{ what: "what the filters select", requests: 1, open: true }];
    const steps: PlanStep[] = [];
    for (const range of decide(run).ranges) {
      const { api } = await count(run, range);
      steps.push({ what: `${describe(range)}: ${counted(api, "record")}`, requests: pagesFor(api) });
    }
    const { figures } = run.resource.strategy;
    const what = figures ? "its proof: figures by day, and counts" : "its proof: counts";
    return [...steps, { what, requests: (figures ? 1 : 0) + checksOf(run).length + 1, open: true }];
  },

  async run(run) {
    const filter = filterQuery(run);
    if (filter) return await readFiltered(run, filter);
    const { mirror, options, shortfalls } = run;
    const { floor, gaps, ranges } = decide(run);
    begin(run, ranges, floor);
    run.figures = await askFigures(run);
    for (const range of ranges) await readRange(run, range);
    await audit(run);
    const left = budgetOf(run, options.budget);
    await readMoved(run, left);
    await reconcile(run, left);
    noteMoved(run);
    if (shortfalls.length === 0) removeMissing(run);
    mirror.transaction(() => end(run, gaps));
  },
};

function decide(run: DatedRun) {
  const { clock, mirror, now, options, resource, state } = run;
  const coverage = state.coverage();
  const finished = finishedRuns(mirror, resource.name);
  const freshSince = clock.now() - freshMs;
  const resumed = coverage.filter(({ readAt, runId }) => runId > finished.runId && readAt >= freshSince);
  const missing = state.missing.all().flatMap(({ dated }) => (dated === null ? [] : dayRange(dayOf(dated))));
  return planDated(
    { coverage, floor: state.floor(), finishedUntil: finished.until, resumed, missing },
    options,
    now,
  );
}

/** A run goes on with what a stopped one has read no longer ago than this. */
const freshMs = 3_600_000;

function begin(
  { mirror, options, reporter, resource, row, state }: DatedRun,
  ranges: readonly Range[],
  floor: number,
): void {
  const isResumed = state.coverage().some(({ runId }) => runId > finishedRuns(mirror, resource.name).runId);
  if (isResumed)
    reporter.note(
      `${resource.name}: goes on with a stopped read: ${counted(state.count(everything), "record")} already here`,
    );
  row.since = instantOrNull(ranges.at(-1)?.from ?? floor);
  row.until = instantOrNull(ranges[0]?.to ?? floor);
  mirror.transaction(() => {
    state.setFloor(floor);
    state.setUsed(options);
  });
}

function noteMoved(run: DatedRun): void {
  const days = movedDays(run).length;
  if (days > 0)
    run.shortfalls.push(
      `the API's figures moved on ${counted(days, "day")} not read yet, which the next runs will read`,
    );
}

/** Says which dates stay unread between others that were read. */
function end({ reporter, resource: { name }, row, state }: DatedRun, gaps: readonly Range[]): void {
  row.covered_from = instantOrNull(
    Math.max(state.floor() ?? Number.NEGATIVE_INFINITY, ...gaps.map(({ to }) => to + 1)),
  );
  for (const gap of gaps)
    reporter.warn(
      `${name}: ${describe(gap)} has never been read and is not claimed as covered: run \`brandapi sync ${name}\``,
    );
}

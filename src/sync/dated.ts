import type { DatedStrategy } from "../resources/resource.js";
import { finishedRuns } from "../store/runs.js";
import { allTime, describeRange, mergeRanges, type Range, utcDay } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayRange, formatInstantOrNull } from "../util/times.js";
import { audit } from "./audit.js";
import { describeMarked, readByPage } from "./by-page.js";
import { compareCount, countFilters } from "./counts.js";
import { changedDays, findAmountDrift, ignoreDrift, requestDailyTotals } from "./daily-totals.js";
import { type DatedPlan, planDated } from "./plan.js";
import { readRange } from "./read.js";
import { readChangedDays, reconcile } from "./reconcile.js";
import { removeMissing } from "./removals.js";
import {
  type DatedRun,
  type PlanStep,
  pagesFor,
  resumableMs,
  type SyncStrategy,
  startBudget,
} from "./session.js";

/** Newest first, filtered by a date: orders, content. The loop is described in `../README.md`. */
export const dated: SyncStrategy<DatedStrategy> = {
  async plan(run) {
    const steps: PlanStep[] = [];
    const { marked, ranges } = decide(run);
    for (const range of [...ranges, ...marked]) {
      const { api } = await compareCount(run, range);
      steps.push({ what: `${describeRange(range)}: ${pluralize(api, "record")}`, requests: pagesFor(api) });
    }
    const { dailyTotals } = run.resource.strategy;
    const what = dailyTotals ? "its proof: figures by day, and counts" : "its proof: counts";
    return [...steps, { what, requests: (dailyTotals ? 1 : 0) + countFilters(run).length + 1, open: true }];
  },

  async read(run) {
    const { options, incompleteReasons } = run;
    const { gaps, marked, ranges } = begin(run);
    run.dailyTotals = await requestDailyTotals(run);
    const drift = findAmountDrift(run);
    for (const range of ranges) await readRange(run, range);
    for (const range of marked) await readByPage(run, range);
    await audit(run);
    const left = startBudget(run, options.budget);
    if (drift) await ignoreDrift(run, drift, left);
    await readChangedDays(run, left);
    await reconcile(run, left);
    const moved = changedDays(run).length;
    if (moved > 0)
      incompleteReasons.push(
        `the API's figures moved on ${pluralize(moved, "day")} not read yet, which the next runs will read`,
      );
    if (incompleteReasons.length === 0) removeMissing(run);
    warnOfGaps(run, gaps);
    warnOfMarked(run);
  },
};

function decide({ clock, mirror, now, options, resource, state }: DatedRun) {
  const coverage = state.coverage();
  const { runId: finishedId, until: finishedUntil } = finishedRuns(mirror, resource.name);
  const stopped = [...coverage, ...state.markedSlices()].filter(({ runId }) => runId > finishedId);
  const resumed = stopped.filter(({ readAt }) => readAt >= clock.now() - resumableMs);
  // A record that a marked slice returned is not looked for at its date.
  const markedIds = state.markedIds();
  const missing = state.missing
    .all()
    .flatMap(({ id, dated }) => (dated === null || markedIds.has(id) ? [] : dayRange(utcDay(dated))));
  const before = {
    coverage,
    marked: state.markedSlices(),
    floor: state.floor(),
    finishedUntil,
    resumed,
    missing,
  };
  return { ...planDated(before, options, now), isResumed: stopped.length > 0 };
}

function begin(run: DatedRun): Pick<DatedPlan, "gaps" | "marked" | "ranges"> {
  const { mirror, options, reporter, resource, row, state } = run;
  const { floor, gaps, isResumed, marked, ranges } = decide(run);
  const here = pluralize(state.count(allTime), "record");
  if (isResumed) reporter.note(`${resource.name}: goes on with a stopped read: ${here} already here`);
  const due = mergeRanges([...ranges, ...marked]);
  row.since = formatInstantOrNull(due[0]?.from ?? floor);
  row.until = formatInstantOrNull(due.at(-1)?.to ?? floor);
  mirror.transaction(() => {
    state.setFloor(floor);
    state.setLastOptions(options);
  });
  return { gaps, marked, ranges };
}

/** Warns of the dates that stay unread, and claims only those above them. */
function warnOfGaps({ reporter, resource: { name }, row, state }: DatedRun, gaps: readonly Range[]): void {
  const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
  row.covered_from = formatInstantOrNull(Math.max(floor, ...gaps.map(({ to }) => to + 1)));
  for (const gap of gaps)
    reporter.warn(
      `${name}: ${describeRange(gap)} has never been read and is not claimed as covered: run \`brandapi sync ${name}\``,
    );
}

/** Warns of records whose dates are unreadable or outside the requested ones: a run that has any is not verified. */
function warnOfMarked(run: DatedRun): void {
  const text = describeMarked(run);
  if (text === null) return;
  run.isPartial = true;
  run.reporter.warn(
    `${run.resource.name}: ${text}: all records are kept, but none near these is removed, and nothing is verified`,
  );
}

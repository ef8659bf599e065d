import type { DatedStrategy } from "../resources/resource.js";
import { readFinishedRuns, updateRun } from "../store/state/runs.js";
import { isFirstNotice } from "../store/tables/schema-issues.js";
import { allTime, contains, describeRange, mergeRanges, utcDay } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayRange, formatInstant, formatInstantOrNull } from "../util/times.js";
import { audit } from "./audit.js";
import { pagesFor, startBudget } from "./budget.js";
import { describeMarked, readByPage } from "./by-page.js";
import { compareCount, countFilters } from "./counts.js";
import {
  type AmountDrift,
  changedDays,
  findAmountDrift,
  requestDailyTotals,
  sampleOldest,
  warnOfMissingTotals,
} from "./daily-totals.js";
import { type DatedPlan, planDated, resumableMs } from "./plan.js";
import { readRange } from "./read.js";
import { readChangedDays, reconcile } from "./reconcile.js";
import { removeMissing } from "./removals.js";
import type { DatedRun, DatedSync } from "./session.js";
import type { PlanStep, SyncStrategy } from "./strategy.js";

/** Reads newest first, filtered by a date: orders, content. `README.md` describes the loop. */
export const dated: SyncStrategy<DatedStrategy> = {
  async plan(run) {
    const steps: PlanStep[] = [];
    const { markedSlices, ranges } = planRun(run);
    for (const range of [...ranges, ...markedSlices]) {
      const { apiCount } = await compareCount(run, range);
      steps.push({
        what: `${describeRange(range)}: ${pluralize(apiCount, "record")}`,
        requests: pagesFor(apiCount),
      });
    }
    const { dailyTotals } = run.resource.strategy;
    const what = dailyTotals ? "verification: daily totals, and counts" : "verification: counts";
    return [...steps, { what, requests: (dailyTotals ? 1 : 0) + countFilters(run).length + 1, open: true }];
  },

  async read(datedRun) {
    const { options, reporter, resource, state } = datedRun;
    const { gaps, markedSlices, ranges } = planAndRecord(datedRun);
    // Before anything is read: a change in the middle of this run then shows in the totals of the next one.
    const { dailyTotals, error: totalsError } = await requestDailyTotals(datedRun);
    const run: DatedSync = { ...datedRun, dailyTotals, incompleteReasons: [] };
    const { incompleteReasons } = run;
    // Reading a day replaces its stored totals, which the drift is compared with.
    const drift = findAmountDrift(run, dailyTotals);
    for (const range of ranges) await readRange(run, range);
    for (const range of markedSlices) await readByPage(run, range);
    await audit(run);
    if (totalsError) warnOfMissingTotals(run, totalsError);

    const remaining = startBudget(run, options.budget);
    const ignoresAmounts = drift !== null && (await readDriftSample(run, drift, remaining));
    const compared = { dailyTotals, ignoresAmounts };
    await readChangedDays(run, compared, remaining);
    const { hasUndated, totals } = await reconcile(run, compared, remaining);
    const unreadDays = changedDays(run, compared).length;
    if (unreadDays > 0)
      incompleteReasons.push({
        text: `the API's daily totals changed on ${pluralize(unreadDays, "day")} that the next runs will read`,
      });
    const refusal = incompleteReasons.length === 0 ? removeMissing(run) : null;
    if (refusal) incompleteReasons.push(refusal);

    for (const gap of gaps)
      reporter.warn(
        `${resource.name}: ${describeRange(gap)} has never been read and is not claimed as covered: run \`brandapi sync ${resource.name}\``,
      );
    const markedText = describeMarked(run);
    if (markedText !== null)
      reporter.warn(
        `${resource.name}: ${markedText}: all records are kept, but none near these is removed, and nothing is verified`,
      );
    const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
    return {
      incompleteReasons,
      isPartial: hasUndated || markedText !== null,
      totals,
      coveredFrom: formatInstantOrNull(Math.max(floor, ...gaps.map(({ to }) => to + 1))),
      comparesTotals: !resource.strategy.dailyTotals || (dailyTotals !== null && !ignoresAmounts),
    };
  },
};

/** Decides what a run reads. `isResumed`: an earlier run was interrupted. */
function planRun({ clock, mirror, readUntil, options, resource, state }: DatedRun) {
  const coverage = state.coverage();
  const markedSlices = state.markedSlices();
  const { runId: finishedId, until: finishedUntil } = readFinishedRuns(mirror, resource.name);
  const interrupted = [...coverage, ...markedSlices].filter(({ runId }) => runId > finishedId);
  const readRecently = interrupted.filter(({ readAt }) => readAt >= clock.now() - resumableMs);
  // Records that a marked slice returned are not searched for at their own date. An undated record can be anywhere.
  const markedIds = state.markedIds();
  const missing = state.missing
    .all()
    .filter(({ id }) => !markedIds.has(id))
    .map(({ dated }) => (dated === null ? allTime : dayRange(utcDay(dated))));
  const before = { coverage, markedSlices, floor: state.floor(), finishedUntil, readRecently, missing };
  return { ...planDated(before, options, readUntil), isResumed: interrupted.length > 0 };
}

/** Plans a run, and stores the state that later runs need, even if this one is killed. */
function planAndRecord(run: DatedRun): Pick<DatedPlan, "gaps" | "markedSlices" | "ranges"> {
  const { id, mirror, options, reporter, resource, state } = run;
  const { floor, gaps, isResumed, markedSlices, ranges } = planRun(run);
  const mirrored = pluralize(state.count(allTime), "record");
  if (isResumed) reporter.note(`${resource.name}: resumes an interrupted sync: ${mirrored} already read`);
  const due = mergeRanges([...ranges, ...markedSlices]);
  const since = formatInstantOrNull(due[0]?.from ?? floor);
  const until = formatInstantOrNull(due.at(-1)?.to ?? floor);
  mirror.transaction(() => {
    updateRun(mirror, id, { since, until });
    state.setFloor(floor);
    state.setLastOptions(options);
  });
  return { gaps, markedSlices, ranges };
}

/**
 * Reads the oldest days whose amounts changed. If no record of them changed, the amounts show nothing about records: the
 * run then compares the number of records of each day, and no amounts. The first time, it warns.
 * @param drift what `findAmountDrift` returned before the run read anything
 * @param remaining returns the remaining requests of the run's budget
 * @returns true if the run ignores amounts
 */
async function readDriftSample(
  run: DatedSync,
  drift: AmountDrift,
  remaining: () => number,
): Promise<boolean> {
  const { clock, dailyTotals, mirror, reporter, resource, state } = run;
  const compared = { dailyTotals, ignoresAmounts: false };
  const stillChanged = new Set(changedDays(run, compared));
  const ranges = sampleOldest(
    run,
    drift.days.filter((day) => stillChanged.has(day)),
  );
  if (ranges.length === 0) return false;
  const missingBefore = state.missing.all().length;
  let changed = 0;
  for (const range of ranges) changed += (await readRange(run, range, remaining)).changed;
  const unread = changedDays(run, compared).filter((day) => stillChanged.has(day));
  const isSampleRead = !unread.some((day) => contains(ranges, dayRange(day)));
  const hasChanges = changed > 0 || state.missing.all().length !== missingBefore;
  if (unread.length === 0 || !isSampleRead || hasChanges) return false;
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => isFirstNotice(mirror, `drift:${resource.name}`, at)))
    reporter.warn(
      `${resource.name}: the API's amounts changed on ${drift.days.length} of ${pluralize(drift.compared, "day")} at once, but no record of the oldest of these days did. Amounts that are converted from another currency change like this. Such runs compare counts instead, and find a change of an old amount when they read it again in turn (\`--audit\`)`,
    );
  return true;
}

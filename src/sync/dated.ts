import { pagesFor } from "../api/pagination.js";
import type { DatedStrategy } from "../resources/resource.js";
import { readFinishedRuns, updateRun } from "../store/runs.js";
import { allTime, dayRange, describeRange, mergeRanges, utcDay } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { formatInstantOrNull } from "../util/times.js";
import { audit } from "./audit.js";
import { readByPage } from "./by-page.js";
import { compareCount, listCountFilters } from "./counts.js";
import { findAmountDrift, requestDailyTotals, warnOfMissingTotals } from "./daily-totals.js";
import { type DatedPlan, planDated, resumableMs } from "./plan.js";
import { readRange } from "./read.js";
import { reconcile } from "./reconcile.js";
import { removeMissing } from "./removals.js";
import type { DatedRun, PlanStep, SyncStrategy, UnsettledLists } from "./run.js";
import { describeMarked } from "./slices.js";

/** Reads resources with dates (orders and content). The steps are described in `README.md`. */
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
    const { totalsSource } = run.resource.strategy;
    const what = totalsSource ? "verification: daily totals and counts" : "verification: counts";
    const totalsRequests = totalsSource ? 1 : 0;
    // One request counts the records without a date range (A11).
    const countRequests = listCountFilters(run).length + 1;
    return [...steps, { what, requests: totalsRequests + countRequests, open: true }];
  },

  /**
   * The order of the steps matters:
   * 1. The daily totals are requested before any record is read, so that the next run detects changes that are made
   * during this run.
   * 2. Drift is detected before any record is read, because reading a day replaces its stored totals.
   * 3. The audit runs after the planned ranges have been read, because it skips dates that were just read.
   * 4. The warning about missing daily totals comes after the reads. If the API is down, the reads fail and the run
   * reports that error instead.
   * 5. Missing records are removed last, and only if the run is complete.
   */
  async read(datedRun) {
    const { reporter, resource, state } = datedRun;
    const { gaps, markedSlices, ranges } = planAndRecord(datedRun);
    const { apiTotals, error: totalsError } = await requestDailyTotals(datedRun);
    const run: DatedRun = { ...datedRun, apiTotals };
    const drift = findAmountDrift(run, apiTotals);
    const unsettled: UnsettledLists = [];
    for (const range of ranges) unsettled.push(...(await readRange(run, range)).unsettled);
    for (const range of markedSlices) unsettled.push(...(await readByPage(run, range)).unsettled);
    unsettled.push(...(await audit(run)));
    if (totalsError) warnOfMissingTotals(run, totalsError);
    const { hasUndated, ignoresAmounts, sums, ...reconciled } = await reconcile(run, drift, unsettled);
    const isReconciled = reconciled.incompleteReasons.length === 0;
    const incompleteReasons = isReconciled ? removeMissing(run) : reconciled.incompleteReasons;

    for (const gap of gaps)
      reporter.warn(
        `${resource.name}: ${describeRange(gap)} has never been read and is not covered: run \`brandapi sync ${resource.name}\``,
      );
    const markedText = describeMarked(run);
    if (markedText !== null)
      reporter.warn(
        `${resource.name}: ${markedText}: all records are kept, no records near these dates are removed, and the run is not verified`,
      );
    return {
      incompleteReasons,
      isPartial: hasUndated || markedText !== null,
      sums,
      coveredFrom: formatInstantOrNull(Math.max(state.floor(), ...gaps.map(({ to }) => to + 1))),
      comparesTotals: !resource.strategy.totalsSource || (apiTotals !== null && !ignoresAmounts),
    };
  },
};

function planRun(run: DatedRun): DatedPlan & { isResumed: boolean } {
  const { clock, mirror, readUntil, options, resource, state } = run;
  const coverage = state.coverage();
  const markedSlices = state.markedSlices();
  const finished = readFinishedRuns(mirror, resource.name);
  // Only an unfinished sync can have read dates after the last finished run.
  const interrupted = [...coverage, ...markedSlices].filter(({ runId }) => runId > finished.runId);
  const resumable = interrupted.filter(({ readAt }) => readAt >= clock.now() - resumableMs);
  // Records in marked slices still exist, so their own dates need not be re-read.
  const markedIds = state.markedIds();
  const missing = state.missing.all().filter(({ id }) => !markedIds.has(id));
  const missingDays = missing.map(({ dated }) => (dated === null ? allTime : dayRange(utcDay(dated))));
  const floor = state.storedFloor();
  const before = { coverage, markedSlices, floor, finishedUntil: finished.until, resumable, missingDays };
  return { ...planDated(before, options, readUntil), isResumed: interrupted.length > 0 };
}

/** Plans a run. Stores the floor and the options immediately, so that they survive if the run is killed. */
function planAndRecord(run: DatedRun): Pick<DatedPlan, "gaps" | "markedSlices" | "ranges"> {
  const { runId, mirror, options, reporter, resource, state } = run;
  const { floor, gaps, isResumed, markedSlices, ranges } = planRun(run);
  const mirrored = pluralize(state.count(allTime), "record");
  if (isResumed) reporter.note(`${resource.name}: resuming an interrupted sync: ${mirrored} already read`);
  const due = mergeRanges([...ranges, ...markedSlices]);
  // If there is nothing to read, `until` is the floor, so that the run does not count as having read any newer date.
  const since = formatInstantOrNull(due[0]?.from ?? floor);
  const until = formatInstantOrNull(due.at(-1)?.to ?? floor);
  mirror.transaction(() => {
    updateRun(mirror, runId, { since, until });
    state.setFloor(floor);
    state.setLastOptions(options);
  });
  return { gaps, markedSlices, ranges };
}

import { countPages } from "../api/pagination.js";
import type { DatedStrategy } from "../resources/resource.js";
import { copyCoverageToRun } from "../store/coverage.js";
import { countInterruptedRows, updateRun } from "../store/runs.js";
import { pluralize } from "../util/format-text.js";
import { describeRange } from "../util/time-ranges.js";
import { formatInstant, formatInstantOrNull } from "../util/timestamps.js";
import { findAmountDrift } from "./amount-drift.js";
import { audit } from "./audit.js";
import { compareCount, listCountFilters } from "./counts.js";
import { findCoveredDates } from "./covered-from.js";
import { requestDailyTotals, warnOfMissingTotals } from "./daily-totals.js";
import { loadPlanState, planDated } from "./plan.js";
import { readByPage } from "./read-by-page.js";
import { readRanges } from "./read-range.js";
import { reconcile } from "./reconcile.js";
import { removeMissing } from "./removals.js";
import type { DatedRun, DatedSession, RequestEstimate, SyncResult, SyncRun } from "./session.js";
import { describeFaultySlices } from "./slices.js";
import { UnsettledSlices } from "./unsettled-slices.js";

export async function estimateDated(session: DatedSession): Promise<RequestEstimate[]> {
  const { options, readableUntil, requested, resource } = session;
  const { faultySlices, ranges } = planDated(loadPlanState(session), options, requested, readableUntil);
  const steps: RequestEstimate[] = [];
  for (const range of [...ranges, ...faultySlices]) {
    const { apiCount } = await compareCount(session, range);
    steps.push({
      what: `${describeRange(range)}: ${pluralize(apiCount, "record")}`,
      requests: countPages(apiCount),
    });
  }
  const { totalsSource } = resource.strategy;
  const what = totalsSource ? "verification: daily totals and counts" : "verification: counts";
  const totalsRequests = totalsSource ? 1 : 0;
  // One more request counts all records, with no date range (A11).
  const countRequests = listCountFilters(session).length + 1;
  return [...steps, { what, requests: totalsRequests + countRequests, open: true }];
}

/** Reads a resource with dates (orders and content). The steps are described in `README.md`. */
export async function readDated(syncRun: SyncRun<DatedStrategy>): Promise<SyncResult> {
  const { mirror, options, readableUntil, reporter, requested, resource, runId, state } = syncRun;
  const plan = planDated(loadPlanState(syncRun), options, requested, readableUntil);
  const { faultySlices, floor, gaps, ranges, since } = plan;
  if (plan.isResumed) {
    const alreadyRead = pluralize(countInterruptedRows(mirror, resource.name), "record");
    reporter.note(`${resource.name}: resuming an interrupted sync: ${alreadyRead} already read`);
  } else if (plan.skipped.length > 0) {
    const skipped = plan.skipped.map(describeRange).join(", ");
    reporter.note(`${resource.name}: skipping ${skipped}, which an interrupted sync has just read`);
  }
  // Store the plan before the first request, so that the plan is not lost if the run is killed.
  mirror.transaction(() => {
    updateRun(mirror, runId, { since: formatInstantOrNull(since), until: formatInstant(requested.until) });
    state.saveFloor(floor);
    state.saveLastOptions(options);
    // The sales views and the report need to know which dates each run had covered. Each read updates the run's copy of
    // the coverage, but a run that has nothing to read also needs a copy.
    copyCoverageToRun(mirror, runId, state.loadCoverage());
  });

  // The totals are requested before any record is read, so that the next run detects changes made during this run.
  // Drift is detected now, because reading a day replaces its stored totals.
  const { apiTotals, error: totalsError } = await requestDailyTotals(syncRun);
  const drift = findAmountDrift(state, apiTotals);
  const run: DatedRun = { ...syncRun, apiTotals, unsettledSlices: new UnsettledSlices() };
  await readRanges(run, ranges);
  for (const slice of faultySlices) await readByPage(run, slice);
  await audit(run);
  // Warn only after the reads. If the API is down, the reads fail, and the run reports their error instead.
  if (totalsError) warnOfMissingTotals(run, totalsError);
  const reconciled = await reconcile(run, drift);
  const { hasUnreachable, ignoresAmounts, sums } = reconciled;
  const isComplete = reconciled.incompleteReasons.length === 0;
  // Missing records are removed last, and only if the counts agree without them.
  const removalReasons = isComplete ? removeMissing(run) : [];
  const incompleteReasons = [...reconciled.incompleteReasons, ...removalReasons];

  for (const gap of gaps)
    reporter.warn(
      `${resource.name}: ${describeRange(gap)} has never been read and is not covered; run \`brandapi sync ${resource.name}\``,
    );
  const faultText = describeFaultySlices(run);
  if (faultText !== null)
    reporter.warn(
      `${resource.name}: ${faultText}; the records that the API returned are stored, but no record is removed from the affected dates, and the run is not verified`,
    );
  const { covered_from, hasGaps, isEndCovered } = findCoveredDates(run);
  return {
    incompleteReasons,
    isVerified: !hasUnreachable && faultText === null && isEndCovered,
    columns: { ...sums, covered_from },
    hasGaps,
    isLimitedToCounts: Boolean(resource.strategy.totalsSource) && (apiTotals === null || ignoresAmounts),
  };
}

import { countWrittenRows } from "../store/runs.js";
import { isFirstNotice } from "../store/schema-issues.js";
import { allTime, contains, dayRange, describeRange, mergeRanges } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import {
  allRecords,
  bisect,
  type CountComparison,
  compareCount,
  compareCovered,
  compareUnread,
  describeFuture,
  findDifferingCounts,
  separateFuture,
  sumCounts,
  sumOf,
} from "./counts.js";
import {
  type AmountDrift,
  type ComparedTotals,
  findChangedDays,
  groupDays,
  sampleOldest,
} from "./daily-totals.js";
import { readRange } from "./read.js";
import { Budget, type CountSums, type DatedRun, type IncompleteReason } from "./run.js";

const maxRounds = 4;

interface Reconciliation {
  incompleteReasons: IncompleteReason[];
  sums: CountSums;
  /** True if the API counts records that it does not return for any date range (A11). */
  hasUndated: boolean;
  ignoresAmounts: boolean;
}

/**
 * Compares the mirror with the API's daily totals and counts. Re-reads the dates that differ, within the budget and at
 * most four times. Always ends with a comparison.
 * @param drift the drift found before any record was read, because reading a day replaces its stored totals
 */
export async function reconcile(
  run: DatedRun,
  drift: AmountDrift | null,
  unsettled: readonly IncompleteReason[],
): Promise<Reconciliation> {
  const { apiTotals, options, reporter, resource } = run;
  const budget = new Budget(run.api, options.budget);
  const readReasons = [...unsettled];
  let ignoresAmounts = false;
  if (drift) {
    // Read the sample first, because it decides whether the run compares the amounts of the other days.
    const sample = await rereadSample(run, drift, budget);
    readReasons.push(...sample.unsettled);
    ignoresAmounts = sample.isUnchanged;
    if (ignoresAmounts) warnOfDrift(run, drift);
  }
  const compared = { apiTotals, ignoresAmounts };
  readReasons.push(...(await readChangedDays(run, compared, budget)));

  let { differing, sums } = await compareAllCounts(run);
  for (let round = 1; round <= maxRounds && differing.length > 0 && budget.remaining > 0; round += 1) {
    for (const count of differing) readReasons.push(...(await readDiffering(run, count, budget)));
    // Reading part of a day deletes its stored totals. The rest of the day must then be read to store them again.
    readReasons.push(...(await readChangedDays(run, compared, budget)));
    ({ differing, sums } = await compareAllCounts(run));
  }

  let undatedCount = 0;
  const isComplete = differing.length + readReasons.length === 0;
  if (isComplete && isAllCovered(run)) {
    undatedCount = await requestUndatedCount(run, sums);
    // Records added since the comparison could explain the difference, so the counts are requested again.
    if (undatedCount > 0) ({ differing, sums } = await compareAllCounts(run));
  }
  const hasUndated = undatedCount > 0 && differing.length === 0;
  if (hasUndated)
    reporter.warn(
      `${resource.name}: the API counts ${pluralize(undatedCount, "more record")} without a date range than in all date ranges combined: these records are not read, and the run is not verified`,
    );
  const incompleteReasons = [
    ...readReasons,
    ...differing.map((count) => ({ text: describeCountDifference(resource.name, count) })),
    ...describeUnreadDays(run, compared),
  ];
  return { incompleteReasons, sums, hasUndated, ignoresAmounts };
}

function describeCountDifference(resource: string, count: CountComparison): string {
  const { apiCount, fault, filter, mirrorCount } = count;
  const name = filter === allRecords ? resource : filter.name;
  if (fault !== null)
    return `the API counts ${name} with unexpected dates in ${describeRange(count)}: ${fault}`;
  return `the API counts ${apiCount} ${name}, but the mirror has ${mirrorCount}`;
}

function describeUnreadDays(run: DatedRun, compared: ComparedTotals): IncompleteReason[] {
  const days = findChangedDays(run.state, compared).length;
  if (days === 0) return [];
  const text = `the API's daily totals changed on ${pluralize(days, "day")}, which the next runs will read`;
  return [{ text }];
}

function isAllCovered({ state }: DatedRun): boolean {
  const [first, ...others] = mergeRanges(state.coverage());
  const isContinuous = first?.from === Number.NEGATIVE_INFINITY && others.length === 0;
  return isContinuous && state.markedSlices().length === 0;
}

/** Returns how many more records the API counts without a date range than in all date ranges combined (A11). */
async function requestUndatedCount(run: DatedRun, { api_total }: CountSums): Promise<number> {
  const { apiCount: all } = await compareCount(run, allTime);
  const others = all - (api_total ?? 0);
  if (others <= 0) return 0;
  const unread = await compareUnread(run);
  const { future } = await separateFuture(run, unread);
  if (future) run.reporter.note(`${run.resource.name}: ${describeFuture(future)}`);
  return Math.max(0, others - sumOf(unread, "apiCount"));
}

/**
 * Re-reads a sample from the oldest days with drifting amounts. Days that this run has already read are excluded.
 * @returns `isUnchanged` if no record in the sample has changed, in which case the run ignores the amounts of the other
 * days
 */
async function rereadSample(
  run: DatedRun,
  { days }: AmountDrift,
  budget: Budget,
): Promise<{ isUnchanged: boolean; unsettled: IncompleteReason[] }> {
  const { apiTotals, mirror, runId, state } = run;
  const readChanged = () => new Set(findChangedDays(state, { apiTotals, ignoresAmounts: false }));
  const changedBefore = readChanged();
  const sample = sampleOldest(
    state,
    days.filter((day) => changedBefore.has(day)),
  );
  // An empty sample means that the run has already re-read all days with drifting amounts.
  if (sample.length === 0) return { isUnchanged: false, unsettled: [] };

  const writtenBefore = countWrittenRows(mirror, runId);
  const missingBefore = state.missing.all().length;
  const unsettled: IncompleteReason[] = [];
  for (const range of sample) unsettled.push(...(await readRange(run, range, budget)).unsettled);
  const isChanged =
    countWrittenRows(mirror, runId) > writtenBefore || state.missing.all().length !== missingBefore;

  const unread = [...readChanged()].filter((day) => changedBefore.has(day));
  const isSampleRead = !unread.some((day) => contains(sample, dayRange(day)));
  return { isUnchanged: !isChanged && isSampleRead && unread.length > 0, unsettled };
}

function warnOfDrift({ clock, mirror, reporter, resource }: DatedRun, { compared, days }: AmountDrift): void {
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => isFirstNotice(mirror, `drift:${resource.name}`, at)))
    reporter.warn(
      `${resource.name}: the API's amounts for ${days.length} of ${pluralize(compared, "day")} changed at once, although no ` +
        "record from the oldest of these days did. This happens when the API converts amounts from another currency. " +
        "Runs then compare counts instead, and detect a change to an old amount only when the audit re-reads the record " +
        "(`--audit`)",
    );
}

async function readChangedDays(
  run: DatedRun,
  compared: ComparedTotals,
  budget: Budget,
): Promise<IncompleteReason[]> {
  const unsettled: IncompleteReason[] = [];
  for (const range of groupDays(run.state, findChangedDays(run.state, compared))) {
    if (budget.remaining <= 0) break;
    unsettled.push(...(await readRange(run, range, budget)).unsettled);
  }
  return unsettled;
}

/** Compares the counts for all covered ranges. A distrusted filter is trusted again if its counts agree. */
async function compareAllCounts(run: DatedRun): Promise<{ differing: CountComparison[]; sums: CountSums }> {
  const { mirror, state } = run;
  const counts = await compareCovered(run);
  const wrong = findDifferingCounts(counts).map(({ filter }) => filter.name);
  const distrusted = new Set([...state.distrusted()].filter((name) => wrong.includes(name)));
  if (distrusted.size < state.distrusted().size) mirror.transaction(() => state.setDistrusted(distrusted));
  const differing = findDifferingCounts(counts, distrusted);
  return { differing, sums: sumCounts(counts, differing.length) };
}

/**
 * Re-reads the differing parts of a range, within the budget. If the cause is a wrong status filter (A7), the filter is
 * ignored until its counts agree.
 * @returns the reasons why the run is incomplete: a wrong filter, and each list that never settled (A9)
 */
async function readDiffering(
  run: DatedRun,
  differing: CountComparison,
  budget: Budget,
): Promise<IncompleteReason[]> {
  const { mirror, state } = run;
  const { filter } = differing;
  const reasons: IncompleteReason[] = [];
  for await (const part of bisect(run, differing, budget)) {
    if (budget.remaining <= 0) break;
    const { reached, unsettled } = await readRange(run, part, budget);
    reasons.push(...unsettled);
    if (filter === allRecords || reached > part.from) continue;
    const after = await compareCount(run, part, filter);
    // If the API's count has changed as well, the records have changed, so the filter may be correct.
    if (after.apiCount !== part.apiCount || after.apiCount === after.mirrorCount) continue;
    mirror.transaction(() => state.setDistrusted([...state.distrusted(), filter.name]));
    const text = `the API's filter \`${filter.name}\` does not count the records that have this status, so the filter is ignored until it counts them`;
    return [...reasons, { text }];
  }
  return reasons;
}

import { countPages } from "../api/pagination.js";
import type { SyncState } from "../store/sync-state.js";
import { pluralize } from "../util/format-text.js";
import { allTime, describeRange, mergeRanges } from "../util/time-ranges.js";
import { type AmountDrift, confirmDrift, warnOfDrift } from "./amount-drift.js";
import {
  type CountComparison,
  compareCount,
  compareCovered,
  compareHalves,
  compareUnread,
  countUnreachable,
  describeFuture,
  describeUnreachable,
  findDifferingCounts,
  findFutureRecords,
  noFilter,
  sumCounts,
} from "./counts.js";
import { findChangedDays, groupDays } from "./daily-totals.js";
import { readRange, readRanges } from "./read-range.js";
import { Budget, type CountSums, type DatedRun, type IncompleteReason } from "./session.js";

const maxRounds = 4;

interface Reconciliation {
  incompleteReasons: IncompleteReason[];
  sums: CountSums;
  /** True if the API counts records that it does not return for any date range (A11). */
  hasUnreachable: boolean;
  ignoresAmounts: boolean;
}

/**
 * Compares the mirror with the API's daily totals and counts. Re-reads dates that differ, at most four times and within
 * the request budget, and always ends with a comparison.
 * @param drift the drift found before any record was read, because reading a day replaces its stored totals
 */
export async function reconcile(run: DatedRun, drift: AmountDrift | null): Promise<Reconciliation> {
  const { mirror, resource, state } = run;
  const ignoresAmounts = drift !== null && (await confirmDrift(run, drift));
  if (drift && ignoresAmounts) warnOfDrift(run, drift);
  const ignoredBefore = state.loadIgnoredFilters();
  const compared = await readDifferences(run, ignoresAmounts, ignoredBefore);
  // A filter that turned out to be wrong in this run makes the run incomplete. Later runs ignore the filter (A7).
  const newlyIgnored = [...compared.ignoredFilters].filter((name) => !ignoredBefore.has(name));
  const reasons = [...run.unsettledSlices.describe(), ...newlyIgnored.map(describeIgnoredFilter)];
  const agrees = compared.differing.length === 0 && reasons.length === 0;
  const { counts, unreachable } = agrees
    ? await findUnreachable(run, compared)
    : { counts: compared, unreachable: 0 };
  // The filters are saved last. Otherwise, if the run failed after it had saved a wrong filter, no run would report it.
  mirror.transaction(() => state.saveIgnoredFilters(counts.ignoredFilters));
  const texts = [
    ...reasons,
    ...counts.differing.map((count) => describeCountDifference(resource.name, count)),
    ...describeStillChangedDays(findChangedDays(state, run.apiTotals, { ignoresAmounts })),
  ];
  return {
    incompleteReasons: texts.map((text) => ({ text })),
    sums: counts.sums,
    hasUnreachable: unreachable > 0,
    ignoresAmounts,
  };
}

/** Re-reads days whose totals have changed, and then date ranges whose counts differ. */
async function readDifferences(
  run: DatedRun,
  ignoresAmounts: boolean,
  ignoredFilters: ReadonlySet<string>,
): Promise<ComparedCounts> {
  const { api, apiTotals, options, state } = run;
  const budget = new Budget(api, options.rereadRequests);
  const readChangedDays = async () => {
    const days = findChangedDays(state, apiTotals, { ignoresAmounts });
    await readRanges(run, groupDays(state, days), budget);
  };
  await readChangedDays();
  let counts = await compareAllCounts(run, ignoredFilters);
  for (let round = 1; round <= maxRounds && counts.differing.length > 0 && budget.remaining > 0; round += 1) {
    const wrongFilters = await readDifferingCounts(run, counts.differing, budget);
    // If only part of a day was read, its stored totals are invalid until the whole day has been read.
    await readChangedDays();
    counts = await compareAllCounts(run, new Set([...counts.ignoredFilters, ...wrongFilters]));
  }
  return counts;
}

function describeCountDifference(resource: string, count: CountComparison): string {
  const { apiCount, fault, filter, mirrorCount } = count;
  const name = filter === noFilter ? resource : filter.name;
  if (fault !== null)
    return `the API counts ${name} with unexpected dates in ${describeRange(count)}: ${fault}`;
  return `the API counts ${apiCount} ${name}, but the mirror has ${mirrorCount}`;
}

function describeStillChangedDays({ length }: readonly string[]): string[] {
  if (length === 0) return [];
  return [
    `the API's daily totals changed on ${pluralize(length, "day")}; the next runs will re-read these days`,
  ];
}

function describeIgnoredFilter(filter: string): string {
  return `the API's status filter \`${filter}\` does not match the records that have this status, so it is ignored until its count is correct`;
}

function isAllCovered(state: SyncState): boolean {
  const [first, ...others] = mergeRanges(state.loadCoverage());
  const isContinuous = first?.from === Number.NEGATIVE_INFINITY && others.length === 0;
  return isContinuous && state.loadFaultySlices().length === 0;
}

/**
 * Counts the records that the API counts but does not return for any date range (A11), and warns about them. They can
 * be counted only if all dates are covered.
 * @param counts the counts for all covered ranges, which must agree
 * @returns the number of these records, and the newest counts
 */
async function findUnreachable(
  run: DatedRun,
  counts: ComparedCounts,
): Promise<{ counts: ComparedCounts; unreachable: number }> {
  const none = { counts, unreachable: 0 };
  if (!isAllCovered(run.state)) return none;
  const allDates = await compareCount(run, allTime);
  if (allDates.apiCount <= (counts.sums.api_total ?? 0)) return none;
  const unread = await compareUnread(run);
  const future = await findFutureRecords(run, unread);
  if (future?.datedRecords) run.reporter.note(`${run.resource.name}: ${describeFuture(future.datedRecords)}`);
  const unreachable = countUnreachable(allDates, counts.sums, unread);
  if (unreachable === 0) return none;
  // Records that were added since the last comparison look unreachable as well, so compare the counts again to detect
  // them.
  const newCounts = await compareAllCounts(run, counts.ignoredFilters);
  if (newCounts.differing.length > 0) return { counts: newCounts, unreachable: 0 };
  run.reporter.warn(
    `${run.resource.name}: ${describeUnreachable(unreachable)}; a sync cannot read ${unreachable === 1 ? "this record" : "these records"}, so the run is not verified`,
  );
  return { counts: newCounts, unreachable };
}

interface ComparedCounts {
  differing: CountComparison[];
  sums: CountSums;
  /** The names of the status filters whose counts are wrong (A7). */
  ignoredFilters: ReadonlySet<string>;
}

/** Compares the counts for all covered ranges. Ignores the given status filters unless their counts now agree. */
async function compareAllCounts(run: DatedRun, ignoredFilters: ReadonlySet<string>): Promise<ComparedCounts> {
  const counts = await compareCovered(run);
  const differing = findDifferingCounts(counts, ignoredFilters);
  const differingFilters = findDifferingCounts(counts).map(({ filter }) => filter.name);
  return {
    differing,
    sums: sumCounts(counts, differing.length),
    ignoredFilters: new Set(differingFilters.filter((name) => ignoredFilters.has(name))),
  };
}

/**
 * Re-reads the parts of the ranges whose counts differ, newest first, within the budget.
 * @returns the names of the status filters that turned out to be wrong (A7)
 */
async function readDifferingCounts(
  run: DatedRun,
  counts: readonly CountComparison[],
  budget: Budget,
): Promise<Set<string>> {
  const wrongFilters = new Set<string>();
  for (const count of counts) {
    const { name } = count.filter;
    // If one part has shown that a filter is wrong, the other parts need not be read.
    if (budget.remaining <= 0 || wrongFilters.has(name)) continue;
    const parts = isCheapToRead(run.state, count) ? null : await compareHalves(run, count);
    const isWrong = parts
      ? (await readDifferingCounts(run, parts, budget)).has(name)
      : await readDifferingRange(run, count, budget);
    if (isWrong) wrongFilters.add(name);
  }
  return wrongFilters;
}

/** Re-reads a range whose count differs. Returns true if this shows that the API's status filter is wrong. */
async function readDifferingRange(
  run: DatedRun,
  comparison: CountComparison,
  budget: Budget,
): Promise<boolean> {
  const { apiCount, filter, from } = comparison;
  const oldestRead = await readRange(run, comparison, budget);
  const isReadCompletely = oldestRead <= from;
  if (filter === noFilter || !isReadCompletely) return false;
  const after = await compareCount(run, comparison, filter);
  // If the API's count has changed as well, records have changed in the meantime, and the filter may be correct.
  return after.apiCount === apiCount && after.apiCount !== after.mirrorCount;
}

/** True if the range can be read with at most two requests, so splitting it would save nothing. */
function isCheapToRead(state: SyncState, comparison: CountComparison): boolean {
  const mirrored = state.count(comparison);
  // A read returns all records in the range, whatever their status, so it may take more pages than the API's count for
  // one status suggests.
  const records = comparison.filter === noFilter ? Math.max(mirrored, comparison.apiCount) : mirrored;
  return countPages(records) <= 2;
}

import {
  countCurrent,
  countUndated,
  findNthDate,
  openRecordComparison,
} from "../store/records/current-records.js";
import { recordKey } from "../store/records/record-key.js";
import { startBudget } from "../sync/budget.js";
import { describeMarked } from "../sync/by-page.js";
import {
  allRecords,
  bisect,
  type CountComparison,
  compareCount,
  compareCovered,
  compareUnread,
  countFilters,
  differingCounts,
  type FutureRecords,
  separateFuture,
  sumOf,
  sumTotals,
} from "../sync/counts.js";
import {
  type AmountDrift,
  changedDays,
  driftText,
  findAmountDrift,
  requestDailyTotals,
  sampleOldest,
  warnOfMissingTotals,
} from "../sync/daily-totals.js";
import { rangeQuery } from "../sync/dates.js";
import { readList } from "../sync/read-list.js";
import type { DatedRun } from "../sync/session.js";
import type { CountTotals } from "../sync/strategy.js";
import {
  allTime,
  contains,
  describeRange,
  mergeRanges,
  monthsIn,
  overlaps,
  type Range,
  utcDay,
} from "../util/ranges.js";
import { dayRange, formatInstantOrNull } from "../util/times.js";
import { datedEvidence } from "./evidence.js";
import { type MonthResult, type RecordsResult, stateOf, unexpectedDates, unprovenMonth } from "./result.js";

/** Request budget for finding the days that differ. */
const mostRequests = 100;

/** The API's daily totals, and the days on which they differ from those stored when the day was read. */
interface ComparedDays {
  requestedAt: number;
  totals: ReadonlyMap<string, string>;
  changed: string[];
  /** The drift, if the amounts were not compared because of it. */
  drift: AmountDrift | null;
}

/** A difference between the mirror and the API, and its dates. */
export interface Difference extends Range {
  text: string;
  /** The count, if the difference is one of counts. */
  count?: CountComparison;
}

/** The comparison with the API. It requests only counts and daily totals. */
export interface DatedComparison {
  /** The counts of everything that is covered. */
  counts: CountComparison[];
  /** The filters that are compared, `all` first. */
  filters: string[];
  /** The days whose totals differ from those stored when the day was read; null if the API returned no totals. */
  dailyTotals: ComparedDays | null;
  differences: Difference[];
  /** The ranges with records that were never read, oldest first. */
  unread: CountComparison[];
  /** Null if no record is dated in the future. */
  future: FutureRecords | null;
  /** The count without a date range. */
  allDates: CountComparison;
  /** The number of records outside all ranges (A11); 0 if marked slices make it unknown. */
  undatedCount: number;
  /** As in `sync_runs`. */
  totals: CountTotals;
}

/** Compares daily totals and counts, and counts the ranges that were never read. */
async function compareWithApi(run: DatedRun): Promise<DatedComparison> {
  const { clock, state } = run;
  const remaining = startBudget(run, mostRequests);
  const requestedAt = clock.now();
  const { dailyTotals, error: totalsError } = await requestDailyTotals(run);
  const largeDrift = findAmountDrift(run, dailyTotals);
  const drift = largeDrift && (await isSampleUnchanged(run, largeDrift.days)) ? largeDrift : null;
  const changed = changedDays(run, { dailyTotals, ignoresAmounts: drift !== null });
  const counts = await compareCovered(run);
  if (totalsError) warnOfMissingTotals(run, totalsError);
  const distrusted = state.distrusted();
  const differing = differingCounts(counts, distrusted);
  const differences: Difference[] = changed.map((day) =>
    dayDifference(day, "its totals changed since it was read"),
  );
  for (const one of differing)
    for await (const part of bisect(run, one, remaining, isOneDay)) differences.push(countDifference(part));
  const marked = state.markedIds();
  for (const { id, dated } of state.missing.all())
    if (dated !== null && !marked.has(id))
      differences.push(dayDifference(utcDay(dated), "a record is no longer there"));
  const totals = sumTotals(counts, differing.length);
  const allUnread = await compareUnread(run);
  const { future, unread } = await separateFuture(run, allUnread);
  const allDates = await compareCount(run, allTime);
  const datedCounts = [...counts.filter(({ filter }) => filter === allRecords), ...allUnread];
  const hasMarked = state.markedSlices().length > 0;
  return {
    unread: differingCounts(unread),
    future,
    allDates,
    undatedCount: hasMarked ? 0 : Math.max(0, allDates.apiCount - sumOf(datedCounts, "apiCount")),
    counts,
    filters: countFilters(run).flatMap(({ name }) => (distrusted.has(name) ? [] : name)),
    dailyTotals: dailyTotals && { requestedAt, totals: dailyTotals, changed, drift },
    differences,
    // Counts of covered ranges exclude marked slices.
    totals: hasMarked
      ? { ...totals, api_total: allDates.apiCount, mirror_total: countCurrent(run.mirror, run.resource.name) }
      : totals,
  };
}

/** Reads the oldest of these days without writing. Returns true if their records equal the mirror's. */
async function isSampleUnchanged(run: DatedRun, days: readonly string[]): Promise<boolean> {
  const { mirror, resource, state } = run;
  const compare = openRecordComparison(mirror, resource);
  for (const range of sampleOldest(run, days)) {
    const list = await readList(run, { query: rangeQuery(resource.strategy, range) });
    const records = [...list.records.values()].map(({ record }) => record);
    const isSame = records.every(
      (record, nth) => compare(record, recordKey(resource, record, nth)) === "same",
    );
    if (!list.isComplete || !isSame || records.length !== state.count(range)) return false;
  }
  return true;
}

function isOneDay({ from, to }: Range): boolean {
  return Number.isFinite(from) && utcDay(from) === utcDay(to);
}

function dayDifference(day: string, what: string): Difference {
  return { ...dayRange(day), text: `${day}: ${what}` };
}

function countDifference(count: CountComparison): Difference {
  const { apiCount, filter, from, mirrorCount, to } = count;
  const text = `${describeRange(count)}: ${filter.name}: ${apiCount} in the API, ${mirrorCount} here`;
  return { from, to, count, text };
}

/** Verifies a resource that the API can filter by date, with the same counts as a sync. Reports by month. */
export async function verifyDated(run: DatedRun): Promise<RecordsResult> {
  const { resource, state } = run;
  const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
  const evidence = await compareWithApi(run);
  const { undatedCount, future, unread } = evidence;
  const months = [
    ...createMonthResults(run, evidence),
    ...unread.map((one) => unreadMonth(resource.name, one, floor)),
  ];
  const why = `the API counts ${undatedCount} more without a range of dates than in all dates`;
  if (undatedCount > 0) months.push(unprovenMonth("undated", why));
  const undated = countUndated(run.mirror, resource.name);
  const marked = describeMarked(run);
  if (marked !== null) months.push(unprovenMonth(unexpectedDates, marked));
  const wanted = unread.filter(({ to }) => to >= floor);
  const comparesTotals = evidence.dailyTotals !== null && evidence.dailyTotals.drift === null;
  const what = comparesTotals ? "no count and no daily total" : "no count";
  return {
    resource: resource.name,
    ...evidence.totals,
    state: stateOf(months),
    months,
    blind_spot: `a change to an old record that moves ${what}: only reading shows it, which every sync does in turn (\`--audit\`)`,
    future: future && { records: future.records, until: future.until },
    unread: wanted.reduce((sum, { apiCount, mirrorCount }) => sum + Math.max(0, apiCount - mirrorCount), 0),
    undated,
    unsettled: undatedCount > 0 || marked !== null,
    readEvidence: () => datedEvidence(run, evidence),
  };
}

/** @param floor the oldest date that any run was asked to read: a plain sync reads nothing below it */
function unreadMonth(
  name: string,
  { apiCount, mirrorCount, ...range }: CountComparison,
  floor: number,
): MonthResult {
  const command = `brandapi sync ${name}${range.to < floor ? " --full" : ""}`;
  return unprovenMonth(
    describeRange(range),
    `${apiCount - mirrorCount} ${name} were never read: \`${command}\` reads them`,
  );
}

/** Returns the result for each month that was read. */
function createMonthResults(
  { mirror, resource, state }: DatedRun,
  { differences, filters, dailyTotals, unread }: DatedComparison,
): MonthResult[] {
  const coverage = state.coverage();
  const covered = mergeRanges(coverage);
  const [first, last] = [covered[0], covered.at(-1)];
  if (!first || !last) return [];
  const oldestRecord = findNthDate(mirror, resource.name, { from: first.from, to: last.to }, 0) ?? last.to;
  const oldest = Math.min(oldestRecord, ...differences.map(({ to }) => to));
  const hasNewer = unread.some(({ to }) => to > last.to);
  const drift = dailyTotals?.drift;
  const compared = dailyTotals && !drift ? "daily totals and counts agree" : "counts agree";
  const agreed = `${compared} (${filters.join(", ")})${drift ? `; ${driftText(drift)}` : ""}`;

  function judgeMonth({ month, ...range }: ReturnType<typeof monthsIn>[number]): MonthResult {
    const ages = coverage.filter((one) => overlaps(one, range)).map(({ readAt }) => readAt);
    const known = { month, read_at: formatInstantOrNull(Math.min(...ages)) };
    const texts = differences.filter((one) => overlaps(one, range)).map(({ text }) => text);
    if (texts.length > 0) return { ...known, state: "different", why: texts.join("; ") };
    if (state.markedSlices().some((slice) => overlaps(slice, range)))
      return { ...known, state: "unproven", why: "read by page number: it has records with other dates" };
    const claimed = hasNewer ? range : { from: range.from, to: Math.min(range.to, last?.to ?? range.to) };
    if (!contains(covered, claimed)) return { ...known, state: "unproven", why: "not read completely" };
    return { ...known, state: "proven", why: agreed };
  }

  const from = Number.isFinite(first.from) ? first.from : oldest;
  return monthsIn({ from, to: last.to }).map(judgeMonth);
}

import type { DatedStrategy } from "../resources/resource.js";
import { countCurrent, countUndated, findNthDate } from "../store/records.js";
import type { TotalsByDay } from "../store/sync-state.js";
import {
  type AmountDrift,
  confirmSampleUnchanged,
  describeDrift,
  findAmountDrift,
  selectSample,
} from "../sync/amount-drift.js";
import {
  type CountComparison,
  compareCount,
  compareCovered,
  compareHalves,
  compareUnread,
  countUnreachable,
  describeUnreachable,
  type FutureRecords,
  findDifferingCounts,
  findFutureRecords,
  listCountFilters,
  subtractFuture,
  sumCounts,
} from "../sync/counts.js";
import { findChangedDays, requestDailyTotals, warnOfMissingTotals } from "../sync/daily-totals.js";
import { Budget, type CountSums, type DatedSession, type ResourceRun } from "../sync/session.js";
import { describeFaultySlices } from "../sync/slices.js";
import { pluralize } from "../util/format-text.js";
import {
  allTime,
  dayRange,
  describeRange,
  isWithinOneOf,
  listMonths,
  mergeRanges,
  overlaps,
  type TimeRange,
  utcDay,
} from "../util/time-ranges.js";
import { formatInstantOrNull } from "../util/timestamps.js";
import { datedEvidence } from "./evidence.js";
import {
  combineParts,
  createUnprovenPart,
  type PartResult,
  type RecordsResult,
} from "./verification-result.js";

const maxRequests = 100;

/** The result of comparing the API's current daily totals with the totals stored when each day was last read. */
interface TotalsComparison {
  requestedAt: number;
  totals: TotalsByDay;
  changed: string[];
  /** The days without stored totals, which an interrupted run has only partially read. */
  unknown: string[];
  /** The drift that prevented a comparison of amounts, or null if amounts were compared. */
  drift: AmountDrift | null;
}

/** A day with changed totals, or with a record that the API no longer returns. */
interface DayDifference extends TimeRange {
  day: string;
  text: string;
}

export interface DatedComparison {
  counts: CountComparison[];
  filters: string[];
  dailyTotals: TotalsComparison | null;
  dayDifferences: DayDifference[];
  /** The smallest ranges whose counts differ. A range within a single day is not split. */
  differingParts: CountComparison[];
  unread: CountComparison[];
  future: (FutureRecords & { count: CountComparison }) | null;
  allDates: CountComparison;
  /**
   * The number of records that the API does not return for any date range (A11 in `sync/README.md`), or 0 if there are
   * faulty slices.
   */
  unreachable: number;
  sums: CountSums;
}

async function compareWithApi(run: ResourceRun<DatedStrategy>): Promise<DatedComparison> {
  const { clock, state } = run;
  const budget = new Budget(run.api, maxRequests);
  const requestedAt = clock.now();
  const { apiTotals, error: totalsError } = await requestDailyTotals(run);
  const dailyTotals = apiTotals && (await compareDailyTotals(run, apiTotals, requestedAt));
  const counts = await compareCovered(run);
  // Warn only after the counts have been requested. If the API is down, these requests fail as well, and the run
  // reports their error instead.
  if (totalsError) warnOfMissingTotals(run, totalsError);
  const ignoredFilters = state.loadIgnoredFilters();
  const differing = findDifferingCounts(counts, ignoredFilters);
  const differingParts: CountComparison[] = [];
  for (const count of differing) differingParts.push(...(await findDifferingParts(run, count, budget)));
  // The total is requested before the counts of unread ranges, because records that arrive in between would otherwise
  // appear to belong to no date range.
  const allDates = await compareCount(run, allTime);
  const allUnread = await compareUnread(run);
  const future = await findFutureRecords(run, allUnread);
  const sums = sumCounts(counts, differing.length);
  // Faulty slices are not covered, so the sums of the compared counts exclude the records in these slices. If nothing
  // has been read, there are no compared counts.
  const hasFaulty = state.loadFaultySlices().length > 0;
  const usesAllTotals = hasFaulty || counts.length === 0;
  const allTotals = {
    api_total: allDates.apiCount,
    mirror_total: countCurrent(run.mirror, run.resource.name),
  };
  return {
    counts,
    filters: listCountFilters(run).flatMap(({ name }) => (ignoredFilters.has(name) ? [] : name)),
    dailyTotals,
    dayDifferences: [...findChangedTotals(dailyTotals), ...findMissingRecords(run)],
    differingParts,
    unread: findDifferingCounts(subtractFuture(allUnread, future)),
    future: future?.datedRecords ? { ...future.datedRecords, count: future.count } : null,
    allDates,
    unreachable: hasFaulty ? 0 : countUnreachable(allDates, sums, allUnread),
    sums: usesAllTotals ? { ...sums, ...allTotals } : sums,
  };
}

async function compareDailyTotals(
  run: ResourceRun<DatedStrategy>,
  totals: TotalsByDay,
  requestedAt: number,
): Promise<TotalsComparison> {
  const largeDrift = findAmountDrift(run.state, totals);
  const isUnchanged =
    largeDrift && (await confirmSampleUnchanged(run, selectSample(run.state, largeDrift.days)));
  const drift = isUnchanged ? largeDrift : null;
  const differing = findChangedDays(run.state, totals, { ignoresAmounts: drift !== null });
  const stored = run.state.storedTotals.load();
  const changed = differing.filter((day) => stored.has(day));
  const unknown = differing.filter((day) => !stored.has(day));
  return { requestedAt, totals, changed, unknown, drift };
}

function findChangedTotals(dailyTotals: TotalsComparison | null): DayDifference[] {
  const changed = dailyTotals?.changed ?? [];
  return changed.map((day) => createDayDifference(day, "totals have changed since the last read"));
}

function findMissingRecords({ state }: DatedSession): DayDifference[] {
  const dates = state.loadRemovableRecords().flatMap(({ date }) => date ?? []);
  return dates.map((date) =>
    createDayDifference(utcDay(date), "the API no longer returns one of the records"),
  );
}

/**
 * Splits a range whose counts differ. Stops at parts that are one day long or whose counts agree, or when the budget is
 * used up.
 */
async function findDifferingParts(
  session: DatedSession,
  count: CountComparison,
  budget: Budget,
): Promise<CountComparison[]> {
  if (isOneDay(count) || budget.remaining <= 0) return [count];
  const parts = await compareHalves(session, count);
  if (!parts) return [count];
  const smallest: CountComparison[] = [];
  for (const part of parts) smallest.push(...(await findDifferingParts(session, part, budget)));
  return smallest;
}

function isOneDay({ from, to }: TimeRange): boolean {
  return Number.isFinite(from) && utcDay(from) === utcDay(to);
}

function createDayDifference(day: string, text: string): DayDifference {
  return { ...dayRange(day), day, text };
}

const maxListedCounts = 3;

function summarizeDifferences(days: readonly DayDifference[], countTexts: readonly string[]): string {
  const daysByText = new Map<string, Set<string>>();
  for (const { day, text } of days) daysByText.set(text, (daysByText.get(text) ?? new Set()).add(day));
  const dayTexts = [...daysByText].map(([text, dates]) => {
    const [first = "", ...others] = [...dates].sort();
    return `${others.length === 0 ? first : `${dates.size} days, ${first} to ${others.at(-1)}`}: ${text}`;
  });
  const listed = countTexts.slice(0, maxListedCounts);
  const unlisted = countTexts.length - listed.length;
  const more = `${pluralize(unlisted, "more count")} ${unlisted === 1 ? "differs" : "differ"}`;
  return [...dayTexts, ...listed, ...(unlisted > 0 ? [more] : [])].join("; ");
}

function describeCount(count: CountComparison): string {
  const { apiCount, fault, filter, mirrorCount } = count;
  const text = fault ?? `${apiCount} in the API, ${mirrorCount} in the mirror`;
  return `${describeRange(count)}: ${filter.name}: ${text}`;
}

/** Compares counts and daily totals with the API. Records are requested only if the amounts have drifted. */
export async function verifyDated(run: ResourceRun<DatedStrategy>): Promise<RecordsResult> {
  const { mirror, resource, state } = run;
  const floor = state.loadFloor() ?? Number.NEGATIVE_INFINITY;
  const comparison = await compareWithApi(run);
  const { dailyTotals, future, unreachable, unread } = comparison;
  const faultText = describeFaultySlices(run);
  const parts = [
    ...verifyMonths(run, comparison),
    ...unread.map((range) => createUnreadPart(resource.name, range, floor)),
  ];
  if (unreachable > 0)
    parts.push(createUnprovenPart("unreachable", "undated", describeUnreachable(unreachable)));
  if (faultText !== null) parts.push(createUnprovenPart("unexpected-dates", "dates", faultText));
  const wanted = unread.filter(({ to }) => to >= floor);
  const comparesTotals = dailyTotals !== null && dailyTotals.drift === null;
  return {
    resource: resource.name,
    ...comparison.sums,
    state: combineParts(parts),
    parts,
    blind_spot: `changes to old records that affect ${comparesTotals ? "neither a count nor a daily total" : "no count"}`,
    future: future && { records: future.records, until: future.until },
    unread: wanted.reduce((sum, { apiCount, mirrorCount }) => sum + Math.max(0, apiCount - mirrorCount), 0),
    undated: countUndated(mirror, resource.name),
    unsettled: unreachable > 0 || faultText !== null,
    collectEvidence: () => datedEvidence(run, comparison),
  };
}

function createUnreadPart(
  name: string,
  { apiCount, mirrorCount, ...range }: CountComparison,
  floor: number,
): PartResult {
  const isOlder = range.to < floor;
  const command = `brandapi sync ${name}${isOlder ? " --full" : ""}`;
  const reason = isOlder ? `, because the mirror starts on ${utcDay(floor)}` : "";
  const records = apiCount - mirrorCount;
  const why = `${pluralize(records, "record")} ${records === 1 ? "has" : "have"} never been read${reason}; run \`${command}\``;
  return createUnprovenPart("unread", describeRange(range), why);
}

function verifyMonths(
  { mirror, resource, state }: DatedSession,
  { dayDifferences, differingParts, filters, dailyTotals, unread }: DatedComparison,
): PartResult[] {
  const { coverage, faultySlices } = state.loadDates();
  const covered = mergeRanges(coverage);
  const [first, last] = [covered[0], covered.at(-1)];
  if (!first || !last) return [];
  const newestRead = last.to;
  const oldestRecord =
    findNthDate(mirror, resource.name, { from: first.from, to: newestRead }, 0) ?? newestRead;
  const oldest = Math.min(oldestRecord, ...[...dayDifferences, ...differingParts].map(({ to }) => to));
  const hasNewer = unread.some(({ to }) => to > newestRead);
  const drift = dailyTotals?.drift;
  const compared = dailyTotals && !drift ? "daily totals and counts agree" : "counts agree";
  const agreement = `${compared} (${filters.join(", ")})${drift ? `; ${describeDrift(drift)}` : ""}`;

  const from = Number.isFinite(first.from) ? first.from : oldest;
  const months = listMonths({ from, to: newestRead });

  /** If a count spans several months, describes it in the first month. The later months refer to that description. */
  function describeCountIn(month: TimeRange, count: CountComparison): string {
    const firstMonth = months.find((other) => overlaps(other, count));
    const isFirst = firstMonth === undefined || firstMonth.from === month.from;
    return isFirst ? describeCount(count) : `${count.filter.name}: see ${firstMonth.month}`;
  }

  function verifyMonth(month: TimeRange): Pick<PartResult, "state" | "why"> {
    const days = dayDifferences.filter((day) => overlaps(day, month));
    const counts = differingParts.filter((count) => overlaps(count, month));
    if (days.length + counts.length > 0) {
      const countTexts = counts.map((count) => describeCountIn(month, count));
      return { state: "different", why: summarizeDifferences(days, countTexts) };
    }
    if (dailyTotals?.unknown.some((day) => overlaps(dayRange(day), month)))
      return { state: "unproven", why: "not fully read" };
    if (faultySlices.some((slice) => overlaps(slice, month)))
      return { state: "unproven", why: "contains records with unexpected dates or IDs" };
    // If there are no newer records, the last month counts as read even though it is covered only up to the newest date
    // read.
    const toCover = hasNewer ? month : { from: month.from, to: Math.min(month.to, newestRead) };
    if (!isWithinOneOf(toCover, covered)) return { state: "unproven", why: "not fully read" };
    return { state: "proven", why: agreement };
  }

  return months.map(({ month: part, ...range }) => {
    const readTimes = coverage.filter((part) => overlaps(part, range)).map(({ requestedAt }) => requestedAt);
    const read_at = formatInstantOrNull(Math.min(...readTimes));
    return { kind: "month", part, read_at, ...verifyMonth(range) };
  });
}

import { firstPage } from "../api/pagination.js";
import { listStatusFilters, type StatusFilter } from "../resources/resource.js";
import { countCurrent, findNthDate, recordDate } from "../store/records.js";
import { pluralize } from "../util/format-text.js";
import { type Json, valueAt } from "../util/json-value.js";
import { allTime, mergeRanges, startOfSecond, subtractRanges, type TimeRange } from "../util/time-ranges.js";
import { formatMinute } from "../util/timestamps.js";
import type { QueryParameters } from "../util/urls.js";
import { findDateFault, rangeQuery } from "./dates.js";
import type { CountSums, DatedSession, ResourceSession } from "./session.js";

/** Selects the records to count: all of them, or those with one status. */
interface CountFilter extends Pick<StatusFilter, "name" | "query"> {
  /** The status's bit in the `records.status_bits` column, or 0 for all records. */
  statusBit: number;
}

/** The number of records in a date range, both in the API and in the mirror. Missing records are not counted. */
export interface CountComparison extends TimeRange {
  filter: CountFilter;
  apiCount: number;
  mirrorCount: number;
  requestedAt: number;
  newestRecord: Json;
  /** Describes the newest record's date if it violates A2 or A3, in which case the count is meaningless. */
  fault: string | null;
}

export const noFilter: CountFilter = { name: "all", query: {}, statusBit: 0 };

/** Requests a list's first record and its `total_items` (A5). See "Pagination object" in the API documentation. */
export async function requestCount(
  { api, resource }: ResourceSession,
  query: QueryParameters,
): Promise<{ total: number; newestRecord: Json; requestedAt: number }> {
  const parameters = { ...resource.query, ...query, page: 1, per_page: 1 };
  const response = await api.get(resource.path, parameters, resource.scope);
  const { items, pagination } = firstPage(resource.path, response);
  return { total: pagination.total_items, newestRecord: items[0] ?? null, requestedAt: response.requestedAt };
}

export async function compareCount(
  session: DatedSession,
  { from, to }: TimeRange,
  filter = noFilter,
): Promise<CountComparison> {
  const query = { ...rangeQuery(session.resource.strategy, { from, to }), ...filter.query };
  const { total: apiCount, newestRecord, requestedAt } = await requestCount(session, query);
  const mirrorCount = session.state.count({ from, to }, filter.statusBit);
  return {
    from,
    to,
    filter,
    apiCount,
    mirrorCount,
    requestedAt,
    newestRecord,
    fault: newestRecord === null ? null : findDateFault(session.resource, newestRecord, { from, to }),
  };
}

export function sumCounts(counts: readonly CountComparison[], differing: number): CountSums {
  const all = counts.filter(({ filter }) => filter === noFilter);
  return { api_total: sumOf(all, "apiCount"), mirror_total: sumOf(all, "mirrorCount"), differing };
}

function sumOf(counts: readonly CountComparison[], side: "apiCount" | "mirrorCount"): number {
  return counts.reduce((sum, count) => sum + count[side], 0);
}

export function sumListCounts({ mirror, resource }: ResourceSession, listed: number): CountSums {
  const mirrored = countCurrent(mirror, resource.name);
  return { api_total: listed, mirror_total: mirrored, differing: listed === mirrored ? 0 : 1 };
}

export function findDifferingCounts(
  counts: readonly CountComparison[],
  ignoredFilters: ReadonlySet<string> = new Set(),
): CountComparison[] {
  return counts.filter(
    (count) =>
      (count.apiCount !== count.mirrorCount || count.fault !== null) &&
      !ignoredFilters.has(count.filter.name),
  );
}

export async function compareCovered(session: DatedSession): Promise<CountComparison[]> {
  const counts: CountComparison[] = [];
  for (const range of mergeRanges(session.state.loadCoverage()))
    for (const filter of listCountFilters(session)) counts.push(await compareCount(session, range, filter));
  return counts;
}

export function listCountFilters({ resource }: DatedSession): CountFilter[] {
  return [noFilter, ...listStatusFilters(resource)];
}

/**
 * Returns the start of the second that contains the median date of the mirrored records in a range. Returns null if
 * splitting the range at that second would leave one part empty.
 */
function findMedianSecond({ mirror, resource, state }: DatedSession, { from, to }: TimeRange): number | null {
  const median = Math.floor(state.count({ from, to }) / 2);
  const date = findNthDate(mirror, resource.name, { from, to }, median);
  const middle = date === null ? from : startOfSecond(date);
  return middle > from && middle <= to ? middle : null;
}

/**
 * Splits a range whose counts differ, and returns the parts whose counts differ, newest first. Returns null if the
 * range cannot be split, or if its count is meaningless because the newest record's date is faulty.
 */
export async function compareHalves(
  session: DatedSession,
  comparison: CountComparison,
): Promise<CountComparison[] | null> {
  const { fault, filter, from, to } = comparison;
  const middle = findMedianSecond(session, comparison);
  if (middle === null || fault !== null) return null;
  const newer = await compareCount(session, { from: middle, to }, filter);
  if (newer.fault !== null) return null;
  const older = subtractCount(comparison, newer, { from, to: middle - 1 });
  return [newer, older].filter(({ apiCount, mirrorCount }) => apiCount !== mirrorCount);
}

function subtractCount(total: CountComparison, part: CountComparison, rest: TimeRange): CountComparison {
  const apiCount = total.apiCount - part.apiCount;
  const mirrorCount = total.mirrorCount - part.mirrorCount;
  return { ...part, ...rest, apiCount, mirrorCount, newestRecord: null, fault: null };
}

/**
 * Compares the API's and the mirror's counts for date ranges that have never been read, oldest first. Faulty slices are
 * excluded, because they have been read.
 */
export async function compareUnread(session: DatedSession): Promise<CountComparison[]> {
  const counts: CountComparison[] = [];
  for (const range of subtractRanges(
    [allTime],
    [...session.state.loadCoverage(), ...session.state.loadFaultySlices()],
  ))
    counts.push(await compareCount(session, range));
  return counts;
}

/**
 * Returns the number of records that the API counts but does not return for any date range (A11).
 * @param covered the counts for the covered ranges
 * @param unread the counts for the unread ranges
 */
export function countUnreachable(
  allDates: CountComparison,
  covered: CountSums,
  unread: readonly CountComparison[],
): number {
  return Math.max(0, allDates.apiCount - (covered.api_total ?? 0) - sumOf(unread, "apiCount"));
}

export function describeUnreachable(count: number): string {
  return `the API counts ${pluralize(count, "more record")} without a date range than in all date ranges combined`;
}

/** Unread records with a date in the future. A sync reads each of them once its date has passed. */
export interface FutureRecords {
  records: number;
  /** The newest date, as the API sent it. */
  until: string;
}

interface FutureCount {
  count: CountComparison;
  /**
   * Null if the newest record has no date. The API may return undated records for every date range, so it is unknown
   * whether the counted records are in the future.
   */
  datedRecords: FutureRecords | null;
}

/**
 * Counts the unread records that the API returns for dates in the future. Returns null if there are none.
 * @param unread the counts for unread ranges, oldest first
 */
export async function findFutureRecords(
  session: DatedSession,
  unread: readonly CountComparison[],
): Promise<FutureCount | null> {
  const { clock, resource } = session;
  const from = startOfSecond(clock.now()) + 1_000;
  const afterCoverage = unread.at(-1);
  // If the coverage already ends in the future, records with future dates have already been read.
  if (afterCoverage?.to !== Number.POSITIVE_INFINITY || afterCoverage.from >= from) return null;
  if (afterCoverage.apiCount <= afterCoverage.mirrorCount) return null;
  const newestDate = recordDate(resource, afterCoverage.newestRecord);
  if (newestDate !== null && newestDate < from) return null;

  // The coverage ends at the start of the run. To omit records that are dated between then and now, records with future
  // dates are counted separately.
  const count = await compareCount(session, { from, to: Number.POSITIVE_INFINITY });
  const records = count.apiCount - count.mirrorCount;
  if (records <= 0) return null;
  const isDated = recordDate(resource, count.newestRecord) !== null;
  const until = String(valueAt(count.newestRecord, [resource.strategy.dateField]));
  return { count, datedRecords: isDated ? { records, until } : null };
}

/** Excludes records dated in the future from the counts for unread ranges. */
export function subtractFuture(
  unread: readonly CountComparison[],
  future: FutureCount | null,
): CountComparison[] {
  const afterCoverage = unread.at(-1);
  if (!future || !afterCoverage) return [...unread];
  const past = subtractCount(afterCoverage, future.count, {
    from: afterCoverage.from,
    to: future.count.from - 1,
  });
  return [...unread.slice(0, -1), past];
}

export function describeFuture({ records, until }: FutureRecords): string {
  const newest = formatMinute(until);
  return records === 1
    ? `1 record has a date in the future (${newest}) and will be read once that date arrives`
    : `${records} records have dates in the future (newest: ${newest}) and will be read once those dates arrive`;
}

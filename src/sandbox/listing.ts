import { toMicroseconds } from "./brand.js";
import type { PageInfo, ResponseData } from "./protocol.js";

/** A range in microseconds since the Unix epoch that includes both ends. A null end is open. */
export interface InstantRange {
  from: number | null;
  to: number | null;
}

/** A range of indexes in a list. The list is not copied, because it can contain a million records. */
export interface ListSlice<T> {
  list: readonly T[];
  start: number;
  end: number;
}

export function fullSlice<T>(list: readonly T[]): ListSlice<T> {
  return { list, start: 0, end: list.length };
}

export function respondWithPage<T extends object>(
  { list, start, end }: ListSlice<T>,
  { page, per_page }: Pick<PageInfo, "page" | "per_page">,
): ResponseData {
  const total_items = end - start;
  const total_pages = Math.ceil(total_items / per_page);
  const data = list.slice(start + (page - 1) * per_page, Math.min(end, start + page * per_page));
  const [has_next, has_prev] = [page < total_pages, page > 1];
  return { data, pagination: { page, per_page, total_items, total_pages, has_next, has_prev } };
}

/**
 * Returns the records in a range, newest first. If several records have the same date, the last one added comes first.
 * Records without a date come last, and only if the range is open at both ends.
 */
export function selectRange<T extends object>(
  list: readonly T[],
  dateMember: keyof T,
  { from, to }: InstantRange,
): ListSlice<T> {
  const { instants, records, undated } = sortByDate(list, dateMember);
  if (from === null && to === null && undated.length > 0) return fullSlice([...records, ...undated]);
  const start = to === null ? 0 : firstIndex(instants, (at) => at <= to);
  const end = from === null ? instants.length : firstIndex(instants, (at) => at < from);
  return { list: records, start, end: Math.max(start, end) };
}

interface SortedList<T> {
  records: readonly T[];
  /** Dates in microseconds since the Unix epoch, newest first. */
  instants: Float64Array;
  undated: readonly T[];
}

/** Cached lists never become stale, because events replace arrays instead of changing them. */
const sortedLists = new WeakMap<readonly object[], SortedList<object>>();

function sortByDate<T extends object>(list: readonly T[], dateMember: keyof T): SortedList<T> {
  const cached = sortedLists.get(list) as SortedList<T> | undefined;
  if (cached) return cached;
  const all = list.map((record) => ({ record, at: toMicroseconds(record[dateMember]) }));
  const dated = all.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => b.at - a.at);
  const sorted = {
    records: dated.map(({ record }) => record),
    instants: Float64Array.from(dated, ({ at }) => at),
    undated: all.filter(({ at }) => Number.isNaN(at)).map(({ record }) => record),
  };
  sortedLists.set(list, sorted);
  return sorted;
}

/**
 * Binary search for the first index at which `matches` is true. `matches` must be true at all later indexes as well.
 */
function firstIndex(instants: Float64Array, matches: (at: number) => boolean): number {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (matches(instants[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

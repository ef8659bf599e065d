import { scatter } from "./data/random.js";
import type { Doubts } from "./doubts.js";
import { instantOf, timeText } from "./time.js";

/** An inclusive range in microseconds since 1970; null: no end. */
export interface Range {
  from: number | null;
  to: number | null;
}

/** A list sorted by date, newest first; of equal dates, the record that came last is first. */
interface Sorted<T> {
  records: readonly T[];
  /** Microseconds since 1970, falling. */
  instants: Float64Array;
  undated: readonly T[];
}

/** Each list is sorted once: a happening puts another array in its place. */
const sortedLists = new WeakMap<readonly object[], Sorted<object>>();

/** The records of a list from one place up to another: a list of a million is not copied for each page. */
export interface Part<T> {
  list: readonly T[];
  start: number;
  end: number;
}

/**
 * Returns the records of a range in the API's order.
 * @param dated the member that dates a record
 * @param request a number of the request's own, for an order that changes
 */
export function inRange<T extends object>(
  list: readonly T[],
  dated: keyof T | undefined,
  range: Range,
  doubts: Doubts,
  request: number,
): Part<T> {
  const { from, to } = doubts.ignoresDates ? { from: null, to: null } : range;
  const { instants, records, undated } = sorted(list, dated, doubts.ties, request);
  const start = to === null ? 0 : firstWhere(instants, (at) => at <= to);
  const below = from === null ? instants.length : firstWhere(instants, (at) => at < from);
  const end = Math.min(records.length, Math.max(start, below) + (doubts.belowRange ? 1 : 0));
  const takesAll = (from ?? to) === null || doubts.undated === "everywhere";
  if ((!takesAll || undated.length === 0) && doubts.order === "date") return { list: records, start, end };
  const found = [...records.slice(start, end), ...(takesAll ? undated : [])];
  return whole(reordered(list, found, doubts.order));
}

export function whole<T>(list: readonly T[]): Part<T> {
  return { list, start: 0, end: list.length };
}

function sorted<T extends object>(
  list: readonly T[],
  dated: keyof T | undefined,
  ties: Doubts["ties"],
  request: number,
): Sorted<T> {
  if (ties === "changing") return sort(list, dated, (place) => scatter(place + request * 7_919));
  if (ties === "reversed") return sort(list, dated, (place) => -place);
  const before = sortedLists.get(list) as Sorted<T> | undefined;
  const after = before ?? sort(list, dated, (place) => place);
  sortedLists.set(list, after);
  return after;
}

function sort<T extends object>(
  list: readonly T[],
  dated: keyof T | undefined,
  rankOf: (place: number) => number,
): Sorted<T> {
  const dateOf = (record: T) => (dated === undefined ? Number.NaN : instantOf(record[dated]));
  const all = list.map((record, place) => ({ record, at: dateOf(record), rank: rankOf(place) }));
  const sorted = all.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => b.at - a.at || a.rank - b.rank);
  return {
    records: sorted.map(({ record }) => record),
    instants: Float64Array.from(sorted, ({ at }) => at),
    undated: all.filter(({ at }) => Number.isNaN(at)).map(({ record }) => record),
  };
}

/** Returns the first place from which on a condition holds. The instants fall, and it holds for all below one that it holds for. */
function firstWhere(instants: Float64Array, holds: (at: number) => boolean): number {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (!holds(instants[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function reordered<T extends object>(
  list: readonly T[],
  found: readonly T[],
  order: Doubts["order"],
): readonly T[] {
  if (order === "date") return found;
  const wanted = new Set(found);
  const asCame = list.filter((record) => wanted.has(record));
  const idOf = (record: T) => ("id" in record ? String(record.id) : "");
  return order === "attribution" ? asCame : asCame.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

/** Returns a date as the API shows it, which may be less than it keeps. */
export function shownDate(text: string, shows: Doubts["shows"]): string {
  if (shows === "everything" || !text.includes("T")) return text;
  if (shows === "milliseconds") return text.replace(/(\.\d{3})\d+/, "$1");
  if (shows === "days") return text.slice(0, 10);
  if (shows === "midnight") return `${text.slice(0, 10)}T00:00:00Z`;
  if (shows === "coarse") return `${text.slice(0, 16)}Z`;
  // 24:00:00 is no time of day.
  if (shows === "unreadable")
    return /[048]$/.test(text.slice(0, 16)) ? `${text.slice(0, 11)}24:00:00Z` : text;
  if (shows === "minutes") return `${text.slice(0, 16)}:00Z`;
  if (shows === "seconds") return `${text.slice(0, 19)}Z`;
  return `${timeText(Math.round(instantOf(text) / 1_000_000) * 1_000).slice(0, 19)}Z`;
}

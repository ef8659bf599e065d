import { scatter } from "./data/random.js";
import type { Doubts } from "./doubts.js";
import { instantOf } from "./time.js";

/** A list sorted by date, newest first; of equal dates, the record that came last is first. */
interface Sorted<T> {
  records: readonly T[];
  /** Microseconds since 1970, falling. */
  instants: Float64Array;
  undated: readonly T[];
}

/** An inclusive range in microseconds since 1970; null: no end. */
export interface Range {
  from: number | null;
  to: number | null;
}

/** Sorted once: a happening puts another array in a list's place. */
const known = new WeakMap<readonly object[], Map<string, Sorted<object>>>();

/**
 * Returns the records of a range in the API's order.
 * @param filter names what `keep` keeps: the two are one and the same for as long as the list lives
 * @param request a number of the request's own, for an order that changes
 */
export function inRange<T extends object>(
  list: readonly T[],
  dateOf: (record: T) => unknown,
  { from, to }: Range,
  doubts: Doubts,
  request: number,
  filter = "",
  keep: (record: T) => boolean = () => true,
): readonly T[] {
  const ties = doubts.ties === "changing" ? `changing ${request}` : doubts.ties;
  const sorted = remembered(list, `${filter} ${ties}`, () =>
    sort(list.filter(keep), dateOf, doubts.ties, request),
  );
  const start = to === null ? 0 : firstAtOrBelow(sorted.instants, to);
  const end = from === null ? sorted.instants.length : firstAtOrBelow(sorted.instants, from - 1);
  const found = sorted.records.slice(start, Math.max(start, end) + (doubts.belowRange ? 1 : 0));
  const isWhole = from === null && to === null;
  const undated = isWhole || doubts.undated === "everywhere" ? sorted.undated : [];
  return reordered(list, undated.length > 0 ? [...found, ...undated] : found, doubts.order);
}

function remembered<T extends object>(list: readonly T[], key: string, make: () => Sorted<T>): Sorted<T> {
  const ofList = known.get(list) ?? new Map<string, Sorted<object>>();
  known.set(list, ofList);
  const before = ofList.get(key) as Sorted<T> | undefined;
  const sorted = before ?? make();
  if (!before) ofList.set(key, sorted);
  return sorted;
}

function sort<T extends object>(
  list: readonly T[],
  dateOf: (record: T) => unknown,
  ties: Doubts["ties"],
  request: number,
): Sorted<T> {
  const places = list.map((record, place) => ({ record, at: instantOf(dateOf(record)), rank: place }));
  if (ties === "reversed") for (const one of places) one.rank = -one.rank;
  if (ties === "changing") for (const one of places) one.rank = scatter(one.rank + request * 7_919);
  const dated = places.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => b.at - a.at || a.rank - b.rank);
  return {
    records: dated.map(({ record }) => record),
    instants: Float64Array.from(dated, ({ at }) => at),
    undated: places.filter(({ at }) => Number.isNaN(at)).map(({ record }) => record),
  };
}

/** Returns the first place whose instant is at or below `at`. */
function firstAtOrBelow(instants: Float64Array, at: number): number {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] as number) > at) low = middle + 1;
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
  return order === "attribution" ? asCame : asCame.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

function idOf(record: object): string {
  return "id" in record ? String(record.id) : "";
}

/** Returns a date as the API shows it, which may be less than it keeps. */
export function shownDate(text: string, shows: Doubts["shows"]): string {
  if (shows === "everything" || !text.includes("T")) return text;
  if (shows === "milliseconds") return text.replace(/(\.\d{3})\d+/, "$1");
  if (shows === "days") return text.slice(0, 10);
  if (shows === "midnight") return `${text.slice(0, 10)}T00:00:00Z`;
  if (shows === "minutes") return `${text.slice(0, 16)}:00Z`;
  if (shows === "seconds") return `${text.slice(0, 19)}Z`;
  return `${new Date(Math.round(instantOf(text) / 1_000_000) * 1_000).toISOString().slice(0, 19)}Z`;
}

import { dayOf, dayRange, type Range } from "../lib/ranges.js";
import type { Missing } from "../state/index.js";
import type { Difference } from "../sync/counts.js";

/** Something that speaks against the mirror, and of which dates. */
export interface Against extends Range {
  /** The month that it is told of where no month of what was read has its dates: `2026-01`, or `undated`. */
  month: string;
  text: string;
}

/** Something about a day (`2026-01-31`), or about records without a date, which are in no range. */
export function ofDay(day: string | null, what: string): Against {
  const nowhere = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  if (day === null) return { ...nowhere, month: "undated", text: `undated: ${what}` };
  return { ...dayRange(day), month: day.slice(0, -3), text: `${day}: ${what}` };
}

/** Records that are no longer where they were dated. */
export function ofMissing(missing: readonly Missing[]): Against[] {
  const counts = countEach(missing.map(({ dated }) => (dated === null ? null : dayOf(dated))));
  return [...counts].map(([day, count]) => ofDay(day, `${count} no longer there`));
}

/** How often each value is there. */
export function countEach<Value>(values: Iterable<Value>): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Another count than the mirror's. @param newest up to where was read: what has no end is told of that month */
export function ofDifference({ api, check, from, mirror, to }: Difference, newest: number): Against {
  const last = Number.isFinite(to) ? dayOf(to) : "now";
  const first = Number.isFinite(from) ? dayOf(from) : null;
  const days = first === null ? `through ${last}` : first === last ? last : `${first} to ${last}`;
  const month = dayOf(Math.min(to, newest)).slice(0, -3);
  return { from, to, month, text: `${days}: ${check.name}: ${api} in the API, ${mirror} here` };
}

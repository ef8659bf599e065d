import { dayMs, formatInstant } from "../../times.js";
import type { Goal } from "../plan.js";

/** A day (UTC) by its name, from its first instant to its last millisecond. */
export function dayRange(day: string): Goal {
  const from = Date.parse(`${day}T00:00:00.000Z`);
  return { from, to: from + dayMs - 1 };
}

export function dayOf(ms: number): string {
  return formatInstant(ms).slice(0, 10);
}

/** What ranges hold of days that they do not hold whole: figures by day tell nothing of those. */
export function partialDays(ranges: readonly Goal[]): Goal[] {
  return ranges.flatMap(({ from, to }) => {
    const last = dayRange(dayOf(to));
    const newest = to < last.to ? [{ from: Math.max(last.from, from), to }] : [];
    if (!Number.isFinite(from)) return newest;
    const first = dayRange(dayOf(from));
    return from > first.from ? [{ from, to: Math.min(first.to, to) }, ...newest] : newest;
  });
}

/** Days as ranges, neighbours joined: fewer, fuller pages. */
export function joinDays(days: Iterable<string>): Goal[] {
  return joinRanges([...days].map(dayRange));
}

/** Ranges that overlap or touch as one. */
export function joinRanges(ranges: Iterable<Goal>): Goal[] {
  return [...ranges]
    .sort((a, b) => a.from - b.from)
    .reduce<Goal[]>((joined, { from, to }) => {
      const last = joined.at(-1);
      if (last && from - last.to <= 1) last.to = Math.max(last.to, to);
      else joined.push({ from, to });
      return joined;
    }, []);
}

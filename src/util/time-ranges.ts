import { dayMs, formatInstant, formatMinute } from "./timestamps.js";

/**
 * A time range in milliseconds since the Unix epoch. Both ends are included, as is the entire last millisecond. An open
 * end is -Infinity or Infinity.
 */
export interface TimeRange {
  from: number;
  to: number;
}

export const allTime: TimeRange = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Merges overlapping and adjacent ranges. The result is sorted. */
export function mergeRanges(ranges: Iterable<TimeRange>): TimeRange[] {
  return [...ranges]
    .sort((a, b) => a.from - b.from)
    .reduce<TimeRange[]>((merged, { from, to }) => {
      const last = merged.at(-1);
      if (last && from - last.to <= 1) last.to = Math.max(last.to, to);
      else merged.push({ from, to });
      return merged;
    }, []);
}

export function subtractRanges(ranges: readonly TimeRange[], others: Iterable<TimeRange>): TimeRange[] {
  let remaining = [...ranges];
  for (const removed of mergeRanges(others))
    remaining = remaining.flatMap((range) => subtract(range, removed));
  return remaining;
}

function subtract(range: TimeRange, removed: TimeRange): TimeRange[] {
  if (!overlaps(range, removed)) return [range];
  const older = removed.from > range.from ? [{ from: range.from, to: removed.from - 1 }] : [];
  const newer = removed.to < range.to ? [{ from: removed.to + 1, to: range.to }] : [];
  return [...older, ...newer];
}

export function clipRanges(ranges: Iterable<TimeRange>, { from, to }: TimeRange): TimeRange[] {
  return [...ranges]
    .map((range) => ({ from: Math.max(range.from, from), to: Math.min(range.to, to) }))
    .filter((range) => range.from <= range.to);
}

export function overlaps(a: TimeRange, b: TimeRange): boolean {
  return a.from <= b.to && a.to >= b.from;
}

/** True if the range lies entirely within one of `ranges`, which must already be merged. */
export function isWithinOneOf({ from, to }: TimeRange, ranges: readonly TimeRange[]): boolean {
  return ranges.some((range) => range.from <= from && range.to >= to);
}

/** @param instant can include a fraction of a millisecond */
export function containsInstant({ from, to }: TimeRange, instant: number): boolean {
  return instant >= from && instant < to + 1;
}

/** Returns the gaps between the ranges and, if `from` is given, the gap between `from` and the first range. */
export function findGaps(ranges: Iterable<TimeRange>, from?: number): TimeRange[] {
  const merged = mergeRanges(ranges);
  const [first, last] = [merged[0], merged.at(-1)];
  return first && last ? subtractRanges([{ from: from ?? first.from, to: last.to }], merged) : [];
}

export function utcDay(ms: number): string {
  return formatInstant(ms).slice(0, 10);
}

export function utcMonth(ms: number): string {
  return formatInstant(ms).slice(0, 7);
}

export function dayRange(day: string): TimeRange {
  const from = Date.parse(`${day}T00:00:00.000Z`);
  return { from, to: from + dayMs - 1 };
}

export function monthRange(month: string): TimeRange {
  const { from } = dayRange(`${month}-01`);
  const next = new Date(from);
  return { from, to: next.setUTCMonth(next.getUTCMonth() + 1) - 1 };
}

export function startOfSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

export function startOfDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}

/** Clips a range to whole UTC days. If the range contains no complete day, the result ends before it starts. */
export function clipToCompleteDays({ from, to }: TimeRange): TimeRange {
  return { from: startOfDay(from + dayMs - 1), to: startOfDay(to + 1) - 1 };
}

/** Returns the UTC calendar months that overlap a range, oldest first. */
export function listMonths({ from, to }: TimeRange): (TimeRange & { month: string })[] {
  const months: (TimeRange & { month: string })[] = [];
  for (let start = from; start <= to; start = (months.at(-1)?.to ?? to) + 1) {
    const month = utcMonth(start);
    months.push({ month, ...monthRange(month) });
  }
  return months;
}

export function describeRange({ from, to }: TimeRange): string {
  const end = Number.isFinite(to) ? formatMinute(to) : "now";
  return Number.isFinite(from) ? `${formatMinute(from)} to ${end}` : `everything until ${end}`;
}

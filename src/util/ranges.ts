import { dayMs, formatInstant, formatInstantOrNull, formatMinute, monthRange } from "./times.js";

/**
 * Dates in milliseconds since 1970, both ends included, the last one to the end of its millisecond.
 * -Infinity: from the beginning; Infinity: whatever the future brings.
 */
export interface Range {
  from: number;
  to: number;
}

/** A range of dates that was read completely, and when that read was asked for. */
export interface CoveredRange extends Range {
  readAt: number;
  runId: number;
}

/**
 * Returns when a date was last read, ISO 8601; null if it never was. Without a date: when anything was read. A date at
 * midnight may stand for its day, and one at a whole minute for its minute, so all of that has to be read.
 */
export function lastReadAt(covered: readonly CoveredRange[], dated: number | null): string | null {
  if (dated === null) return formatInstantOrNull(Math.max(...covered.map(({ readAt }) => readAt)));
  const span = precisionOf(dated);
  const parts = covered.filter((one) => overlaps(one, span));
  return contains(mergeRanges(parts), span)
    ? formatInstantOrNull(Math.min(...parts.map(({ readAt }) => readAt)))
    : null;
}

/** Returns the instants that a date may stand for. */
function precisionOf(dated: number): Range {
  const unit = [dayMs, 60_000].find((ms) => dated % ms === 0) ?? 1;
  const from = Math.floor(dated / unit) * unit;
  return { from, to: from + unit - 1 };
}

export const allTime: Range = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Ranges that overlap or touch as one, sorted. */
export function mergeRanges(ranges: Iterable<Range>): Range[] {
  return [...ranges]
    .sort((a, b) => a.from - b.from)
    .reduce<Range[]>((joined, { from, to }) => {
      const last = joined.at(-1);
      if (last && from - last.to <= 1) last.to = Math.max(last.to, to);
      else joined.push({ from, to });
      return joined;
    }, []);
}

/** Returns ranges less others. */
export function subtractRanges(ranges: readonly Range[], others: Iterable<Range>): Range[] {
  let left = [...ranges];
  for (const taken of mergeRanges(others)) left = left.flatMap((range) => without(range, taken));
  return left;
}

function without(range: Range, taken: Range): Range[] {
  if (!overlaps(range, taken)) return [range];
  const below = taken.from > range.from ? [{ from: range.from, to: taken.from - 1 }] : [];
  const above = taken.to < range.to ? [{ from: taken.to + 1, to: range.to }] : [];
  return [...below, ...above];
}

/** Returns the parts of ranges that lie in one. */
export function clipRanges(ranges: Iterable<Range>, { from, to }: Range): Range[] {
  return [...ranges]
    .map((range) => ({ from: Math.max(range.from, from), to: Math.min(range.to, to) }))
    .filter((piece) => piece.from <= piece.to);
}

/** Whether two ranges have an instant in common. */
export function overlaps(one: Range, other: Range): boolean {
  return one.from <= other.to && one.to >= other.from;
}

/** Whether one of some joined ranges holds all of another. */
export function contains(joined: readonly Range[], { from, to }: Range): boolean {
  return joined.some((range) => range.from <= from && range.to >= to);
}

/** Whether an instant, which may be finer than a millisecond, lies in a range. */
export function containsInstant({ from, to }: Range, instant: number): boolean {
  return instant >= from && instant < to + 1;
}

/** Returns the gaps between ranges. */
export function findGaps(ranges: Iterable<Range>): Range[] {
  const joined = mergeRanges(ranges);
  const [first, last] = [joined[0], joined.at(-1)];
  return first && last ? subtractRanges([{ from: first.from, to: last.to }], joined) : [];
}

/** The day (UTC) of an instant: `2026-01-31`. */
export function utcDay(ms: number): string {
  return formatInstant(ms).slice(0, 10);
}

/** Returns the first millisecond of an instant's second: everything that is read by date is cut at whole seconds. */
export function startOfSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

/** The first millisecond of an instant's day. */
export function startOfDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}

/** Returns the part of a range that is whole days (UTC); it ends before it begins if there is none. */
export function clipToCompleteDays({ from, to }: Range): Range {
  return { from: startOfDay(from + dayMs - 1), to: startOfDay(to + 1) - 1 };
}

/** Returns the calendar months (UTC) that a range touches, oldest first, whole. */
export function monthsIn({ from, to }: Range): (Range & { month: string })[] {
  const months: (Range & { month: string })[] = [];
  for (let at = from; at <= to; at = (months.at(-1)?.to ?? to) + 1) {
    const month = formatInstant(at).slice(0, 7);
    months.push({ month, ...monthRange(month) });
  }
  return months;
}

/** A range as a person reads it. */
export function describeRange({ from, to }: Range): string {
  const end = Number.isFinite(to) ? formatMinute(to) : "now";
  return Number.isFinite(from) ? `${formatMinute(from)} to ${end}` : `everything until ${end}`;
}

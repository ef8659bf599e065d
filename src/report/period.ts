import type { DayRange } from "../query/report-figures.js";
import { utcDay } from "../util/ranges.js";
import { dayMs, dayRange } from "../util/times.js";
import { addDays, formatDays, isWholeMonth, lastDay, monthsBefore } from "./text-format.js";

/** Days that a report compares with. */
export interface Comparison extends DayRange {
  name: string;
}

/** The days (UTC) of a report, and the days that they are compared with. */
export interface Period extends DayRange {
  /** Such as `October 2026` or `3–9 Oct 2026`. */
  name: string;
  /** As in a file's name: `2026-10`, or `2026-10-03-to-2026-10-09`. */
  slug: string;
  /** The last day of the figures: the last whole day that was read, or a day that has only begun if there is no other. */
  through: string;
  /** True if some of the days are not over, or were not read to their end. */
  is_partial: boolean;
  /** The days before; null if they, or the period itself, were not read whole. */
  before: Comparison | null;
  /** The same days a year ago, for a month; null as above. */
  year_ago: Comparison | null;
}

/** Ranges that were read completely, ISO 8601; null: from the beginning. */
export type ReadRanges = readonly { from: string | null; to: string }[];

/**
 * Returns the period that was asked for, or else the month of the last whole day that was read. Only whole days are
 * compared: a month that is not over is held against as many days of the month before.
 * @param asked milliseconds since 1970; whole days are made of it
 * @param first the day of the first order: there is nothing to compare with before it
 * @param reached the end of what was read of the orders, milliseconds since 1970
 */
export function choosePeriod(
  asked: { since: number | undefined; until: number | undefined },
  reached: number,
  read: ReadRanges,
  first: string | null = null,
): Period {
  const until = chooseUntil(asked, reached);
  const since = asked.since === undefined ? `${until.slice(0, 7)}-01` : utcDay(asked.since);
  const days = { since, until };
  const lastWhole = lastWholeDay(readFrom(read, since) ?? reached);
  const isPartial = until > lastWhole;
  const lastShown = isPartial ? lastWhole : until;
  const through = lastShown < since ? since : lastShown;
  const isWhole = through <= lastWhole && isRead(read, { since, until: through }, reached);
  const comparison = (other: DayRange) =>
    isWhole && isRead(read, other, reached) && other.until >= (first ?? other.until)
      ? { ...other, name: formatDays(other) }
      : null;
  const isMonth = isWholeMonth(days);
  const dates = since === until ? since : `${since}-to-${until}`;
  return {
    ...days,
    name: formatDays(days),
    slug: isMonth ? since.slice(0, 7) : dates,
    through,
    is_partial: isPartial,
    before: comparison(isMonth ? monthBefore(days, 1, through) : daysBefore(since, through)),
    year_ago: isMonth ? comparison(monthBefore(days, 12, through)) : null,
  };
}

function chooseUntil(
  { since, until }: { since: number | undefined; until: number | undefined },
  reached: number,
): string {
  if (until !== undefined) return utcDay(until);
  return since === undefined ? lastDay(lastWholeDay(reached).slice(0, 7)) : utcDay(reached);
}

/** Returns the end of the range that holds a day's beginning, milliseconds since 1970. */
function readFrom(read: ReadRanges, day: string): number | undefined {
  const { from } = dayRange(day);
  const isHeld = (one: ReadRanges[number]) =>
    (one.from === null || Date.parse(one.from) <= from) && Date.parse(one.to) >= from;
  const range = read.find(isHeld);
  return range && Date.parse(range.to);
}

/** True if days were read completely, as far as orders were read at all. */
function isRead(read: ReadRanges, { since, until }: DayRange, reached: number): boolean {
  return (readFrom(read, since) ?? Number.NEGATIVE_INFINITY) >= Math.min(dayRange(until).to, reached);
}

function lastWholeDay(reached: number): string {
  return utcDay(reached + 1 - dayMs);
}

function daysBefore(since: string, through: string): DayRange {
  const count = (Date.parse(through) - Date.parse(since)) / dayMs + 1;
  return { since: addDays(since, -count), until: addDays(since, -1) };
}

/** Returns the same days of an earlier month: all of it, or those through the last day to compare. */
function monthBefore({ since, until }: DayRange, count: number, through: string): DayRange {
  const first = monthsBefore(since, count);
  return { since: first, until: through < until ? monthsBefore(through, count) : lastDay(first.slice(0, 7)) };
}

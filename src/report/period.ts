import {
  clipRanges,
  clipToCompleteDays,
  dayRange,
  isWithinOneOf,
  monthRange,
  subtractRanges,
  type TimeRange,
  utcDay,
} from "../util/time-ranges.js";
import { dayMs } from "../util/timestamps.js";
import { formatDay, formatMonth, formatShortMonth } from "./formatting.js";

/** A range of UTC days, including both ends. Days are written as `2026-10-31`. */
export interface DayRange {
  since: string;
  until: string;
}

interface Comparison extends DayRange {
  name: string;
}

/** The days (UTC) that a report covers, and the days with which they are compared. */
export interface Period extends DayRange {
  /** A title such as `October 2026` or `3–9 Oct 2026`. */
  name: string;
  /** The part of a file name that identifies the period, such as `2026-10` or `2026-10-03-to-2026-10-09`. */
  slug: string;
  /**
   * The first and the last day included in the amounts: the ends of the first uninterrupted range of fully read days in
   * the period. If there is no such range, the amounts include the orders that have been read so far.
   */
  from: string;
  through: string;
  has_complete_days: boolean;
  /** True if the period contains a day that is not over or has not been fully read. */
  is_partial: boolean;
  /** The days in the period that have not been fully read, excluding those after the last read. */
  unread: DayRange[];
  /**
   * The days just before the period, for comparison. Null if any of them has not been fully read, or if `unread` is not
   * empty.
   */
  before: Comparison | null;
  /**
   * The same days a year earlier, for comparison. Null if the period is not a month, if any of these days has not been
   * fully read, or if `unread` is not empty.
   */
  year_ago: Comparison | null;
}

/**
 * Returns the requested period, or by default the month of the last complete day. Only complete days are compared, so
 * an unfinished month is compared with the same days of the previous month.
 * @param requested milliseconds since the Unix epoch
 * @param reachedMs the time up to which orders have been read, in milliseconds since the Unix epoch
 * @param readRanges the merged date ranges that have been fully read
 * @param firstSalesDay the day of the first order; earlier days are not used for comparisons
 */
export function choosePeriod(
  requested: { since: number | undefined; until: number | undefined },
  reachedMs: number,
  readRanges: readonly TimeRange[],
  firstSalesDay: string | null = null,
): Period {
  const until = chooseUntil(requested, reachedMs);
  const since = requested.since === undefined ? `${until.slice(0, 7)}-01` : utcDay(requested.since);
  const days = { since, until };
  const range = { from: dayRange(since).from, to: dayRange(until).to };
  const [complete] = clipRanges(readRanges.map(clipToCompleteDays), range);
  const stored = { from: Number.NEGATIVE_INFINITY, to: reachedMs };
  const included = complete ?? clipRanges([...readRanges, stored], range)[0] ?? range;
  const through = utcDay(included.to);
  const unread = subtractRanges([{ from: range.from, to: Math.min(range.to, reachedMs) }], readRanges);
  const comparison = (other: DayRange): Comparison | null => {
    const isRead = isWithinOneOf(
      { from: dayRange(other.since).from, to: dayRange(other.until).to },
      readRanges,
    );
    if (!complete || unread.length > 0 || !isRead) return null;
    if (firstSalesDay !== null && other.until < firstSalesDay) return null;
    return { ...other, name: formatDays(other, formatShortMonth) };
  };
  const isMonth = isFullMonth(days);
  const dates = since === until ? since : `${since}-to-${until}`;
  return {
    ...days,
    name: formatDays(days),
    slug: isMonth ? since.slice(0, 7) : dates,
    from: utcDay(included.from),
    through,
    has_complete_days: complete !== undefined,
    is_partial: !complete || !isWithinOneOf(range, [complete]),
    unread: unread.map(({ from, to }) => ({ since: utcDay(from), until: utcDay(to) })),
    before: comparison(isMonth ? sameDaysBefore(days, 1, through) : precedingDays(since, through)),
    year_ago: isMonth ? comparison(sameDaysBefore(days, 12, through)) : null,
  };
}

function chooseUntil(
  { since: sinceMs, until: untilMs }: { since: number | undefined; until: number | undefined },
  reachedMs: number,
): string {
  if (untilMs !== undefined) return utcDay(untilMs);
  return sinceMs === undefined ? lastDayOfMonth(lastCompleteDay(reachedMs).slice(0, 7)) : utcDay(reachedMs);
}

function lastCompleteDay(reachedMs: number): string {
  return utcDay(reachedMs + 1 - dayMs);
}

function precedingDays(since: string, through: string): DayRange {
  const count = (Date.parse(through) - Date.parse(since)) / dayMs + 1;
  return { since: addDays(since, -count), until: addDays(since, -1) };
}

/**
 * Returns the corresponding days `count` months earlier. For an unfinished month, the range ends on the same day of the
 * month as `through`.
 */
function sameDaysBefore({ since, until }: DayRange, count: number, through: string): DayRange {
  const first = monthsBefore(since, count);
  return {
    since: first,
    until: through < until ? monthsBefore(through, count) : lastDayOfMonth(first.slice(0, 7)),
  };
}

/** Formats a full month as `October 2026`, a single day as `3 Oct 2026`, and any other range as `1–24 Oct 2026`. */
export function formatDays({ since, until }: DayRange, formatFullMonth = formatMonth): string {
  if (isFullMonth({ since, until })) return formatFullMonth(since);
  if (since === until) return formatDay(until);
  if (since.slice(0, 7) === until.slice(0, 7)) return `${Number(since.slice(8))}–${formatDay(until)}`;
  const first = since.slice(0, 4) === until.slice(0, 4) ? formatDay(since).slice(0, -5) : formatDay(since);
  return `${first} – ${formatDay(until)}`;
}

function isFullMonth({ since, until }: DayRange): boolean {
  return since.endsWith("-01") && until === lastDayOfMonth(since.slice(0, 7));
}

export function addDays(day: string, count: number): string {
  return utcDay(dayRange(day).from + count * dayMs);
}

/** Returns the same day of an earlier month, or the last day of that month if the month is shorter. */
export function monthsBefore(day: string, count: number): string {
  const first = new Date(`${day.slice(0, 7)}-01T00:00:00.000Z`);
  first.setUTCMonth(first.getUTCMonth() - count);
  const month = first.toISOString().slice(0, 7);
  const same = `${month}-${day.slice(8)}`;
  const last = lastDayOfMonth(month);
  return same < last ? same : last;
}

function lastDayOfMonth(month: string): string {
  return utcDay(monthRange(month).to);
}

import { dayOf, dayRange, monthsOf } from "../lib/ranges.js";
import { dayMs, formatInstant } from "../lib/times.js";
import type { Days } from "../query/index.js";

/** What a report is about: whole days (UTC), and the days that they are compared with. */
export interface Period extends Days {
  /** As a person says it: `October 2026`, or `3 Oct to 9 Oct 2026`. */
  name: string;
  /** In a file's name: `2026-10`, or `2026-10-03-to-2026-10-09`. */
  slug: string;
  /** The last of its days that was read, in part or whole. */
  through: string;
  /** Whether days of it were not read to their end yet. */
  is_partial: boolean;
  /** Whether what lies before that was read whole. */
  is_read: boolean;
  before: Days & {
    name: string;
    /** Whether all of both times was read: what was not is compared with nothing. */
    is_read: boolean;
  };
}

/** What was read completely, ISO 8601; null: from the beginning. */
export type Read = readonly { from: string | null; to: string }[];

/** Whether days were read completely, as far as anything was. */
export function isRead(read: Read, { since, until }: Days, reached: number): boolean {
  const [from, to] = [dayRange(since).from, Math.min(dayRange(until).to, reached)];
  return read.some((one) => (one.from === null || Date.parse(one.from) <= from) && Date.parse(one.to) >= to);
}

/**
 * The period that was asked for; without one, the month of the last day that was read whole. The mirror decides how far
 * it goes, not the clock: a partial month is compared with as many days of the month before.
 * @param asked milliseconds since 1970; whole days are made of it
 * @param reached up to when orders were read, milliseconds since 1970
 * @param read what of them was
 */
export function choosePeriod(
  asked: { since: number | undefined; until: number | undefined },
  reached: number,
  read: Read,
): Period {
  const until = asked.until ?? (asked.since === undefined ? endOfMonth(reached - dayMs) : reached);
  const since = dayOf(asked.since ?? startOfMonth(until));
  const last = dayOf(until);
  const isPartial = dayRange(last).to > reached;
  const through = dayOf(Math.max(Math.min(until, reached), dayRange(since).from));
  const days = { since, until: last };
  const before = beforeOf(days, through, isPartial);
  const isWhole = isRead(read, days, reached);
  return {
    ...days,
    name: nameOf(days),
    slug: isWholeMonth(days) ? since.slice(0, 7) : since === last ? since : `${since}-to-${last}`,
    through,
    is_partial: isPartial,
    is_read: isWhole,
    before: { ...before, name: nameOf(before), is_read: isWhole && isRead(read, before, reached) },
  };
}

/** As many months before whole months, as many days of the month before a partial one; else as many days before. */
function beforeOf(days: Days, through: string, isPartial: boolean): Days {
  const from = dayRange(days.since).from;
  const months = monthsOf({ from, to: dayRange(days.until).from });
  const first = new Date(from);
  const earlier = dayOf(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - months.length, 1));
  const dayBefore = dayOf(from - dayMs);
  if (isWholeMonths(days) && (!isPartial || months.length === 1)) {
    const nth = Number(through.slice(8)) - 1;
    const end = isPartial ? dayOf(dayRange(earlier).from + nth * dayMs) : dayBefore;
    return { since: earlier, until: end < dayBefore ? end : dayBefore };
  }
  return { since: dayOf(from - (dayRange(through).to + 1 - from)), until: dayBefore };
}

function isWholeMonths({ since, until }: Days): boolean {
  return since.endsWith("-01") && dayOf(dayRange(until).to + 1).endsWith("-01");
}

function isWholeMonth(days: Days): boolean {
  return isWholeMonths(days) && days.since.slice(0, 7) === days.until.slice(0, 7);
}

function startOfMonth(ms: number): number {
  return Date.parse(`${formatInstant(ms).slice(0, 7)}-01T00:00:00.000Z`);
}

function endOfMonth(ms: number): number {
  const [month] = monthsOf({ from: ms, to: ms });
  return month?.to ?? ms;
}

/** @param month such as `2026-10` */
export function daysOfMonth(month: string): Days {
  const since = `${month}-01`;
  return { since, until: dayOf(endOfMonth(dayRange(since).from)) };
}

function nameOf(days: Days): string {
  const { since, until } = days;
  if (isWholeMonth(days)) return monthName(since);
  if (since === until) return dayName(until);
  if (since.slice(0, 7) === until.slice(0, 7)) return `${Number(since.slice(8))} to ${dayName(until)}`;
  const first = since.slice(0, 4) === until.slice(0, 4) ? dayName(since).slice(0, -5) : dayName(since);
  return `${first} to ${dayName(until)}`;
}

const months = "January February March April May June July August September October November December".split(
  " ",
);

/** `October 2026`, of a month or a day. */
export function monthName(day: string): string {
  return `${months[Number(day.slice(5, 7)) - 1] ?? ""} ${day.slice(0, 4)}`;
}

/** `Oct 2026`. */
export function shortMonth(day: string): string {
  return `${(months[Number(day.slice(5, 7)) - 1] ?? "").slice(0, 3)} ${day.slice(0, 4)}`;
}

/** `3 Oct 2026`. */
export function dayName(day: string): string {
  return `${Number(day.slice(8, 10))} ${shortMonth(day)}`;
}

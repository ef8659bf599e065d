import { dayOf, dayRange } from "../lib/ranges.js";
import { dayMs, monthRange } from "../lib/times.js";
import type { Days } from "../query/index.js";

/** Days and months as a person writes them. */

const monthAndYear = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

/** Returns `October 2026`, of a month or a day. */
export function monthName(day: string): string {
  return monthAndYear.format(Date.parse(`${day.slice(0, 7)}-01`));
}

/** Returns `Oct 2026`. */
export function shortMonth(day: string): string {
  return `${monthName(day).slice(0, 3)} ${day.slice(0, 4)}`;
}

/** Returns `3 Oct 2026`. */
export function dayName(day: string): string {
  return `${Number(day.slice(8, 10))} ${shortMonth(day)}`;
}

/** Returns `2 Nov 2026, 04:57 UTC`. */
export function timeName(at: string): string {
  return `${dayName(at)}, ${at.slice(11, 16)} UTC`;
}

/** Returns `October 2026` of a whole month, `3 Oct 2026` of a day, `1–24 Oct 2026` of several. */
export function daysName({ since, until }: Days): string {
  if (isWholeMonth({ since, until })) return monthName(since);
  if (since === until) return dayName(until);
  if (since.slice(0, 7) === until.slice(0, 7)) return `${Number(since.slice(8))}–${dayName(until)}`;
  const first = since.slice(0, 4) === until.slice(0, 4) ? dayName(since).slice(0, -5) : dayName(since);
  return `${first} – ${dayName(until)}`;
}

export function isWholeMonth({ since, until }: Days): boolean {
  return since.endsWith("-01") && until === lastDay(since.slice(0, 7));
}

export function addDays(day: string, count: number): string {
  return dayOf(dayRange(day).from + count * dayMs);
}

/** Returns the same day of an earlier month, or that month's last day if it is shorter. */
export function monthsBefore(day: string, count: number): string {
  const first = new Date(`${day.slice(0, 7)}-01T00:00:00.000Z`);
  first.setUTCMonth(first.getUTCMonth() - count);
  const month = first.toISOString().slice(0, 7);
  const same = `${month}-${day.slice(8)}`;
  const last = lastDay(month);
  return same < last ? same : last;
}

/** @param month such as `2026-10` */
export function lastDay(month: string): string {
  return dayOf(monthRange(month).to);
}

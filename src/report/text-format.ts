import type { DayRange } from "../query/report-figures.js";
import { utcDay } from "../util/ranges.js";
import { escapeText, truncate } from "../util/terminal-text.js";
import { dayMs, dayRange, monthRange } from "../util/times.js";
import { FormattedValue } from "./document.js";

/** Days and months as a person writes them. */

const monthAndYear = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

/** Returns `October 2026`, of a month or a day. */
export function formatMonth(day: string): string {
  return monthAndYear.format(Date.parse(`${day.slice(0, 7)}-01`));
}

/** Returns `Oct 2026`. */
export function formatShortMonth(day: string): string {
  return `${formatMonth(day).slice(0, 3)} ${day.slice(0, 4)}`;
}

/** Returns `3 Oct 2026`. */
export function formatDay(day: string): string {
  return `${Number(day.slice(8, 10))} ${formatShortMonth(day)}`;
}

/** Returns `2 Nov 2026, 04:57 UTC`. */
export function formatTime(at: string): string {
  return `${formatDay(at)}, ${at.slice(11, 16)} UTC`;
}

/** Returns `October 2026` of a whole month, `3 Oct 2026` of a day, `1–24 Oct 2026` of several. */
export function formatDays({ since, until }: DayRange): string {
  if (isWholeMonth({ since, until })) return formatMonth(since);
  if (since === until) return formatDay(until);
  if (since.slice(0, 7) === until.slice(0, 7)) return `${Number(since.slice(8))}–${formatDay(until)}`;
  const first = since.slice(0, 4) === until.slice(0, 4) ? formatDay(since).slice(0, -5) : formatDay(since);
  return `${first} – ${formatDay(until)}`;
}

export function isWholeMonth({ since, until }: DayRange): boolean {
  return since.endsWith("-01") && until === lastDay(since.slice(0, 7));
}

export function addDays(day: string, count: number): string {
  return utcDay(dayRange(day).from + count * dayMs);
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
  return utcDay(monthRange(month).to);
}

/** Numbers as the report writes them. */

const signed = { signDisplay: "exceptZero" } as const;

export function formatCount(value: number): FormattedValue {
  return new FormattedValue(value, write(value));
}

export function formatAmount(value: number, currency: string | null): FormattedValue {
  return new FormattedValue(value, amountText(value, currency));
}

/** Returns an amount with its currency: `EUR 1,234.50`. */
export function formatMoney(value: number, currency: string | null): FormattedValue {
  const code = currency === null ? "" : `${formatCurrency(currency)} `;
  return new FormattedValue(value, code + amountText(value, currency));
}

/** Returns an amount with its sign. */
export function formatDifference(value: number, currency: string | null): FormattedValue {
  return new FormattedValue(value, amountText(value, currency, signed));
}

/** Returns a ratio, such as `+12.3%`; empty if there was nothing before. */
export function formatChange(now: number | null, before: number | null): FormattedValue {
  if (now === null || before === null || before <= 0) return new FormattedValue(null);
  const ratio = (now - before) / before;
  return new FormattedValue(ratio, formatPercent(ratio, signed));
}

export function formatPercent(ratio: number, sign: Intl.NumberFormatOptions = {}): string {
  return write(ratio, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1, ...sign });
}

/** Returns the currency's code, or `no currency`. Other text in its place is escaped and cut. */
export function formatCurrency(currency: string | null): string {
  return currency === null ? "no currency" : truncate(escapeText(currency), 16);
}

/** Writes as many digits as the currency has, and never fewer than the amount's cents. */
function amountText(value: number, currency: string | null, sign: Intl.NumberFormatOptions = {}): string {
  const least = digitsOf(currency);
  const digits = { minimumFractionDigits: least, maximumFractionDigits: Math.max(least, 2) };
  return write(value, { ...digits, ...sign });
}

/** Returns an amount for an axis: `25K`. */
export function formatCompact(value: number): string {
  return write(value, { notation: "compact", maximumFractionDigits: 1 });
}

function write(value: number, options: Intl.NumberFormatOptions = {}): string {
  const text = new Intl.NumberFormat("en", options).format(value === 0 ? 0 : value);
  // A hyphen is no minus: lines break after it.
  return text.replaceAll("-", "\u2212");
}

/** Returns how many digits stand after the point: two if the text is not a currency code. */
function digitsOf(currency: string | null): number {
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return 2;
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.resolvedOptions().minimumFractionDigits ?? 2;
}

import { escapeText, truncate } from "../util/terminal.js";

/** A value and its text for display. JSON output contains only the value. */
export class FormattedValue {
  constructor(
    readonly value: string | number | null,
    readonly text = String(value ?? ""),
  ) {}

  toJSON(): string | number | null {
    return this.value;
  }
}

const monthAndYear = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

/**
 * Formats a month as `October 2026`.
 * @param day a timestamp, a day, or a month such as `2026-10`
 */
export function formatMonth(day: string): string {
  return monthAndYear.format(Date.parse(`${day.slice(0, 7)}-01`));
}

/** Formats a month as `Oct 2026`. */
export function formatShortMonth(day: string): string {
  return `${formatMonth(day).slice(0, 3)} ${day.slice(0, 4)}`;
}

/** Formats a day as `3 Oct 2026`. */
export function formatDay(day: string): string {
  return `${Number(day.slice(8, 10))} ${formatShortMonth(day)}`;
}

/** Formats a timestamp as `2 Nov 2026, 04:57 UTC`. */
export function formatTime(at: string): string {
  return `${formatDay(at)}, ${at.slice(11, 16)} UTC`;
}

const signed = { signDisplay: "exceptZero" } as const;

export function formatCountValue(value: number): FormattedValue {
  return new FormattedValue(value, formatNumber(value));
}

export function formatAmount(value: number, currency: string | null): FormattedValue {
  return new FormattedValue(value, amountText(value, currency));
}

export function formatDifference(value: number, currency: string | null): FormattedValue {
  return new FormattedValue(value, amountText(value, currency, signed));
}

/** Formats a change as `+12.3%`. The text is empty if the earlier amount is missing, zero or negative. */
export function formatChange(now: number | null, before: number | null): FormattedValue {
  if (now === null || before === null || before <= 0) return new FormattedValue(null);
  const ratio = (now - before) / before;
  return new FormattedValue(ratio, formatPercent(ratio, signed));
}

export function formatPercent(ratio: number, sign: Intl.NumberFormatOptions = {}): string {
  return formatNumber(ratio, {
    style: "percent",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
    ...sign,
  });
}

export function formatCurrency(currency: string | null): string {
  return currency === null ? "no currency" : truncate(escapeText(currency), 16);
}

export function formatCurrencyTitle(currency: string | null): string {
  return currency === null ? "No currency" : formatCurrency(currency);
}

/**
 * Formats an amount with the usual number of decimal places for its currency, but at least two if the amount is not an
 * integer.
 */
function amountText(value: number, currency: string | null, sign: Intl.NumberFormatOptions = {}): string {
  const places = Math.max(decimalPlaces(currency), Number.isInteger(value) ? 0 : 2);
  return formatNumber(value, { minimumFractionDigits: places, maximumFractionDigits: places, ...sign });
}

/** Formats a number for the axis of a chart, for example as `25K`. */
export function formatCompact(value: number): string {
  return formatNumber(value, { notation: "compact", maximumFractionDigits: 1 });
}

function formatNumber(value: number, options: Intl.NumberFormatOptions = {}): string {
  const text = new Intl.NumberFormat("en", options).format(value === 0 ? 0 : value);
  // Browsers can break a line after a hyphen, but not after a minus sign.
  return text.replaceAll("-", "\u2212");
}

function decimalPlaces(currency: string | null): number {
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return 2;
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.resolvedOptions().minimumFractionDigits ?? 2;
}

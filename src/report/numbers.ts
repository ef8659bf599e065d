import { escapeText } from "../ui/text.js";
import { truncate } from "../ui/width.js";
import { Cell } from "./document.js";

/** Numbers as the report writes them. */

const signed = { signDisplay: "exceptZero" } as const;

export function count(value: number): Cell {
  return new Cell(value, write(value));
}

export function amount(value: number, currency: string | null): Cell {
  return new Cell(value, amountText(value, currency));
}

/** Returns an amount with its currency: `EUR 1,234.50`. */
export function money(value: number, currency: string | null): Cell {
  const code = currency === null ? "" : `${currencyName(currency)} `;
  return new Cell(value, code + amountText(value, currency));
}

/** Returns an amount with its sign. */
export function difference(value: number, currency: string | null): Cell {
  return new Cell(value, amountText(value, currency, signed));
}

/** Returns a ratio, such as `+12.3%`; empty if there was nothing before. */
export function change(now: number | null, before: number | null): Cell {
  if (now === null || before === null || before <= 0) return new Cell(null);
  const ratio = (now - before) / before;
  return new Cell(ratio, percent(ratio, signed));
}

export function percent(ratio: number, sign: Intl.NumberFormatOptions = {}): string {
  return write(ratio, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1, ...sign });
}

/** Returns the currency's code, or `no currency`. Other text in its place is escaped and cut. */
export function currencyName(currency: string | null): string {
  return currency === null ? "no currency" : truncate(escapeText(currency), 16);
}

/** Writes as many digits as the currency has, and never fewer than the amount's cents. */
function amountText(value: number, currency: string | null, sign: Intl.NumberFormatOptions = {}): string {
  const least = digitsOf(currency);
  const digits = { minimumFractionDigits: least, maximumFractionDigits: Math.max(least, 2) };
  return write(value, { ...digits, ...sign });
}

/** Returns an amount for an axis: `25K`. */
export function short(value: number): string {
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

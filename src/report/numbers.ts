import type { Env } from "../deps.js";
import { escapeText } from "../ui/text.js";
import { shorten, truncate } from "../ui/width.js";
import { Cell } from "./document.js";

export type Numbers = ReturnType<typeof createNumbers>;

/** Returns the machine's locale, which numbers are written in; English if it has none that Node knows. */
export function readLocale(env: Env): string {
  const machine = (env.LC_ALL || env.LC_NUMERIC || env.LANG || "").replace(/[.@].*/, "").replaceAll("_", "-");
  try {
    return Intl.NumberFormat.supportedLocalesOf(machine)[0] ?? "en";
  } catch {
    // It does not have the form of a locale.
    return "en";
  }
}

/** Returns functions that write numbers in the machine's locale. */
export function createNumbers(locale: string) {
  const write = (value: number, options: Intl.NumberFormatOptions = {}) => {
    const text = new Intl.NumberFormat(locale, options).format(value === 0 ? 0 : value);
    // A hyphen is no minus: lines break after it.
    return text.replaceAll("-", "\u2212");
  };
  const digits = (least: number, most = least) => ({
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  });
  const amount = (value: number, currency: string | null, sign: Intl.NumberFormatOptions = {}) => {
    const least = digitsOf(currency);
    return write(value, { ...digits(least, Math.max(least, 2)), ...sign });
  };
  const percent = (ratio: number, sign: Intl.NumberFormatOptions = {}) =>
    write(ratio, { style: "percent", ...digits(1), ...sign });
  const signed = { signDisplay: "exceptZero" } as const;
  const codeOf = (currency: string | null) => (currency === null ? "" : `${currencyName(currency)} `);
  return {
    count: (value: number) => new Cell(value, write(value)),
    amount: (value: number, currency: string | null) => new Cell(value, amount(value, currency)),
    money: (value: number, currency: string | null) =>
      new Cell(value, codeOf(currency) + amount(value, currency)),
    signed: (value: number, currency: string | null) => new Cell(value, amount(value, currency, signed)),
    /** Returns a ratio, such as `+12.3%`; empty if there was nothing before. */
    change(now: number | null, before: number | null) {
      if (now === null || before === null || before <= 0) return new Cell(null);
      const ratio = (now - before) / before;
      return new Cell(ratio, percent(ratio, signed));
    },
    percent: (ratio: number) => percent(ratio),
    /** For an axis: `25K`. */
    short: (value: number) => write(value, { notation: "compact", maximumFractionDigits: 1 }),
  };
}

/** Returns the currency's code, or `no currency`. Other text in its place is escaped and cut. */
export function currencyName(currency: string | null): string {
  return currency === null ? "no currency" : truncate(escapeText(shorten(currency)), 16);
}

/** Returns how many digits stand after the point: two if the text is not a currency code. */
function digitsOf(currency: string | null): number {
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return 2;
  return (
    new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().minimumFractionDigits ?? 2
  );
}

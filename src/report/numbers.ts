import type { Env } from "../deps.js";
import { UsageError } from "../errors.js";
import { escapeText } from "../ui/text.js";
import { shorten, truncate } from "../ui/width.js";
import type { Cell } from "./document.js";

/** Writes numbers as the reader's locale does. */
export interface Numbers {
  count(value: number): Cell;
  /** With the digits of its currency, two at least if the value has them, and without the currency: `1,234.50`. */
  amount(value: number, currency: string | null): Cell;
  /** The same with its currency: `EUR 1,234.50`. */
  money(value: number, currency: string | null): Cell;
  /** The same with its sign, `+` included, and without its currency. */
  signed(value: number, currency: string | null): Cell;
  /** The change as a ratio, written `+12.3%`; empty if there was nothing before. */
  change(now: number, before: number | null): Cell;
  /** A ratio of 0 to 1: `12.3%`. */
  percent(ratio: number): string;
  /** Short, for an axis: `25K`. */
  short(value: number): string;
}

/**
 * Returns the locale for numbers.
 * @param wanted `--locale`; default: the machine's
 * @throws UsageError if `wanted` is no locale
 */
export function readLocale(wanted: string | undefined, env: Env): string {
  const own = env.LC_ALL || env.LC_NUMERIC || env.LANG || "";
  const machine = own.split(/[.@]/)[0]?.replaceAll("_", "-") ?? "";
  const locale = wanted ?? (/^(C|POSIX)?$/.test(machine) ? "en" : machine);
  try {
    const [known] = Intl.NumberFormat.supportedLocalesOf(locale);
    if (known !== undefined || wanted === undefined) return known ?? "en";
  } catch (error) {
    if (wanted === undefined) return "en";
    throw unknownLocale(wanted, error);
  }
  throw unknownLocale(wanted);
}

function unknownLocale(wanted: string, cause?: unknown): UsageError {
  return new UsageError(`Not a locale: \`${wanted}\`.`, {
    hint: "use for example `en`, `de-CH` or `fr`",
    cause,
  });
}

export function createNumbers(locale: string): Numbers {
  const formats = new Map<string, Intl.NumberFormat>();
  const write = (value: number, options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options);
    const format = formats.get(key) ?? new Intl.NumberFormat(locale, options);
    formats.set(key, format);
    // A hyphen is no minus: lines break after it.
    return format.format(value === 0 ? 0 : value).replaceAll("-", "\u2212");
  };
  const amount = (value: number, currency: string | null, sign: "auto" | "exceptZero" = "auto") => {
    const digits = digitsOf(currency);
    const [least, most] = [digits, Math.max(digits, 2)];
    return write(value, { minimumFractionDigits: least, maximumFractionDigits: most, signDisplay: sign });
  };
  const percent = (ratio: number, sign: "auto" | "exceptZero" = "auto") =>
    write(ratio, {
      style: "percent",
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
      signDisplay: sign,
    });
  const withCode = (text: string, currency: string | null) =>
    currency === null ? text : `${currencyName(currency)} ${text}`;
  return {
    count: (value) => ({ value, text: write(value, {}) }),
    amount: (value, currency) => ({ value, text: amount(value, currency) }),
    money: (value, currency) => ({ value, text: withCode(amount(value, currency), currency) }),
    signed: (value, currency) => ({ value, text: amount(value, currency, "exceptZero") }),
    change(now, before) {
      if (before === null || before <= 0) return { value: null, text: "" };
      const ratio = (now - before) / before;
      return { value: ratio, text: percent(ratio, "exceptZero") };
    },
    percent: (ratio) => percent(ratio),
    short: (value) => write(value, { notation: "compact", maximumFractionDigits: 1 }),
  };
}

/** Returns the currency's code, or `no currency`. Other text in its place is escaped and cut. */
export function currencyName(currency: string | null): string {
  return currency === null ? "no currency" : truncate(escapeText(shorten(currency)), 16);
}

/** Returns how many digits stand after the point: two if it is no currency code. */
function digitsOf(currency: string | null): number {
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return 2;
  return (
    new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().minimumFractionDigits ?? 2
  );
}

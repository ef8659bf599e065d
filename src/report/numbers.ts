import type { Env } from "../deps.js";
import { UsageError } from "../errors.js";

/** Numbers as the reader writes them. */
export interface Numbers {
  locale: string;
  count(value: number): string;
  /** With the digits of its currency: `1,234.50`, of JPY `1,234`, never less than a hundredth of it; without the currency's name. */
  amount(value: number, currency: string | null): string;
  /** The same with its sign, `+` included. */
  signed(value: number, currency: string | null): string;
  /** How much more or less than before: `+12.3 %`; empty where there was nothing before. */
  change(now: number, before: number | null): string;
  /** A ratio of 0 to 1. */
  percent(ratio: number): string;
  /** Short, for an axis: `25K`. */
  short(value: number): string;
}

/**
 * @param wanted `--locale`; without it the machine's
 * @throws UsageError where it is none
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
  const format = (options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options);
    const known = formats.get(key) ?? new Intl.NumberFormat(locale, options);
    formats.set(key, known);
    return known;
  };
  const money = (value: number, currency: string | null, signDisplay: "auto" | "exceptZero") => {
    const digits = digitsOf(currency);
    const fraction = { minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, 2) };
    return proper(format({ ...fraction, signDisplay }).format(value === 0 ? 0 : value));
  };
  const percent = (ratio: number, signDisplay: "auto" | "exceptZero") =>
    proper(
      format({ style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay }).format(
        ratio,
      ),
    );
  return {
    locale,
    count: (value) => format({}).format(value),
    amount: (value, currency) => money(value, currency, "auto"),
    signed: (value, currency) => money(value, currency, "exceptZero"),
    change(now, before) {
      if (before === null || before <= 0) return "";
      return percent((now - before) / before, "exceptZero");
    },
    percent: (ratio) => percent(ratio, "auto"),
    short: (value) => proper(format({ notation: "compact", maximumFractionDigits: 1 }).format(value)),
  };
}

/** A hyphen is no minus: it breaks lines, and is hard to see before a digit. */
function proper(text: string): string {
  return text.replaceAll("-", "\u2212");
}

/** The digits after the point; of what is no currency two. */
function digitsOf(currency: string | null): number {
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return 2;
  return (
    new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().minimumFractionDigits ?? 2
  );
}

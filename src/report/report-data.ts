import { type DayRange, type Proof, readSums, type SalesFigures } from "../query/report-figures.js";
import type { Mirror } from "../store/mirror/database.js";
import type { Period } from "./period.js";

/** What the sections are written from. */
export interface ReportData {
  mirror: Mirror;
  period: Period;
  /** The complete days of the period, which the figures are about. */
  days: DayRange;
  sums: Record<"now" | "before" | "year_ago", SalesFigures[]>;
  /**
   * The currencies of the period and of the days before it, by gross, largest first. Minor currencies are not included, unless
   * all are minor: then the largest is included.
   */
  currencies: (string | null)[];
  /** The other currencies of the period: those with one order, and `null`. In the same order. */
  minorCurrencies: (string | null)[];
  /** The time that the orders were read up to, in milliseconds since 1970. */
  reached: number;
  /** False if `reached` is the day of the newest order, because no range of dates was read completely. */
  isReadUntilKnown: boolean;
  proof: Proof;
}

export function readReportData(
  mirror: Mirror,
  period: Period,
  rest: Pick<ReportData, "reached" | "isReadUntilKnown" | "proof">,
): ReportData {
  const days = { since: period.since, until: period.through };
  const sums = {
    now: readSums(mirror, days),
    before: period.before ? readSums(mirror, period.before) : [],
    year_ago: period.year_ago ? readSums(mirror, period.year_ago) : [],
  };
  return { mirror, period, days, sums, ...splitCurrencies(sums), ...rest };
}

function splitCurrencies({
  now,
  before,
}: ReportData["sums"]): Pick<ReportData, "currencies" | "minorCurrencies"> {
  const all = [...new Set([...now, ...before].map(({ currency }) => currency))];
  const sumOf = (
    rows: SalesFigures[],
    currency: string | null,
    key: Exclude<keyof SalesFigures, "currency">,
  ) => inCurrency(rows, currency)[0]?.[key] ?? 0;
  const bySize = all.sort(
    (a, b) =>
      sumOf(now, b, "gross_amount") - sumOf(now, a, "gross_amount") ||
      sumOf(before, b, "gross_amount") - sumOf(before, a, "gross_amount"),
  );
  const isMajor = (currency: string | null) =>
    currency !== null && Math.max(sumOf(now, currency, "orders"), sumOf(before, currency, "orders")) > 1;
  const major = bySize.filter(isMajor);
  const currencies = major.length > 0 ? major : bySize.slice(0, 1);
  const inPeriod = (currency: string | null) =>
    sumOf(now, currency, "orders") + sumOf(now, currency, "cancelled_orders") > 0;
  const minorCurrencies = bySize.filter((currency) => !currencies.includes(currency) && inPeriod(currency));
  return { currencies, minorCurrencies };
}

/** Returns the rows of one currency. */
export function inCurrency<Row extends { currency: string | null }>(
  rows: readonly Row[],
  currency: string | null,
): Row[] {
  return rows.filter((row) => row.currency === currency);
}

/** Sorts rows by currency in the order of the report, and those of other currencies last. Keeps the order within a currency. */
export function sortByCurrency<Row extends { currency: string | null }>(
  rows: readonly Row[],
  { currencies, minorCurrencies }: ReportData,
): Row[] {
  const order = [...currencies, ...minorCurrencies];
  const rank = ({ currency }: Row) => (order.includes(currency) ? order.indexOf(currency) : order.length);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

import type { Mirror } from "../store/database.js";
import type { Period } from "./period.js";
import { type DayRange, type Proof, readSums, type SalesFigures } from "./report-figures.js";

export interface ReportData {
  mirror: Mirror;
  period: Period;
  days: DayRange;
  sums: Record<"now" | "before" | "year_ago", SalesFigures[]>;
  /**
   * The currencies that get all sections, sorted by gross amount. If none has several orders, the list contains only
   * the currency with the largest amount.
   */
  currencies: (string | null)[];
  /** The currencies that get only a single line. Null stands for orders without a currency. */
  minorCurrencies: (string | null)[];
  /** The time up to which orders have been read, in milliseconds since the Unix epoch. */
  reached: number;
  /** False if no date range has been read completely. In this case, `reached` is the day of the newest order. */
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
  const codes = [...new Set([...now, ...before].map(({ currency }) => currency))];
  const all = codes
    .map((currency) => ({
      currency,
      now: inCurrency(now, currency)[0],
      before: inCurrency(before, currency)[0],
    }))
    .sort((a, b) => gross(b.now) - gross(a.now) || gross(b.before) - gross(a.before));
  const major = all.filter(
    (one) => one.currency !== null && Math.max(one.now?.orders ?? 0, one.before?.orders ?? 0) > 1,
  );
  const main = major.length > 0 ? major : all.slice(0, 1);
  const minor = all.filter(
    (one) => !main.includes(one) && one.now && one.now.orders + one.now.cancelled_orders > 0,
  );
  return {
    currencies: main.map(({ currency }) => currency),
    minorCurrencies: minor.map(({ currency }) => currency),
  };
}

function gross(figures: SalesFigures | undefined): number {
  return figures?.gross_amount ?? 0;
}

export function inCurrency<Row extends { currency: string | null }>(
  rows: readonly Row[],
  currency: string | null,
): Row[] {
  return rows.filter((row) => row.currency === currency);
}

/** Sorts rows by their currency's position in the report. Rows in other currencies come last. */
export function sortByCurrency<Row extends { currency: string | null }>(
  rows: readonly Row[],
  { currencies, minorCurrencies }: ReportData,
): Row[] {
  const order = [...currencies, ...minorCurrencies];
  const rank = ({ currency }: Row) => (order.includes(currency) ? order.indexOf(currency) : order.length);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

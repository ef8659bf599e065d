import { type DayRange, type Proof, readSums, type SalesFigures } from "../query/report-figures.js";
import type { Mirror } from "../store/database.js";
import type { Period } from "./period.js";

/** The material of every section. */
export interface ReportData {
  mirror: Mirror;
  period: Period;
  /** The days of the figures: the period's whole days. */
  days: DayRange;
  sums: Record<"now" | "before" | "year_ago", SalesFigures[]>;
  /** Those of the period and the days before it, the one with the most orders first. */
  currencies: (string | null)[];
  /** The end of what was read of the orders, milliseconds since 1970. */
  reached: number;
  proof: Proof;
}

export function readReportData(
  mirror: Mirror,
  period: Period,
  rest: Pick<ReportData, "reached" | "proof">,
): ReportData {
  const days = { since: period.since, until: period.through };
  const sums = {
    now: readSums(mirror, days),
    before: period.before ? readSums(mirror, period.before) : [],
    year_ago: period.year_ago ? readSums(mirror, period.year_ago) : [],
  };
  const orders = new Map<string | null, number>();
  for (const { currency, orders: count } of [...sums.now, ...sums.before])
    orders.set(currency, (orders.get(currency) ?? 0) + count);
  return {
    mirror,
    period,
    days,
    sums,
    currencies: [...orders].sort((a, b) => b[1] - a[1]).map(([currency]) => currency),
    ...rest,
  };
}

/** Returns the rows of one currency. */
export function inCurrency<Row extends { currency: string | null }>(
  rows: readonly Row[],
  currency: string | null,
): Row[] {
  return rows.filter((row) => row.currency === currency);
}

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
  /** The currencies of the period and of the days before it, the one with the most orders first. */
  currencies: (string | null)[];
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

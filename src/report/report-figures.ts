import { type DateRange, type ResourceHealth, readResourceHealth } from "../query/health.js";
import { orders as resource } from "../resources/orders.js";
import { readCoverage, readMarkedSlices } from "../store/coverage.js";
import type { Mirror } from "../store/database.js";
import type { CurrentRun } from "../store/lock.js";
import { findLastVerifiedRun, type RunRow, verifyCompleted } from "../store/runs.js";
import { mergeRanges } from "../util/ranges.js";
import { formatInstant, formatInstantOrNull } from "../util/times.js";
import { views } from "../views/all-views.js";
import { orderReads, ordersReadUntil } from "../views/order-history.js";
import { viewQuery } from "../views/view.js";
import { orderFigureNames, orderFigureSums, selectHostLabel, sumAmounts } from "../views/view-columns.js";
import type { Period } from "./period.js";

/** The verification state of the mirrored orders. Times are ISO 8601 strings. */
export interface Proof extends Pick<ResourceHealth, "oldest_read_at" | "covered" | "gaps"> {
  /** The newest verified run and the range that it verified, or null if no run was verified. */
  proven: { at: string; by: "sync" | "verify"; through: string; from: string | null } | null;
  /** The last run's error, or null if the last run did not fail. */
  against: string | null;
}

/**
 * Reads the verification state of the mirrored orders.
 * @param underWay the run that has locked the mirror; unlike a killed run, it does not count as an error
 */
export function readProof(mirror: Mirror, underWay: CurrentRun | null): Proof {
  const orders = readResourceHealth(mirror, resource, { now: 0, maxAgeMs: null, underWay });
  const latest = findLastVerifiedRun(mirror, "orders");
  return {
    proven: latest ? describeProof(mirror, latest) : null,
    against: orders?.found?.error ?? failureSince(latest?.run_id ?? 0, orders?.last_run ?? null),
    oldest_read_at: orders?.oldest_read_at ?? null,
    covered: orders?.covered ?? [],
    gaps: orders?.gaps ?? [],
  };
}

/**
 * Returns the date ranges for which orders are stored, including the unverified slices that contain unexpected dates.
 */
export function readStoredRanges(mirror: Mirror): DateRange[] {
  const ranges = mergeRanges([...readCoverage(mirror, "orders"), ...readMarkedSlices(mirror, "orders")]);
  return ranges.map(({ from, to }) => ({ from: formatInstantOrNull(from), to: formatInstant(to) }));
}

function failureSince(proof: number, last: ResourceHealth["last_run"]): string | null {
  if (!last || last.run_id < proof || ["done", "running", "skipped"].includes(last.outcome)) return null;
  const { error, outcome } = last;
  return outcome === "stopped" || error === null ? `the last run was ${outcome}` : error;
}

/** Returns the contiguous range that a run verified. A `verify` run checks the range that earlier runs have read. */
function describeProof({ db }: Mirror, run: RunRow): Proof["proven"] {
  const { run_id, started_at, finished_at, until, outcome } = run;
  const through = until !== null && until < started_at ? until : started_at;
  const from = db
    .prepare(
      `SELECT from_at FROM run_coverage WHERE coalesce(from_at, '') <= @through AND run_id = (
         SELECT max(run_id) FROM run_coverage JOIN sync_runs USING (run_id) WHERE resource = 'orders' AND run_id <= @run_id)
       ORDER BY from_at DESC LIMIT 1`,
    )
    .pluck()
    .get({ run_id, through }) as string | null | undefined;
  const by = outcome === verifyCompleted ? "verify" : "sync";
  return from === undefined ? null : { at: finished_at ?? started_at, by, through, from };
}

export interface Restatement {
  month: string;
  currency: string | null;
  reported_at: string;
  net_reported: number;
  net_now: number;
  difference: number;
  orders: number;
}

export interface RestatedOrder extends Pick<Restatement, "month" | "currency" | "difference"> {
  order_id: string;
  order_number: string | null;
  what: string;
  seen_at: string;
  host_label: string | null;
}

/** The share of a currency's reported net that has been lost to later refunds. */
export interface RefundLoss {
  currency: string | null;
  months: number;
  share: number;
  least: number;
  most: number;
}

/** Returns the months whose net has changed since they were reported, newest first. */
export function readRestatements({ db }: Mirror, sinceMonth: string): Restatement[] {
  return db
    .prepare("SELECT * FROM restatements WHERE difference <> 0 AND month >= ? ORDER BY month DESC, currency")
    .all(sinceMonth) as Restatement[];
}

/**
 * Returns the orders that changed the net of reported months.
 * @param most the maximum number of orders per currency
 */
export function readRestatedOrders({ db }: Mirror, sinceMonth: string, most: number): RestatedOrder[] {
  return db
    .prepare(
      `SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY abs(difference) DESC, order_id) AS nth
         FROM restated_orders WHERE month >= ?) WHERE nth <= ? ORDER BY currency, nth`,
    )
    .all(sinceMonth, most) as RestatedOrder[];
}

/**
 * Returns the refund losses for each currency. Months that were first read more than a month after their end are
 * excluded, because most of their refunds had already been made by then.
 */
export function readRefundLosses({ db }: Mirror): RefundLoss[] {
  return db
    .prepare(
      `WITH lost AS (SELECT month, currency, -total(difference) AS amount FROM restated_orders
         WHERE what = 'refunded' GROUP BY month, currency),
       months AS (SELECT r.currency, r.net_reported, coalesce(l.amount, 0) AS amount FROM restatements AS r
         LEFT JOIN lost AS l ON l.month = r.month AND l.currency IS r.currency
         WHERE r.net_reported > 0 AND r.reported_at < date(r.month || '-01', '+2 months'))
       SELECT currency, count(*) AS months, sum(amount) / sum(net_reported) AS share,
         min(amount / net_reported) AS least, max(amount / net_reported) AS most FROM months GROUP BY currency`,
    )
    .all() as RefundLoss[];
}

/** An inclusive range of UTC days such as `2026-10-31`. */
export interface DayRange {
  since: string;
  until: string;
}

/** The totals for orders in one currency. Amounts are rounded to six decimal places. */
export interface SalesFigures {
  currency: string | null;
  orders: number;
  cancelled_orders: number;
  orders_without_total: number;
  gross_amount: number;
  refunded_amount: number;
  net_amount: number;
  commission_amount: number;
}

export type DayFigures = SalesFigures & { day: string };

export interface MonthFigures extends SalesFigures {
  month: string;
  is_partial: 0 | 1;
  net_through: number | null;
  net_before: number | null;
  /** The net of the same month a year earlier, or null if either month has not been read completely. */
  net_year_ago: number | null;
}

export interface HostShare {
  host_id: string | null;
  host_label: string | null;
  currency: string | null;
  orders: number;
  net_amount: number;
}

/** The views that a report reads several times, in dependency order. */
const viewsToMaterialize = ["sales_by_day", "restated_orders", "sales_by_month", "restatements"];

/**
 * Replaces the views in `viewsToMaterialize` with temporary tables, so that each view is computed only once. Must be
 * called in `withReadTransaction`.
 */
export function createFigureTables({ db }: Mirror): void {
  for (const name of viewsToMaterialize)
    for (const view of views.filter((one) => one.name === name))
      db.exec(`CREATE TEMP TABLE ${name} AS ${viewQuery(view)}`);
}

/** Returns the time up to which orders have been read (ISO 8601), or null if orders have never been read. */
export function readOrdersEnd({ db }: Mirror): string | null {
  return db.prepare(`WITH ${orderReads} SELECT ${ordersReadUntil}`).pluck().get() as string | null;
}

export function readFirstDay({ db }: Mirror): string | null {
  return db.prepare("SELECT min(day) FROM sales_by_day").pluck().get() as string | null;
}

export function readLastDay({ db }: Mirror): string | null {
  return db.prepare("SELECT max(day) FROM sales_by_day").pluck().get() as string | null;
}

export function readSums({ db }: Mirror, days: DayRange): SalesFigures[] {
  return db
    .prepare(
      `SELECT currency, ${orderFigureSums} FROM sales_by_day WHERE day BETWEEN @since AND @until GROUP BY currency`,
    )
    .all(days) as SalesFigures[];
}

export function readDays({ db }: Mirror, days: DayRange): DayFigures[] {
  return db
    .prepare(
      `SELECT day, currency, ${orderFigureNames} FROM sales_by_day WHERE day BETWEEN @since AND @until ORDER BY day`,
    )
    .all(days) as DayFigures[];
}

export function readHostShares({ db }: Mirror, days: DayRange, most: number): HostShare[] {
  return db
    .prepare(
      `WITH sums AS (SELECT host_id, currency, sum(orders) AS orders, ${sumAmounts("net_amount")} AS net_amount
           FROM order_figures WHERE day BETWEEN @since AND @until AND orders = 1 GROUP BY host_id, currency)
       SELECT s.host_id, ${selectHostLabel("s.host_id")} AS host_label, s.currency, s.orders, s.net_amount
       FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY net_amount DESC, host_id) AS nth FROM sums) AS s
       WHERE nth <= @most ORDER BY currency, nth`,
    )
    .all({ ...days, most }) as HostShare[];
}

export function readMonths({ db }: Mirror, months: { since: string; until: string }): MonthFigures[] {
  return db
    .prepare(
      `SELECT m.*, CASE WHEN NOT m.is_partial AND NOT y.is_partial THEN y.net_amount END AS net_year_ago
       FROM sales_by_month AS m LEFT JOIN sales_by_month AS y
         ON y.month = strftime('%Y-%m', m.month || '-01', '-1 year') AND y.currency IS m.currency
       WHERE m.month BETWEEN @since AND @until ORDER BY m.month DESC`,
    )
    .all(months) as MonthFigures[];
}

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

import type { Mirror } from "../../mirror/index.js";
import { figureNames, hostLabel, money, summed } from "../views/figures.js";
import { reachedAt, reads } from "../views/history.js";
import { selectOf, views } from "../views/index.js";

/** Days (UTC) such as `2026-10-31`, both ends included. */
export interface Days {
  since: string;
  until: string;
}

/** Amounts in the row's currency, rounded to six digits. */
export interface Figures {
  currency: string | null;
  orders: number;
  cancelled_orders: number;
  orders_without_total: number;
  gross_amount: number;
  refunded_amount: number;
  net_amount: number;
  commission_amount: number;
}

export type DayFigures = Figures & { day: string };

/** A row of `sales_by_month`. */
export interface MonthFigures extends Figures {
  month: string;
  is_partial: 0 | 1;
  net_through: number | null;
  net_before: number | null;
  /** The net of the same month a year ago; null unless both months were read whole. */
  net_year_ago: number | null;
}

/** The figures of a host in some days, in one currency. */
export interface Share {
  host_id: string | null;
  host_label: string | null;
  currency: string | null;
  orders: number;
  net_amount: number;
}

/** The views that a report reads several times, each after those that it is made of. */
const laid = ["sales_by_day", "restated_orders", "sales_by_month", "restatements"];

/** Computes these views once, for the connection. Call it inside `withSnapshot`. */
export function layFigures({ db }: Mirror): void {
  for (const name of laid)
    for (const view of views.filter((one) => one.name === name))
      db.exec(`CREATE TEMP TABLE ${name} AS ${selectOf(view)}`);
}

/** Returns the end of what was read of the orders, ISO 8601; null if they never were. */
export function readReached({ db }: Mirror): string | null {
  return db.prepare(`WITH ${reads} SELECT ${reachedAt}`).pluck().get() as string | null;
}

/** Returns the day of the first order; null if there is none. */
export function readFirstDay({ db }: Mirror): string | null {
  return db.prepare("SELECT min(day) FROM sales_by_day").pluck().get() as string | null;
}

/** Returns the figures of some days, a row per currency. */
export function readSums({ db }: Mirror, days: Days): Figures[] {
  return db
    .prepare(
      `SELECT currency, ${summed} FROM sales_by_day WHERE day BETWEEN @since AND @until GROUP BY currency`,
    )
    .all(days) as Figures[];
}

/** Returns the figures by day, oldest first; a day without an order has no row. */
export function readDays({ db }: Mirror, days: Days): DayFigures[] {
  return db
    .prepare(
      `SELECT day, currency, ${figureNames} FROM sales_by_day WHERE day BETWEEN @since AND @until ORDER BY day`,
    )
    .all(days) as DayFigures[];
}

/** Returns the hosts with the highest net, at most `most` per currency. Orders without a host are a row of their own. */
export function readShares({ db }: Mirror, days: Days, most: number): Share[] {
  return db
    .prepare(
      `WITH sums AS (SELECT host_id, currency, sum(orders) AS orders, ${money("net_amount")} AS net_amount
           FROM order_figures WHERE day BETWEEN @since AND @until AND orders = 1 GROUP BY host_id, currency)
       SELECT s.host_id, ${hostLabel("s.host_id")} AS host_label, s.currency, s.orders, s.net_amount
       FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY net_amount DESC, host_id) AS nth FROM sums) AS s
       WHERE nth <= @most ORDER BY currency, nth`,
    )
    .all({ ...days, most }) as Share[];
}

/** Returns the figures by month and currency, newest first, from one month through another. */
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

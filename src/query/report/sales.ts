import type { Mirror } from "../../mirror/index.js";
import { figureNames, summed } from "../views/figures.js";
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

/**
 * Computes the figures by day and the restated orders once, for the connection and for `restatements`, which is made of
 * both. Call it inside `withSnapshot`.
 */
export function layFigures({ db }: Mirror): void {
  for (const table of ["sales_by_day", "restated_orders"])
    db.exec(`CREATE TEMP TABLE ${table} AS SELECT * FROM main.${table}`);
  for (const view of views)
    if (view.name === "restatements") db.exec(`CREATE TEMP TABLE restatements AS ${selectOf(view)}`);
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

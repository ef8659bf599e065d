import type { Mirror } from "../../mirror/index.js";
import { figureColumns, summed } from "../views/figures.js";
import { reachedAt, reads } from "../views/history.js";
import { selectOf, views } from "../views/index.js";

/** Days (UTC) such as `2026-10-31`, both ends included. */
export interface Days {
  since: string;
  until: string;
}

/** The figures of contract section 9, amounts in the row's currency, rounded to six digits. */
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
export type MonthFigures = Figures & { month: string; is_partial: number; net_before: number | null };

const figures = figureColumns.map(({ name }) => name).join(", ");

/** Those that stand on the figures by day. */
const onDays = ["sales_by_month", "restatements"];

/**
 * The figures by day are worked out once: from here on this connection has them as a table, and the views that stand on
 * them over it. Call it inside `withSnapshot`.
 */
export function layDays({ db }: Mirror): void {
  db.exec("CREATE TEMP TABLE sales_by_day AS SELECT * FROM main.sales_by_day");
  for (const view of views)
    if (onDays.includes(view.name)) db.exec(`CREATE TEMP VIEW ${view.name} AS ${selectOf(view)}`);
}

/** Up to when orders were read, ISO 8601; null where they never were. */
export function readReached({ db }: Mirror): string | null {
  return db.prepare(`WITH ${reads} SELECT ${reachedAt}`).pluck().get() as string | null;
}

/** The figures of some days, a row a currency. */
export function readSums({ db }: Mirror, days: Days): Figures[] {
  return db
    .prepare(
      `SELECT currency, ${summed} FROM sales_by_day WHERE day BETWEEN @since AND @until GROUP BY currency`,
    )
    .all(days) as Figures[];
}

/** The figures by day, oldest first; a day without an order has no row. */
export function readDays({ db }: Mirror, days: Days): DayFigures[] {
  return db
    .prepare(
      `SELECT day, currency, ${figures} FROM sales_by_day WHERE day BETWEEN @since AND @until ORDER BY day`,
    )
    .all(days) as DayFigures[];
}

/** Every month and currency, oldest first. */
export function readMonths({ db }: Mirror): MonthFigures[] {
  return db
    .prepare("SELECT * FROM sales_by_month WHERE month IS NOT NULL ORDER BY month")
    .all() as MonthFigures[];
}

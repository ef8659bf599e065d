import type { Mirror } from "../../mirror/index.js";
import { money } from "../views/figures.js";
import type { Days } from "./sales.js";

/** What a host brought in the period, and in the days before it. */
export interface Share {
  host_id: string | null;
  host_name: string | null;
  currency: string | null;
  orders: number;
  net_amount: number;
  net_before: number;
  difference: number;
}

/** Copies the orders of the period and of the days before it into `told_orders`, because several questions read them. */
export function layOrders({ db }: Mirror, now: Days, before: Days | null): void {
  db.prepare(
    `CREATE TEMP TABLE told_orders AS SELECT day >= @since AS is_now, ordered_at, currency, host_id, host_name,
       orders, net_amount FROM order_figures
     WHERE day BETWEEN @since AND @until OR day BETWEEN @since_before AND @until_before`,
  ).run({ ...now, since_before: before?.since ?? null, until_before: before?.until ?? null });
}

/**
 * Returns hosts, at most so many per currency: those with the highest net, or those whose net moved most. Orders without
 * a host are a row of the former.
 */
export function readShares({ db }: Mirror, by: "made" | "moved", most: number): Share[] {
  const order = by === "made" ? "net_amount DESC" : "abs(difference) DESC";
  const wanted = by === "made" ? "orders > 0" : "host_id IS NOT NULL AND difference <> 0";
  return db
    .prepare(
      `WITH sums AS (SELECT host_id, host_name, currency, total(orders * is_now) AS orders,
           ${money("net_amount * is_now")} AS net_amount, ${money("net_amount * NOT is_now")} AS net_before, max(ordered_at)
         FROM told_orders GROUP BY host_id, currency),
       moved AS (SELECT *, round(net_amount - net_before, 6) AS difference FROM sums)
       SELECT host_id, host_name, currency, orders, net_amount, net_before, difference
       FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY ${order}, host_id) AS nth FROM moved WHERE ${wanted})
       WHERE nth <= ? ORDER BY currency, nth`,
    )
    .all(most) as Share[];
}

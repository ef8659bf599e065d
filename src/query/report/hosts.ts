import type { Mirror } from "../../mirror/index.js";
import { figureColumns, money } from "../views/figures.js";
import type { Days } from "./sales.js";

/** What a host or a product brought in the period, and in the time before it. */
export interface Share {
  id: string | null;
  name: string | null;
  currency: string | null;
  orders: number;
  net_amount: number;
  refunded_amount: number;
  net_before: number;
  difference: number;
}

/** Who joined, who left: a row of `roster_changes`. */
export interface RosterChange {
  seen_at: string;
  what: "joined" | "left";
  host_username: string | null;
}

const columns = figureColumns.map(({ name }) => name).join(", ");

/** The orders of the period and of the time before it, for who made them: `told_orders` from here on. */
export function layOrders({ db }: Mirror, now: Days, before: Days): void {
  db.prepare(
    `CREATE TEMP TABLE told_orders AS SELECT day >= @since AS is_now, ordered_at, currency, host_id, host_username,
       product_id, product_title, ${columns} FROM order_figures
     WHERE day BETWEEN @since AND @until OR day BETWEEN @since_before AND @until_before`,
  ).run({ ...now, since_before: before.since, until_before: before.until });
}

const of = {
  hosts: { id: "host_id", name: "host_username" },
  products: { id: "product_id", name: "product_title" },
} as const;

/**
 * The hosts or products of the period, of each currency at most so many: by what they made, or by how much more or less
 * that is than before. Those without one are a row too: they are among `most`, and never among those who moved.
 */
export function readShares(
  { db }: Mirror,
  whose: keyof typeof of,
  by: "made" | "moved",
  most: number,
): Share[] {
  const { id, name } = of[whose];
  const order = by === "made" ? "orders > 0 DESC, net_amount DESC" : "abs(difference) DESC";
  const wanted = by === "made" ? "orders > 0" : "id IS NOT NULL AND difference <> 0";
  return db
    .prepare(
      `WITH sums AS (SELECT ${id} AS id, ${name} AS name, currency, total(orders * is_now) AS orders,
           ${money("net_amount * is_now")} AS net_amount, ${money("refunded_amount * is_now")} AS refunded_amount,
           ${money("net_amount * NOT is_now")} AS net_before, max(ordered_at)
         FROM told_orders GROUP BY ${id}, currency),
       moved AS (SELECT *, round(net_amount - net_before, 6) AS difference FROM sums)
       SELECT id, name, currency, orders, net_amount, refunded_amount, net_before, difference
       FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY ${order}, id) AS nth FROM moved WHERE ${wanted})
       WHERE nth <= ? ORDER BY currency, nth`,
    )
    .all(most) as Share[];
}

/** How many hosts brought an order in the period, a row a currency. */
export function countHosts({ db }: Mirror): { currency: string | null; hosts: number }[] {
  return db
    .prepare(
      `SELECT currency, count(DISTINCT host_id) AS hosts FROM told_orders WHERE is_now AND orders > 0
       GROUP BY currency`,
    )
    .all() as { currency: string | null; hosts: number }[];
}

export function readRosterChanges({ db }: Mirror, { since, until }: Days): RosterChange[] {
  return db
    .prepare(
      `SELECT seen_at, what, host_username FROM roster_changes WHERE what IN ('joined', 'left')
       AND substr(seen_at, 1, 10) BETWEEN ? AND ? ORDER BY seen_at, host_username`,
    )
    .all(since, until) as RosterChange[];
}

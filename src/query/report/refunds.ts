import type { Mirror } from "../../mirror/index.js";

/** A closed month that is another than when it was reported: a row of `restatements`. */
export interface Restatement {
  month: string;
  currency: string | null;
  reported_at: string;
  net_reported: number;
  net_now: number;
  difference: number;
  orders: number;
}

/** A row of `restated_orders`. */
export interface RestatedOrder {
  month: string;
  currency: string | null;
  order_id: string;
  order_number: string | null;
  what: string;
  seen_at: string;
  net_reported: number;
  net_now: number;
  difference: number;
  host_username: string | null;
}

/** What was refunded of a month's orders at an age. */
export interface TriangleCell {
  month: string;
  currency: string | null;
  age_months: number;
  refunded_amount: number;
}

/** Every closed month, restated or not, oldest first. */
export function readClosedMonths({ db }: Mirror): Restatement[] {
  return db.prepare("SELECT * FROM restatements ORDER BY month, currency").all() as Restatement[];
}

/** The orders that restated most, of months from one on: of each currency at most so many. */
export function readRestatedOrders({ db }: Mirror, sinceMonth: string, most: number): RestatedOrder[] {
  return db
    .prepare(
      `SELECT month, currency, order_id, order_number, what, seen_at, net_reported, net_now, difference, host_username
       FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY abs(difference) DESC, order_id) AS nth
         FROM restated_orders WHERE month >= ?) WHERE nth <= ? ORDER BY currency, nth`,
    )
    .all(sinceMonth, most) as RestatedOrder[];
}

export function readTriangle({ db }: Mirror): TriangleCell[] {
  const months = (at: string) => `(substr(${at}, 1, 4) * 12 + substr(${at}, 6, 2))`;
  return db
    .prepare(
      `SELECT month, currency, age_months, round(total(refunded_amount), 6) AS refunded_amount
       FROM (SELECT *, max(0, ${months("seen_changed_at")} - ${months("month")}) AS age_months FROM late_refunds)
       WHERE month IS NOT NULL GROUP BY month, currency, age_months ORDER BY month, age_months`,
    )
    .all() as TriangleCell[];
}

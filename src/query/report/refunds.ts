import type { Mirror } from "../../mirror/index.js";

/** A row of `restatements`. */
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
export interface RestatedOrder extends Pick<Restatement, "month" | "currency" | "difference"> {
  order_id: string;
  order_number: string | null;
  what: string;
  seen_at: string;
  host_label: string | null;
}

/** The losses of reported months to later refunds in one currency, as shares of the net reported. */
export interface RefundLoss {
  currency: string | null;
  months: number;
  share: number;
  least: number;
  most: number;
}

/** Returns the months from one on that changed since they were reported, newest first. */
export function readRestatements({ db }: Mirror, sinceMonth: string): Restatement[] {
  return db
    .prepare("SELECT * FROM restatements WHERE difference <> 0 AND month >= ? ORDER BY month DESC, currency")
    .all(sinceMonth) as Restatement[];
}

/** Returns the changed orders of these months, the largest differences first, at most `most` per currency. */
export function readRestatedOrders({ db }: Mirror, sinceMonth: string, most: number): RestatedOrder[] {
  return db
    .prepare(
      `SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY abs(difference) DESC, order_id) AS nth
         FROM restated_orders WHERE month >= ?) WHERE nth <= ? ORDER BY currency, nth`,
    )
    .all(sinceMonth, most) as RestatedOrder[];
}

/** A month that was first read more than a month after its end is left out: most of its refunds had come by then. */
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

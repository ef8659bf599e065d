import { columnsOf, host } from "./columns.js";
import { hostColumns, money, ofOrder, once } from "./figures.js";
import { reads, reportedAt, versions } from "./history.js";
import type { View } from "./view.js";

const columns =
  "record_id, id, order_number, order_date, order_date_utc, month, currency, is_cancelled, total_amount, refund_amount, " +
  "commission_amount, host_id";

/**
 * `now` holds the present forms that came after the first month was reported. `pairs` holds each order with a month
 * whose sum it may have changed since the report, and its version of that time. Each side of a pair counts in its own
 * month and currency: an order that moved leaves one row and comes to another.
 */
export const restatedOrders: View = {
  name: "restated_orders",
  about:
    "one row per order whose net has changed since its month was reported; an order that moved " +
    "to a different month or currency has a row in each",
  columns: columnsOf(
    `month currency reported_at order_id order_number order_date net_reported net_now difference what seen_at ${host}`,
    {
      what: "`late` (first seen since), `refunded`, `cancelled`, `withdrawn` (the API no longer returns it), `returned`, `reinstated` (no longer cancelled), `redated`, `currency` or `amount`",
    },
  ),
  date: "month",
  example: `SELECT order_number, what, net_reported, net_now, difference FROM restated_orders
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month') ORDER BY abs(difference) DESC LIMIT 20`,
  sql: `WITH ${reads}, ${versions},
    now AS (
      SELECT *, ${ofOrder} FROM (
        SELECT ${columns}, synced_at AS since_at, 1 AS present FROM orders
        UNION ALL SELECT ${columns}, removed_at, 0 FROM orders_removed)
      WHERE since_at > (SELECT min(finished_at) FROM reads) ${once}),
    months AS (SELECT month, ${reportedAt("month")} AS reported_at
      FROM (SELECT month FROM now UNION SELECT month FROM versions) ${once}),
    pairs AS (
      SELECT record_id, month, reported_at, (SELECT max(v.version_id) FROM record_versions AS v
          WHERE v.record_id = p.record_id AND v.since_at <= p.reported_at AND v.until_at > p.reported_at) AS version_id
      FROM (SELECT n.record_id, m.month, m.reported_at FROM now AS n JOIN months AS m ON m.month = n.month
          WHERE n.since_at > m.reported_at
        UNION SELECT n.record_id, m.month, m.reported_at FROM versions AS v
          JOIN months AS m ON m.month = v.month AND v.since_at <= m.reported_at AND v.until_at > m.reported_at
          JOIN now AS n ON n.record_id = v.record_id AND n.since_at > m.reported_at) AS p ${once}),
    states AS (
      SELECT p.record_id, p.month, p.reported_at, n.since_at AS seen_at,
        v.present AND v.month = p.month AS was_in, v.currency AS old_currency, v.net_amount AS old,
        n.present AND n.month = p.month AS is_in, n.currency AS new_currency, n.net_amount AS new,
        CASE WHEN NOT n.present THEN 'withdrawn' WHEN n.cancelled_orders THEN 'cancelled'
          WHEN v.version_id IS NULL THEN 'late' WHEN NOT v.present THEN 'returned'
          WHEN v.cancelled_orders THEN 'reinstated' WHEN v.month IS NOT n.month THEN 'redated'
          WHEN v.currency IS NOT n.currency THEN 'currency'
          WHEN v.gross_amount IS n.gross_amount THEN 'refunded' ELSE 'amount' END AS what
      FROM pairs AS p JOIN now AS n ON n.record_id = p.record_id LEFT JOIN versions AS v ON v.version_id = p.version_id ${once}),
    restated AS (
      SELECT record_id, month, currency, reported_at, seen_at, what, ${money("old")} AS net_reported, ${money("new")} AS net_now
      FROM (SELECT record_id, month, old_currency AS currency, reported_at, seen_at, what, old, NULL AS new FROM states WHERE was_in
        UNION ALL SELECT record_id, month, new_currency, reported_at, seen_at, what, NULL, new FROM states WHERE is_in)
      GROUP BY record_id, month, currency)
  SELECT r.month, r.currency, r.reported_at, o.id AS order_id, o.order_number, o.order_date,
    r.net_reported, r.net_now, round(r.net_now - r.net_reported, 6) AS difference,
    r.what, r.seen_at, ${hostColumns("o.host_id")}
  FROM restated AS r JOIN now AS o ON o.record_id = r.record_id WHERE r.net_now <> r.net_reported
  ORDER BY r.month, r.currency, o.order_date_utc, o.id`,
};

import { amount, integer, text, timestamp } from "../../resources/fields.js";
import { hostColumns, selectHost } from "./host-columns.js";
import { currency, month, selectOrderFigures, sumAmounts } from "./order-figures.js";
import { orderReads, orderVersions, selectReportedAt } from "./order-history.js";
import { materialized, numberFromSqlText, orderColumns, type View } from "./view.js";

const reportedAt = timestamp("reported_at", "the time of the first complete read after the end of the month");
const netReported = amount("net_reported", "the net when the month was reported");
const netNow = amount("net_now");
const difference = amount("difference", "`net_now` minus `net_reported`");

export const restatements: View = {
  name: "restatements",
  about:
    "one row per closed month and currency: its net when it was reported and its net now; `restated_orders` lists the orders " +
    "that changed it, and `export sales_by_month --as-of` with the time in `reported_at` shows all figures at that time",
  columns: [
    month,
    currency,
    reportedAt,
    netReported,
    netNow,
    difference,
    integer("orders", "the number of orders whose net changed"),
  ],
  date: "month",
  example: "SELECT * FROM restatements WHERE difference <> 0 ORDER BY month DESC, currency",
  sql: `WITH ${orderReads}
    SELECT month, currency, ${selectReportedAt("month")} AS reported_at,
      0 + round(total(now) - total(difference), 6) AS net_reported, ${sumAmounts("now")} AS net_now,
      ${sumAmounts("difference")} AS difference, total(orders) AS orders
    FROM (SELECT substr(day, 1, 7) AS month, currency, net_amount AS now, NULL AS difference, 0 AS orders FROM sales_by_day
      UNION ALL SELECT month, currency, NULL, difference, 1 FROM restated_orders)
    GROUP BY month, currency HAVING reported_at IS NOT NULL ORDER BY month, currency`,
};

const orderColumnNames =
  "record_id, id, order_number, order_date, order_date_utc, month, currency, is_cancelled, total_amount, refund_amount, " +
  "commission_amount, host_id";

/**
 * `now` contains the current versions that were first read after the first report. `pairs` contains each
 * order with the months whose sums it may have changed since they were reported, and with its version at that
 * time. The old and new version each count in their own month and currency, so an order that moved has two
 * rows.
 */
export const restatedOrders: View = {
  name: "restated_orders",
  about:
    "one row per order whose net has changed since its month was reported; an order that moved " +
    "to a different month or currency has one row for each",
  columns: [
    month,
    currency,
    reportedAt,
    text("order_id"),
    ...orderColumns("order_number", "order_date"),
    netReported,
    netNow,
    difference,
    text(
      "what",
      "`late` (first seen after the report), `refunded`, `cancelled`, `withdrawn` (the API no longer returns it), `returned`, " +
        "`reinstated` (no longer cancelled), `redated`, `currency` or `amount`",
    ),
    timestamp("seen_at", "the time at which the change was first seen"),
    ...hostColumns,
  ],
  date: "month",
  example: `SELECT order_number, what, net_reported, net_now, difference FROM restated_orders
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month') ORDER BY abs(difference) DESC LIMIT 20`,
  sql: `WITH ${orderReads}, ${orderVersions},
    now AS (
      SELECT *, ${selectOrderFigures} FROM (
        SELECT ${orderColumnNames}, synced_at AS since_at, 1 AS present FROM orders
        UNION ALL SELECT ${orderColumnNames}, removed_at, 0 FROM orders_removed)
      WHERE since_at > (SELECT min(finished_at) FROM reads) ${materialized}),
    months AS (SELECT month, ${selectReportedAt("month")} AS reported_at
      FROM (SELECT month FROM now UNION SELECT month FROM versions) ${materialized}),
    pairs AS (
      SELECT record_id, month, reported_at, (SELECT max(v.version_id) FROM record_versions AS v
          WHERE v.record_id = p.record_id AND v.since_at <= p.reported_at AND v.until_at > p.reported_at) AS version_id
      FROM (SELECT n.record_id, m.month, m.reported_at FROM now AS n JOIN months AS m ON m.month = n.month
          WHERE n.since_at > m.reported_at
        UNION SELECT n.record_id, m.month, m.reported_at FROM versions AS v
          JOIN months AS m ON m.month = v.month AND v.since_at <= m.reported_at AND v.until_at > m.reported_at
          JOIN now AS n ON n.record_id = v.record_id AND n.since_at > m.reported_at) AS p ${materialized}),
    states AS (
      SELECT p.record_id, p.month, p.reported_at, n.since_at AS seen_at,
        v.present AND v.month = p.month AS was_in, v.currency AS old_currency, v.net_amount AS old,
        n.present AND n.month = p.month AS is_in, n.currency AS new_currency, n.net_amount AS new,
        CASE WHEN NOT n.present THEN 'withdrawn' WHEN n.cancelled_orders THEN 'cancelled'
          WHEN v.version_id IS NULL THEN 'late' WHEN NOT v.present THEN 'returned'
          WHEN v.cancelled_orders THEN 'reinstated' WHEN v.month IS NOT n.month THEN 'redated'
          WHEN v.currency IS NOT n.currency THEN 'currency'
          WHEN v.gross_amount IS n.gross_amount THEN 'refunded' ELSE 'amount' END AS what
      FROM pairs AS p JOIN now AS n ON n.record_id = p.record_id LEFT JOIN versions AS v ON v.version_id = p.version_id ${materialized}),
    restated AS (
      SELECT record_id, month, currency, reported_at, seen_at, what, ${sumAmounts("old")} AS net_reported, ${sumAmounts("new")} AS net_now
      FROM (SELECT record_id, month, old_currency AS currency, reported_at, seen_at, what, old, NULL AS new FROM states WHERE was_in
        UNION ALL SELECT record_id, month, new_currency, reported_at, seen_at, what, NULL, new FROM states WHERE is_in)
      GROUP BY record_id, month, currency)
  SELECT r.month, r.currency, r.reported_at, o.id AS order_id, o.order_number, o.order_date,
    r.net_reported, r.net_now, round(r.net_now - r.net_reported, 6) AS difference,
    r.what, r.seen_at, ${selectHost("o.host_id")}
  FROM restated AS r JOIN now AS o ON o.record_id = r.record_id WHERE r.net_now <> r.net_reported
  ORDER BY r.month, r.currency, o.order_date_utc, o.id`,
};

const [oldAmount, newAmount] = ["c.old", "c.new"].map((value) => `coalesce(${numberFromSqlText(value)}, 0)`);

const millisecondsBetween = (from: string, to: string) =>
  `CAST(round((julianday(${to}) - julianday(${from})) * 86400000) AS INTEGER)`;

/** A change from null to 0 is not a refund. */
export const lateRefunds: View = {
  name: "late_refunds",
  about:
    "one row per refund that appeared after the order was first read, for orders that count; the API does not date " +
    "refunds, so the time from order to refund has a lower and an upper bound",
  columns: [
    text("order_id"),
    ...orderColumns("order_number", "order_date"),
    month,
    currency,
    amount("refunded_amount", "negative if a refund was reversed"),
    integer("days_at_least", "complete days from the order to the last time it was seen without the refund"),
    integer("days_at_most", "days from the order to the first time it was seen with the refund, rounded up"),
    timestamp("last_seen_unchanged_at", "the time at which the old amount was last seen"),
    timestamp("seen_changed_at", "the time at which the new amount was first seen"),
    ...hostColumns,
  ],
  date: "seen_changed_at",
  example: `SELECT order_number, order_date, currency, refunded_amount, days_at_least, days_at_most FROM late_refunds
WHERE days_at_least > 30 ORDER BY seen_changed_at DESC LIMIT 20`,
  sql: `SELECT f.id AS order_id, f.order_number, f.order_date, f.month, f.currency,
      round(${newAmount} - ${oldAmount}, 6) AS refunded_amount,
      max(0, ${millisecondsBetween("f.ordered_at", "c.last_seen_unchanged_at")} / 86400000) AS days_at_least,
      max(0, (${millisecondsBetween("f.ordered_at", "c.seen_changed_at")} + 86399999) / 86400000) AS days_at_most,
      c.last_seen_unchanged_at, c.seen_changed_at, f.host_id, f.host_username, f.host_label
    FROM changes AS c JOIN order_figures AS f ON f.id = c.key AND f.orders = 1
    WHERE c.resource = 'orders' AND c.field = 'refund_amount'
      AND ${newAmount} <> ${oldAmount} ORDER BY c.change_id`,
};

import { amount, boolean, integer, number, text, timestamp } from "../resources/fields.js";
import { numberFromSqlText } from "../util/numbers.js";
import { orderReadsSql, ordersReadUntilSql, orderVersionsSql, reportedAtSql } from "./order-history.js";
import {
  amountSumSql,
  currencyColumn,
  dayColumn,
  hostColumns,
  hostColumnsSql,
  materializedSql,
  monthColumn,
  orderColumns,
  orderFigureColumns,
  orderFigureNamesSql,
  orderFigureSumsSql,
  orderFiguresSql,
  type View,
} from "./view.js";

export const salesByDay: View = {
  name: "sales_by_day",
  about: "one row per day (UTC) and currency with orders",
  columns: [dayColumn, currencyColumn, ...orderFigureColumns],
  date: "day",
  example: `SELECT currency, sum(orders) AS orders, round(sum(net_amount), 2) AS net FROM sales_by_day
WHERE day >= date('now', '-7 days') AND day < date('now') GROUP BY currency`,
  reads: ["orders"],
  sql: `SELECT day, currency, ${orderFigureSumsSql} FROM order_figures GROUP BY day, currency ORDER BY day, currency`,
};

/**
 * SQL for the end of the covered range that contains the first day of a month. If no range contains that day, the
 * result is the end of the newest covered range.
 */
const monthReadUntilSql = `coalesce((SELECT max(to_at) FROM order_coverage
      WHERE from_at <= month || '-01T00:00:00.000Z' AND to_at >= month || '-01T00:00:00.000Z'), ${ordersReadUntilSql})`;

/** Daily sales. `month` is the day's month, and `nth` is the day of the month. */
const numberedDaysSql = `numbered_days AS (
      SELECT *, substr(day, 1, 7) AS month, CAST(substr(day, 9) AS INTEGER) AS nth FROM sales_by_day ${materializedSql})`;

/**
 * Each month and the preceding month. `through` is the last fully read day of the month: 31 if the entire month has
 * been read, or null if no day of the month has been fully read.
 */
const monthEndsSql = `month_ends AS (
      SELECT month, strftime('%Y-%m', month || '-01', '-1 month') AS before, CASE
        WHEN month < substr(unread, 1, 7) THEN 31
        WHEN month = substr(unread, 1, 7) THEN nullif(substr(unread, 9) - 1, 0) END AS through
      FROM (SELECT month, date(${monthReadUntilSql}, '+0.001 seconds') AS unread FROM (SELECT DISTINCT month FROM numbered_days)) ${materializedSql})`;

/** The amounts by month and currency. `net_through` is the net amount through the last fully read day. */
const monthlySumsSql = `monthly_sums AS (
      SELECT month, currency, ${orderFigureSumsSql}, before, through,
        CASE WHEN through IS NOT NULL THEN ${amountSumSql("CASE WHEN nth <= through THEN net_amount END")} END AS net_through
      FROM numbered_days LEFT JOIN month_ends USING (month) GROUP BY month, currency ${materializedSql})`;

/**
 * The previous month's net through the same day. Null if part of that month has not been read. `SELECT 1 LIMIT 1` keeps
 * SQLite versions before 3.35 from recomputing `numbered_days` for each month.
 */
const netBeforeSql = `CASE WHEN through IS NOT NULL AND EXISTS (SELECT 1 FROM order_reads
        WHERE from_at <= before || '-01T00:00:00.000Z' AND to_at >= sums.month || '-01T00:00:00.000Z')
      THEN (SELECT CASE WHEN count(*) > 0 THEN ${amountSumSql("CASE WHEN days.nth <= sums.through THEN days.net_amount END")} END
      FROM (SELECT 1 LIMIT 1) JOIN numbered_days AS days
      WHERE days.month = sums.before AND days.currency IS sums.currency) END`;

export const salesByMonth: View = {
  name: "sales_by_month",
  about:
    "one row per month (UTC) and currency; " +
    "for the current month, `net_through` ends on the last fully read day, " +
    "and `net_before` ends on the same day of the previous month",
  columns: [
    monthColumn,
    currencyColumn,
    ...orderFigureColumns,
    boolean("is_partial", "true if only part of the month has been read so far"),
    amount("net_through", "net through the last fully read day, for comparison with `net_before`"),
    amount(
      "net_before",
      "the previous month's net; for the current month, only through the same day of the month as `net_through`",
    ),
  ],
  date: "month",
  example: `SELECT month, currency, net_through, net_before, round(100 * (net_through / net_before - 1), 1) AS growth
FROM sales_by_month WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-6 months')
ORDER BY currency, month`,
  reads: ["coverage", "orders", "run_coverage", "sync_runs"],
  sql: `WITH ${orderReadsSql},
    ${numberedDaysSql},
    ${monthEndsSql},
    ${monthlySumsSql}
  SELECT month, currency, ${orderFigureNamesSql},
    CASE WHEN month IS NOT NULL THEN ${reportedAtSql("month")} IS NULL END AS is_partial, net_through,
    ${netBeforeSql} AS net_before
  FROM monthly_sums AS sums ORDER BY month, currency`,
};

export const refundsByMonth: View = {
  name: "refunds_by_month",
  about:
    "one row per order month (UTC) and currency, with all refunds to date for the orders placed in that month",
  columns: [
    monthColumn,
    currencyColumn,
    ...orderFigureColumns,
    integer("refunded_orders", "orders included in `orders` that were partially or fully refunded"),
    number("refund_rate", "refunded amount divided by gross amount, 0 to 1"),
  ],
  date: "month",
  example: `SELECT month, currency, refunded_amount, round(100 * refund_rate, 1) AS percent FROM refunds_by_month
WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-12 months') ORDER BY currency, month`,
  reads: ["orders"],
  sql: `SELECT *, round(refunded_amount / gross_amount, 6) AS refund_rate
    FROM (SELECT month, currency, ${orderFigureSumsSql}, total(refunded_amount > 0) AS refunded_orders
      FROM order_figures GROUP BY month, currency) ORDER BY month, currency`,
};

const reportedAtColumn = timestamp(
  "reported_at",
  "the time of the first complete read after the month's end",
);

const netReportedColumn = amount("net_reported", "the net amount when the month was reported");

const netNowColumn = amount("net_now");

const differenceColumn = amount("difference", "`net_now` minus `net_reported`");

export const restatements: View = {
  name: "restatements",
  about:
    "one row per closed month and currency, with the net amount as reported and the current net amount; `restated_orders` lists the changed orders; " +
    "`export sales_by_month --as-of` with the time in `reported_at` returns all figures as of that time",
  columns: [
    monthColumn,
    currencyColumn,
    reportedAtColumn,
    netReportedColumn,
    netNowColumn,
    differenceColumn,
    integer("orders", "the number of orders whose net changed"),
  ],
  date: "month",
  example: "SELECT * FROM restatements WHERE difference <> 0 ORDER BY month DESC, currency",
  reads: ["orders", "orders_removed", "record_versions", "run_coverage", "sync_runs"],
  sql: `WITH ${orderReadsSql}
    SELECT month, currency, ${reportedAtSql("month")} AS reported_at,
      0 + round(total(net) - total(difference), 6) AS net_reported, ${amountSumSql("net")} AS net_now,
      ${amountSumSql("difference")} AS difference, total(orders) AS orders
    FROM (SELECT substr(day, 1, 7) AS month, currency, net_amount AS net, NULL AS difference, 0 AS orders FROM sales_by_day
      UNION ALL SELECT month, currency, NULL, difference, 1 FROM restated_orders)
    GROUP BY month, currency HAVING reported_at IS NOT NULL ORDER BY month, currency`,
};

const orderColumnsSql =
  "record_id, id, order_number, order_date, order_date_utc, month, currency, is_cancelled, total_amount, refund_amount, " +
  "commission_amount, host_id";

/** The latest versions of orders that have changed or been removed since a month was first reported. */
const latestVersionsSql = `latest_versions AS (
      SELECT *, ${orderFiguresSql} FROM (
        SELECT ${orderColumnsSql}, synced_at AS since_at, 1 AS present FROM orders
        UNION ALL SELECT ${orderColumnsSql}, removed_at, 0 FROM orders_removed)
      WHERE since_at > (SELECT min(finished_at) FROM order_reads) ${materializedSql})`;

const reportedMonthsSql = `reported_months AS (SELECT month, ${reportedAtSql("month")} AS reported_at
      FROM (SELECT month FROM latest_versions UNION SELECT month FROM order_versions) ${materializedSql})`;

/**
 * Each order in `latest_versions`, with the months whose reported sums its changes may affect: the order's current
 * month, and the month that the order belonged to when that month was reported. `version_id` is the order's version at
 * `reported_at`.
 */
const changedMonthsSql = `changed_months AS (
      SELECT record_id, month, reported_at, (SELECT max(versions.version_id) FROM record_versions AS versions
          WHERE versions.record_id = changed.record_id
            AND versions.since_at <= changed.reported_at AND versions.until_at > changed.reported_at) AS version_id
      FROM (SELECT latest.record_id, months.month, months.reported_at FROM latest_versions AS latest
          JOIN reported_months AS months ON months.month = latest.month WHERE latest.since_at > months.reported_at
        UNION SELECT latest.record_id, months.month, months.reported_at FROM order_versions AS earlier
          JOIN reported_months AS months
            ON months.month = earlier.month AND earlier.since_at <= months.reported_at AND earlier.until_at > months.reported_at
          JOIN latest_versions AS latest
            ON latest.record_id = earlier.record_id AND latest.since_at > months.reported_at) AS changed ${materializedSql})`;

/** The amount and currency of each order, both when its month was reported and now, and the kind of change. */
const oldAndNewStatesSql = `old_and_new_states AS (
      SELECT changed.record_id, changed.month, changed.reported_at, latest.since_at AS seen_at,
        earlier.present AND earlier.month = changed.month AS was_in,
        earlier.currency AS old_currency, earlier.net_amount AS old,
        latest.present AND latest.month = changed.month AS is_in,
        latest.currency AS new_currency, latest.net_amount AS new,
        CASE WHEN NOT latest.present THEN 'withdrawn' WHEN latest.cancelled_orders THEN 'cancelled'
          WHEN earlier.version_id IS NULL THEN 'late' WHEN NOT earlier.present THEN 'returned'
          WHEN earlier.cancelled_orders THEN 'reinstated' WHEN earlier.month IS NOT latest.month THEN 'redated'
          WHEN earlier.currency IS NOT latest.currency THEN 'currency'
          WHEN earlier.gross_amount IS latest.gross_amount THEN 'refunded' ELSE 'amount' END AS what
      FROM changed_months AS changed JOIN latest_versions AS latest ON latest.record_id = changed.record_id
      LEFT JOIN order_versions AS earlier ON earlier.version_id = changed.version_id ${materializedSql})`;

/**
 * The net of each order, both when its month was reported and now. Each amount is in the currency that the order had
 * at that time, so an order whose currency has changed has two rows.
 */
const restatedNetsSql = `restated_nets AS (
      SELECT record_id, month, currency, reported_at, seen_at, what, ${amountSumSql("old")} AS net_reported, ${amountSumSql("new")} AS net_now
      FROM (SELECT record_id, month, old_currency AS currency, reported_at, seen_at, what, old, NULL AS new FROM old_and_new_states WHERE was_in
        UNION ALL SELECT record_id, month, new_currency, reported_at, seen_at, what, NULL, new FROM old_and_new_states WHERE is_in)
      GROUP BY record_id, month, currency)`;

export const restatedOrders: View = {
  name: "restated_orders",
  about:
    "one row per order whose net has changed since its month was reported; " +
    "an order whose month or currency changed has two rows: one with the old month and currency, and one with the new ones",
  columns: [
    monthColumn,
    currencyColumn,
    reportedAtColumn,
    text("order_id"),
    ...orderColumns("order_number", "order_date"),
    netReportedColumn,
    netNowColumn,
    differenceColumn,
    text(
      "what",
      "`late` (first seen after the report), `refunded`, `cancelled`, `reinstated` (no longer cancelled), `withdrawn` (the API no longer returns it), `returned`, `redated`, `currency` or `amount`",
    ),
    timestamp("seen_at", "the time at which the change was first seen"),
    ...hostColumns,
  ],
  date: "month",
  example: `SELECT order_number, what, net_reported, net_now, difference FROM restated_orders
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month') ORDER BY abs(difference) DESC LIMIT 20`,
  reads: ["host_names", "orders", "orders_removed", "record_versions", "run_coverage", "sync_runs"],
  sql: `WITH ${orderReadsSql}, ${orderVersionsSql},
    ${latestVersionsSql},
    ${reportedMonthsSql},
    ${changedMonthsSql},
    ${oldAndNewStatesSql},
    ${restatedNetsSql}
  SELECT nets.month, nets.currency, nets.reported_at, latest.id AS order_id, latest.order_number, latest.order_date,
    nets.net_reported, nets.net_now, round(nets.net_now - nets.net_reported, 6) AS difference,
    nets.what, nets.seen_at, ${hostColumnsSql("latest.host_id")}
  FROM restated_nets AS nets JOIN latest_versions AS latest ON latest.record_id = nets.record_id
  WHERE nets.net_now <> nets.net_reported
  ORDER BY nets.month, nets.currency, latest.order_date_utc, latest.id`,
};

const [oldAmountSql, newAmountSql] = ["changes.old", "changes.new"].map(
  (value) => `coalesce(${numberFromSqlText(value)}, 0)`,
);

const millisecondsBetweenSql = (from: string, to: string) =>
  `CAST(round((julianday(${to}) - julianday(${from})) * 86400000) AS INTEGER)`;

/** A change from null to 0 does not count as a refund. */
export const lateRefunds: View = {
  name: "late_refunds",
  about:
    "one row per refund that was found after its order was first read (excluding removed and cancelled orders); " +
    "the API does not provide refund dates, so the view contains a lower and an upper bound for the time from order to refund",
  columns: [
    text("order_id"),
    ...orderColumns("order_number", "order_date"),
    monthColumn,
    currencyColumn,
    amount("refunded_amount", "negative if a refund was reversed"),
    integer("days_at_least", "whole days from the order to the last time it was seen without the refund"),
    integer("days_at_most", "days from the order to the first time it was seen with the refund, rounded up"),
    timestamp("last_seen_unchanged_at", "the time at which the old amount was last seen"),
    timestamp("seen_changed_at", "the time at which the new amount was first seen"),
    ...hostColumns,
  ],
  date: "seen_changed_at",
  example: `SELECT order_number, order_date, currency, refunded_amount, days_at_least, days_at_most FROM late_refunds
WHERE days_at_least > 30 ORDER BY seen_changed_at DESC LIMIT 20`,
  reads: ["changes", "host_names", "orders"],
  sql: `SELECT figures.id AS order_id, figures.order_number, figures.order_date, figures.month, figures.currency,
      round(${newAmountSql} - ${oldAmountSql}, 6) AS refunded_amount,
      max(0, ${millisecondsBetweenSql("figures.ordered_at", "changes.last_seen_unchanged_at")}
        / 86400000) AS days_at_least,
      max(0, (${millisecondsBetweenSql("figures.ordered_at", "changes.seen_changed_at")}
        + 86399999) / 86400000) AS days_at_most,
      changes.last_seen_unchanged_at, changes.seen_changed_at,
      figures.host_id, figures.host_username, figures.host_label
    FROM changes JOIN order_figures AS figures ON figures.id = changes.key AND figures.orders = 1
    WHERE changes.resource = 'orders' AND changes.field = 'refund_amount'
      AND ${newAmountSql} <> ${oldAmountSql} ORDER BY changes.change_id`,
};

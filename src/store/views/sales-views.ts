import { amount, boolean, integer, number } from "../../resources/fields.js";
import {
  currency,
  day,
  month,
  orderFigureNames,
  orderFigureSums,
  orderFigures,
  sumAmounts,
} from "./order-figures.js";
import { orderReads, ordersReadUntil, selectReportedAt } from "./order-history.js";
import { materialized, type View } from "./view.js";

export const salesByDay: View = {
  name: "sales_by_day",
  about: "one row per day (UTC) and currency with orders",
  columns: [day, currency, ...orderFigures],
  date: "day",
  example: `SELECT currency, sum(orders) AS orders, round(sum(net_amount), 2) AS net FROM sales_by_day
WHERE day >= date('now', '-7 days') AND day < date('now') GROUP BY currency`,
  sql: `SELECT day, currency, ${orderFigureSums} FROM order_figures GROUP BY day, currency ORDER BY day, currency`,
};

/**
 * SQL for the end of the covered range that contains the first day of the month. If there is no such range, it selects
 * the end of all covered dates.
 */
const monthReadUntil = `coalesce((SELECT max(to_at) FROM covered
      WHERE from_at <= month || '-01T00:00:00.000Z' AND to_at >= month || '-01T00:00:00.000Z'), ${ordersReadUntil})`;

/**
 * `through` is the last complete day of the month that was read: 31 if the month is over, null if no day is complete.
 * In the last subquery, `SELECT 1 LIMIT 1` prevents SQLite versions before 3.35 from recomputing `days` for each month.
 */
export const salesByMonth: View = {
  name: "sales_by_month",
  about:
    "one row per month (UTC) and currency; the current month is compared with the previous month through the same " +
    "day, the last complete day that was read",
  columns: [
    month,
    currency,
    ...orderFigures,
    boolean("is_partial", "true if the complete month has not been read yet"),
    amount("net_through", "net through the last complete day that was read, to compare with `net_before`"),
    amount("net_before", "net of the previous month; for the current month, only through the same day"),
  ],
  date: "month",
  example: `SELECT month, currency, net_through, net_before, round(100 * (net_through / net_before - 1), 1) AS growth
FROM sales_by_month WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-6 months')
ORDER BY currency, month`,
  sql: `WITH ${orderReads},
    days AS (
      SELECT *, substr(day, 1, 7) AS month, CAST(substr(day, 9) AS INTEGER) AS nth FROM sales_by_day ${materialized}),
    ends AS (
      SELECT month, strftime('%Y-%m', month || '-01', '-1 month') AS before, CASE
        WHEN month < substr(unread, 1, 7) THEN 31
        WHEN month = substr(unread, 1, 7) THEN nullif(substr(unread, 9) - 1, 0) END AS through
      FROM (SELECT month, date(${monthReadUntil}, '+0.001 seconds') AS unread FROM (SELECT DISTINCT month FROM days)) ${materialized}),
    months AS (
      SELECT month, currency, ${orderFigureSums}, before, through,
        CASE WHEN through > 0 THEN ${sumAmounts("CASE WHEN nth <= through THEN net_amount END")} END AS net_through
      FROM days LEFT JOIN ends USING (month) GROUP BY month, currency ${materialized})
  SELECT month, currency, ${orderFigureNames},
    CASE WHEN month IS NOT NULL THEN ${selectReportedAt("month")} IS NULL END AS is_partial, net_through,
    CASE WHEN through > 0 AND EXISTS (SELECT 1 FROM reads
        WHERE from_at <= before || '-01T00:00:00.000Z' AND to_at >= m.month || '-01T00:00:00.000Z')
      THEN (SELECT CASE WHEN count(*) > 0 THEN ${sumAmounts("CASE WHEN d.nth <= m.through THEN d.net_amount END")} END
      FROM (SELECT 1 LIMIT 1) JOIN days AS d WHERE d.month = m.before AND d.currency IS m.currency) END AS net_before
  FROM months AS m ORDER BY month, currency`,
};

export const refundsByMonth: View = {
  name: "refunds_by_month",
  about:
    "one row per month in which orders were placed (UTC) and currency, with all refunds of these orders to date",
  columns: [
    month,
    currency,
    ...orderFigures,
    integer("refunded_orders", "orders that count and were fully or partly refunded"),
    number("refund_rate", "refunded amount divided by gross amount, 0 to 1"),
  ],
  date: "month",
  example: `SELECT month, currency, refunded_amount, round(100 * refund_rate, 1) AS percent FROM refunds_by_month
WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-12 months') ORDER BY currency, month`,
  sql: `SELECT *, round(refunded_amount / nullif(gross_amount, 0), 6) AS refund_rate
    FROM (SELECT month, currency, ${orderFigureSums}, total(refunded_amount > 0) AS refunded_orders
      FROM order_figures GROUP BY month, currency) ORDER BY month, currency`,
};

import { integer, number, text, timestamp } from "../../resources/types.js";
import { figureColumns, money, summed } from "./figures.js";
import type { Definition } from "./view.js";

export const refundsByMonth: Definition = {
  about: "a month of orders (UTC) and currency, with what of it was refunded, whenever that came",
  columns: [
    text("month"),
    text("currency"),
    ...figureColumns,
    integer("refunded_orders", "orders that count, of which something was refunded"),
    number("refund_rate", "refunded amount by gross amount, 0 to 1; null without a gross"),
  ],
  date: "month",
  example: `SELECT month, currency, refunded_amount, round(100 * refund_rate, 1) AS percent FROM refunds_by_month
WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-12 months') ORDER BY currency, month`,
  sql: `SELECT *, round(refunded_amount / nullif(gross_amount, 0), 6) AS refund_rate
    FROM (SELECT month, currency, ${summed}, total(refunded_amount > 0) AS refunded_orders
      FROM order_figures GROUP BY month, currency) ORDER BY month, currency`,
};

/** Milliseconds between two times. */
const between = (from: string, to: string) =>
  `CAST(round((julianday(${to}) - julianday(${from})) * 86400000) AS INTEGER)`;

export const lateRefunds: Definition = {
  about:
    "a refund that this mirror saw come, of an order that counts, and how old the order was then: at least and at " +
    "most, since the API gives no date of a refund; what was there when the order was first read is not among them",
  columns: [
    text("order_id"),
    text("order_number"),
    timestamp("order_date"),
    text("month", "the order's month in UTC"),
    text("currency"),
    number("refunded_amount", "what came; less than 0 where a refund was taken back"),
    integer("days_at_least", "whole days from the order to when it was last seen without the refund"),
    integer("days_at_most", "days from the order to when the refund was seen, a day begun counted whole"),
    timestamp("last_seen_unchanged_at"),
    timestamp("seen_changed_at"),
    text("host_id"),
    text("host_username"),
  ],
  date: "seen_changed_at",
  example: `SELECT order_number, order_date, currency, refunded_amount, days_at_least, days_at_most FROM late_refunds
WHERE days_at_least > 30 ORDER BY seen_changed_at DESC LIMIT 20`,
  // An amount that went from null to 0 changed, and nothing was refunded.
  sql: `SELECT f.id AS order_id, f.order_number, f.order_date, f.month, f.currency,
      round(CAST(coalesce(c.new, 0) AS REAL) - CAST(coalesce(c.old, 0) AS REAL), 6) AS refunded_amount,
      max(0, ${between("f.ordered_at", "c.last_seen_unchanged_at")} / 86400000) AS days_at_least,
      max(0, (${between("f.ordered_at", "c.seen_changed_at")} + 86399999) / 86400000) AS days_at_most,
      c.last_seen_unchanged_at, c.seen_changed_at, f.host_id, f.host_username
    FROM changes AS c JOIN order_figures AS f ON f.id = c.key AND f.orders = 1
    WHERE c.resource = 'orders' AND c.field = 'refund_amount'
      AND CAST(coalesce(c.new, 0) AS REAL) <> CAST(coalesce(c.old, 0) AS REAL) ORDER BY c.change_id`,
};

const monthsSince0 = (at: string) => `(substr(${at}, 1, 4) * 12 + substr(${at}, 6, 2))`;

export const refundTriangle: Definition = {
  about:
    "what was refunded of a month's orders, by how many months old the month was: a refund stands where it was first " +
    "seen, the end of the interval in which it came; what was refunded before an order was first read is not in it",
  columns: [
    text("month", "the orders' month in UTC"),
    text("currency"),
    integer("age_months", "calendar months from the order's to the one in which the refund was seen"),
    number("refunded_amount", "what came at that age; what was taken back is subtracted"),
  ],
  date: "month",
  example: `SELECT month, currency, age_months, refunded_amount FROM refund_triangle
WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-6 months')
ORDER BY currency, month, age_months`,
  sql: `SELECT month, currency, age_months, ${money("refunded_amount")} AS refunded_amount
    FROM (SELECT month, currency, refunded_amount,
        max(0, ${monthsSince0("seen_changed_at")} - ${monthsSince0("month")}) AS age_months FROM late_refunds)
    GROUP BY month, currency, age_months ORDER BY month, currency, age_months`,
};

import { columnsOf, host } from "./columns.js";
import { numberIn } from "./figures.js";
import type { View } from "./view.js";

const [before, after] = ["c.old", "c.new"].map((amount) => `coalesce(${numberIn(amount)}, 0)`);

/** Milliseconds between two times. */
const between = (from: string, to: string) =>
  `CAST(round((julianday(${to}) - julianday(${from})) * 86400000) AS INTEGER)`;

export const lateRefunds: View = {
  name: "late_refunds",
  about:
    "one row per refund that this mirror saw come, of an order that counts; the API gives no date of a refund, so its " +
    "age is at least and at most so many days; a refund that was there when the order was first read has no row",
  columns: columnsOf(
    `order_id order_number order_date month currency refunded_amount days_at_least days_at_most last_seen_unchanged_at seen_changed_at ${host}`,
    { refunded_amount: "less than 0 if a refund was taken back" },
  ),
  date: "seen_changed_at",
  example: `SELECT order_number, order_date, currency, refunded_amount, days_at_least, days_at_most FROM late_refunds
WHERE days_at_least > 30 ORDER BY seen_changed_at DESC LIMIT 20`,
  // An amount that went from null to 0 changed, and nothing was refunded.
  sql: `SELECT f.id AS order_id, f.order_number, f.order_date, f.month, f.currency,
      round(${after} - ${before}, 6) AS refunded_amount,
      max(0, ${between("f.ordered_at", "c.last_seen_unchanged_at")} / 86400000) AS days_at_least,
      max(0, (${between("f.ordered_at", "c.seen_changed_at")} + 86399999) / 86400000) AS days_at_most,
      c.last_seen_unchanged_at, c.seen_changed_at, f.host_id, f.host_username, f.host_label
    FROM changes AS c JOIN order_figures AS f ON f.id = c.key AND f.orders = 1
    WHERE c.resource = 'orders' AND c.field = 'refund_amount'
      AND ${after} <> ${before} ORDER BY c.change_id`,
};

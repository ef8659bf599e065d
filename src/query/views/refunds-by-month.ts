import { columnsOf, figures } from "./columns.js";
import { summed } from "./figures.js";
import type { View } from "./view.js";

export const refundsByMonth: View = {
  name: "refunds_by_month",
  about:
    "one row per month of orders (UTC) and currency, with what of it was refunded, whenever the refund came",
  columns: columnsOf(`month currency ${figures} refunded_orders refund_rate`),
  date: "month",
  example: `SELECT month, currency, refunded_amount, round(100 * refund_rate, 1) AS percent FROM refunds_by_month
WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-12 months') ORDER BY currency, month`,
  sql: `SELECT *, round(refunded_amount / nullif(gross_amount, 0), 6) AS refund_rate
    FROM (SELECT month, currency, ${summed}, total(refunded_amount > 0) AS refunded_orders
      FROM order_figures GROUP BY month, currency) ORDER BY month, currency`,
};

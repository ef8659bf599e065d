import { columnsOf } from "./columns.js";
import { money } from "./figures.js";
import { reads, reportedAt } from "./history.js";
import type { View } from "./view.js";

export const restatements: View = {
  name: "restatements",
  about:
    "one row per closed month and currency: its net when it was reported and now; `restated_orders` names the orders " +
    "that make the difference, and `export sales_by_month --as-of` the `reported_at` shows all that was known then",
  columns: columnsOf("month currency reported_at net_reported net_now difference orders", {
    orders: "how many orders make the difference",
  }),
  date: "month",
  example: "SELECT * FROM restatements WHERE difference <> 0 ORDER BY month DESC, currency",
  sql: `WITH ${reads}
    SELECT month, currency, ${reportedAt("month")} AS reported_at,
      0 + round(total(now) - total(difference), 6) AS net_reported, ${money("now")} AS net_now,
      ${money("difference")} AS difference, total(orders) AS orders
    FROM (SELECT substr(day, 1, 7) AS month, currency, net_amount AS now, NULL AS difference, 0 AS orders FROM sales_by_day
      UNION ALL SELECT month, currency, NULL, difference, 1 FROM restated_orders)
    GROUP BY month, currency HAVING reported_at IS NOT NULL ORDER BY month, currency`,
};

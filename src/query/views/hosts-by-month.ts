import { columnsOf, figures, host } from "./columns.js";
import { figureNames, hostColumns, once, summed } from "./figures.js";
import type { View } from "./view.js";

/** A month's ranking is the newest answer for all hosts. Its rows without a host are added up. */
const rankings = `rankings AS (
    SELECT substr(t.period_start, 1, 7) AS month, coalesce(t.host_id, '') AS host, sum(t.total_clicks) AS clicks,
      CASE WHEN count(*) = 1 THEN max(t.conversion_rate) END AS conversion_rate, sum(t.orders) AS ranking_orders,
      round(sum(t.revenue), 6) AS ranking_revenue
    FROM analytics_clicks_top_hosts AS t WHERE t.asked_host_id IS NULL AND t.group_by = (
      SELECT p.group_by FROM analytics_clicks_periods AS p WHERE p.period_start = t.period_start AND p.host_id IS NULL
      ORDER BY p.synced_at DESC, p.group_by LIMIT 1)
    GROUP BY 1, 2 ${once})`;

export const hostsByMonth: View = {
  name: "hosts_by_month",
  about:
    "one row per host, month (UTC) and currency with orders; orders without a host have their own row; beside them what " +
    "the API's ranking of the month says of the host: it is of all currencies, so it stands in each of their rows",
  columns: columnsOf(
    `${host} month currency ${figures} clicks conversion_rate ranking_orders ranking_revenue`,
  ),
  date: "month",
  example: `SELECT host_label, currency, orders, net_amount, clicks, conversion_rate FROM hosts_by_month
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month') ORDER BY net_amount DESC LIMIT 10`,
  sql: `WITH ${rankings}
    SELECT ${hostColumns("m.host_id")}, m.month, m.currency, ${figureNames},
      r.clicks, r.conversion_rate, r.ranking_orders, r.ranking_revenue
    FROM (SELECT host_id, month, currency, ${summed} FROM order_figures
      GROUP BY month, host_id, currency) AS m
    LEFT JOIN rankings AS r ON r.month = m.month AND r.host = coalesce(m.host_id, '')
    ORDER BY m.month, m.host_id, m.currency`,
};

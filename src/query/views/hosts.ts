import { columnsOf } from "./columns.js";
import { hostLabel, hostUsername, once, summed } from "./figures.js";
import type { View } from "./view.js";

const sources = ["roster", "orders", "recommendations", "analytics_hosts"];

function idsOf(table: string): string {
  return `SELECT host_id AS id FROM ${table}`;
}

export const hosts: View = {
  name: "hosts",
  about:
    "one row per host: roster, orders, net and commission by currency, products, and the API's own ranking; orders without a host have their own row",
  columns: columnsOf(
    "id username host_label on_roster commission_rate campaigns_status orders cancelled_orders orders_without_total net_by_currency commission_by_currency clicks buy_now_clicks ranking_orders ranking_sales recommended_products",
    { id: "the host's id" },
  ),
  sql: `WITH ids AS (
      ${sources.map(idsOf).join("\n      UNION ")}
    ),
    sums AS (SELECT host_id, currency, ${summed} FROM order_figures GROUP BY host_id, currency),
    sales AS (
      SELECT coalesce(host_id, '') AS host, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
        sum(orders_without_total) AS orders_without_total,
        json_group_object(coalesce(currency, '?'), net_amount) AS net_by_currency,
        json_group_object(coalesce(currency, '?'), commission_amount) AS commission_by_currency
      FROM sums GROUP BY host_id ${once}
    ),
    ranking AS (
      SELECT coalesce(host_id, '') AS host, sum(clicks) AS clicks, sum(buy_now_clicks) AS buy_now_clicks,
        sum(orders) AS orders, sum(sales) AS sales
      FROM analytics_hosts GROUP BY host_id ${once}
    ),
    members AS (
      SELECT host_id, max(commission_rate) AS commission_rate, max(campaigns_status) AS campaigns_status
      FROM roster GROUP BY host_id ${once}
    ),
    listed AS (
      SELECT host_id, max(product_count) AS products FROM recommendations GROUP BY host_id ${once}
    )
    SELECT n.id, ${hostUsername("n.id")} AS username, ${hostLabel("n.id")} AS host_label, m.host_id IS NOT NULL AS on_roster,
      m.commission_rate, m.campaigns_status,
      coalesce(s.orders, 0) AS orders, coalesce(s.cancelled_orders, 0) AS cancelled_orders,
      coalesce(s.orders_without_total, 0) AS orders_without_total,
      s.net_by_currency, s.commission_by_currency,
      r.clicks, r.buy_now_clicks,
      r.orders AS ranking_orders, round(r.sales, 6) AS ranking_sales,
      coalesce(l.products, 0) AS recommended_products
    FROM ids AS n LEFT JOIN members AS m ON m.host_id = n.id LEFT JOIN sales AS s ON s.host = coalesce(n.id, '')
    LEFT JOIN ranking AS r ON r.host = coalesce(n.id, '') LEFT JOIN listed AS l ON l.host_id = n.id
    ORDER BY n.id`,
};

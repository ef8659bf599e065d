import { boolean, integer, json, number, text } from "../../resources/types.js";
import { figureColumns, money, summed } from "./figures.js";
import { versions } from "./history.js";
import type { Definition } from "./view.js";

/** The ranking of a month: of its answers for all hosts the one read last. Rows without a host are added up. */
const rankings = `rankings AS MATERIALIZED (
    SELECT substr(t.period_start, 1, 7) AS month, coalesce(t.host_id, '') AS host, sum(t.total_clicks) AS clicks,
      CASE WHEN count(*) = 1 THEN max(t.conversion_rate) END AS conversion_rate, sum(t.orders) AS ranking_orders,
      round(sum(t.revenue), 6) AS ranking_revenue
    FROM analytics_clicks_top_hosts AS t WHERE t.asked_host_id IS NULL AND t.group_by = (
      SELECT p.group_by FROM analytics_clicks_periods AS p WHERE p.period_start = t.period_start AND p.host_id IS NULL
      ORDER BY p.synced_at DESC, p.group_by LIMIT 1)
    GROUP BY 1, 2)`;

export const hostsByMonth: Definition = {
  about:
    "a host, month (UTC) and currency with orders, and beside them what the API's own ranking of the month says, where " +
    "it has the host: that is of all currencies, and stands in each of their rows; orders without a host are a row too",
  columns: [
    text("host_id"),
    text("host_username", "as on the newest of the orders"),
    text("month"),
    text("currency"),
    ...figureColumns,
    integer("clicks", "the ranking's `total_clicks`"),
    number("conversion_rate", "the ranking's: tracked orders divided by buy-now clicks, 0 to 1"),
    integer("ranking_orders", "the ranking's `orders`: its number, not ours"),
    number("ranking_revenue", "the ranking's `revenue`, in the store currency"),
  ],
  date: "month",
  example: `SELECT host_username, currency, orders, net_amount, clicks, conversion_rate FROM hosts_by_month
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month') ORDER BY net_amount DESC LIMIT 10`,
  sql: `WITH ${rankings}
    SELECT m.host_id, m.host_username, m.month, m.currency, ${figureColumns.map(({ name }) => `m.${name}`).join(", ")},
      r.clicks, r.conversion_rate,
      r.ranking_orders, r.ranking_revenue
    FROM (SELECT host_id, host_username, month, currency, ${summed}, max(ordered_at) FROM order_figures
      GROUP BY month, host_id, currency) AS m
    LEFT JOIN rankings AS r ON r.month = m.month AND r.host = coalesce(m.host_id, '')
    ORDER BY m.month, m.host_id, m.currency`,
};

/** What was known of an order before it changed is in its versions: the most, less what is left for that host. */
export const commissionByHost: Definition = {
  about:
    "a host and currency: the commission of the orders that count, and what was taken back: the most that this mirror " +
    "once knew an order to bring the host, less what it brings now; the API does not say what was paid",
  columns: [
    text("host_id"),
    text("host_username", "as on the newest of the orders"),
    text("currency"),
    integer("orders", "orders that count"),
    number("commission_amount", "their commission as the API states it: earned, not paid"),
    number("taken_back", "by refunds, cancellations, withdrawals and corrections, since each was first read"),
  ],
  example: `SELECT host_username, currency, orders, commission_amount, taken_back FROM commission_by_host
ORDER BY commission_amount DESC LIMIT 10`,
  sql: `WITH ${versions},
    most AS MATERIALIZED (SELECT record_id, host_id, host_username, currency, max(commission_amount) AS amount
      FROM versions WHERE present AND orders GROUP BY record_id, host_id, currency),
    all_of AS (
      SELECT host_id, host_username, currency, ordered_at, orders, commission_amount, NULL AS taken FROM order_figures
      UNION ALL SELECT m.host_id, m.host_username, m.currency, NULL, 0, NULL, max(0, m.amount - coalesce(
          (SELECT o.commission_amount FROM orders AS o WHERE o.record_id = m.record_id AND o.removed_at IS NULL
            AND o.is_cancelled IS NOT 1 AND o.host_id IS m.host_id AND o.currency IS m.currency), 0)) FROM most AS m)
    SELECT host_id, host_username, currency, orders, commission_amount, taken_back
    FROM (SELECT host_id, host_username, currency, total(orders) AS orders,
        ${money("commission_amount")} AS commission_amount, ${money("taken")} AS taken_back, max(ordered_at)
      FROM all_of GROUP BY host_id, currency)
    WHERE orders > 0 OR taken_back > 0 ORDER BY host_id, currency`,
};

export const hosts: Definition = {
  about:
    "a host on one line: roster, orders that count, net amounts and commission by currency, recommended products, and " +
    "beside ours the numbers of the API's own ranking, all time; orders without a host are a line too",
  columns: [
    text("id"),
    text("username"),
    boolean("on_roster"),
    number("commission_rate", "the roster's, percentage"),
    text("campaigns_status"),
    integer("orders", "orders that count"),
    integer("cancelled_orders"),
    integer("orders_without_total"),
    json("net_by_currency"),
    json("commission_by_currency"),
    integer("clicks", "the ranking's"),
    integer("buy_now_clicks", "the ranking's"),
    integer("ranking_orders", "the ranking's `orders`: its number, not ours"),
    number("ranking_sales", "the ranking's `sales`, in the store currency"),
    integer("recommended_products"),
  ],
  example:
    "SELECT username, orders, ranking_orders, net_by_currency, clicks FROM hosts ORDER BY orders DESC LIMIT 10",
  sql: `WITH ids AS (
      SELECT host_id AS id, host_username AS username FROM roster WHERE removed_at IS NULL
      UNION SELECT host_id, host_username FROM order_figures
      UNION SELECT host_id, host_username FROM recommendations WHERE removed_at IS NULL
      UNION SELECT host_id, host_username FROM analytics_hosts WHERE removed_at IS NULL
    ),
    names AS (SELECT id, max(username) AS username FROM ids GROUP BY id),
    sums AS (SELECT host_id, currency, ${summed} FROM order_figures GROUP BY host_id, currency),
    sales AS MATERIALIZED (
      SELECT coalesce(host_id, '') AS host, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
        sum(orders_without_total) AS orders_without_total,
        json_group_object(coalesce(currency, '?'), net_amount) AS net_by_currency,
        json_group_object(coalesce(currency, '?'), commission_amount) AS commission_by_currency
      FROM sums GROUP BY host_id
    ),
    ranking AS MATERIALIZED (
      SELECT coalesce(host_id, '') AS host, sum(clicks) AS clicks, sum(buy_now_clicks) AS buy_now_clicks,
        sum(orders) AS orders, sum(sales) AS sales
      FROM analytics_hosts WHERE removed_at IS NULL GROUP BY host_id
    ),
    members AS MATERIALIZED (
      SELECT host_id, max(commission_rate) AS commission_rate, max(campaigns_status) AS campaigns_status
      FROM roster WHERE removed_at IS NULL GROUP BY host_id
    ),
    listed AS MATERIALIZED (
      SELECT host_id, max(product_count) AS products FROM recommendations WHERE removed_at IS NULL GROUP BY host_id
    )
    SELECT n.id, n.username, m.host_id IS NOT NULL AS on_roster,
      m.commission_rate, m.campaigns_status,
      coalesce(s.orders, 0) AS orders, coalesce(s.cancelled_orders, 0) AS cancelled_orders,
      coalesce(s.orders_without_total, 0) AS orders_without_total,
      s.net_by_currency, s.commission_by_currency,
      r.clicks, r.buy_now_clicks,
      r.orders AS ranking_orders, round(r.sales, 6) AS ranking_sales,
      coalesce(l.products, 0) AS recommended_products
    FROM names AS n LEFT JOIN members AS m ON m.host_id = n.id LEFT JOIN sales AS s ON s.host = coalesce(n.id, '')
    LEFT JOIN ranking AS r ON r.host = coalesce(n.id, '') LEFT JOIN listed AS l ON l.host_id = n.id
    ORDER BY n.id`,
};

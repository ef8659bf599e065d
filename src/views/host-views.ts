import { amount, boolean, integer, json, number, text, timestamp } from "../resources/fields.js";
import { numberFromSqlText } from "../util/numbers.js";
import { orderVersionsSql } from "./order-history.js";
import {
  amountSumSql,
  currencyColumn,
  hostColumns,
  hostColumnsSql,
  hostLabelColumn,
  hostLabelSql,
  hostUsernameColumn,
  hostUsernameSql,
  materializedSql,
  monthColumn,
  orderCountColumns,
  orderFigureColumns,
  orderFigureNamesSql,
  orderFigureSumsSql,
  type View,
} from "./view.js";

/** The IDs of all hosts. Null stands for records without a host. */
const hostIdsSql = `host_ids AS (
      SELECT host_id AS id FROM roster
      UNION SELECT host_id AS id FROM orders
      UNION SELECT host_id AS id FROM recommendations
      UNION SELECT host_id AS id FROM analytics_hosts
    )`;

/** Sales by host. An empty string stands for a null ID, so that rows can be joined with `=`. */
const salesByHostSql = `sales_by_currency AS (SELECT host_id, currency, ${orderFigureSumsSql} FROM order_figures GROUP BY host_id, currency),
    sales_by_host AS (
      SELECT coalesce(host_id, '') AS host, sum(orders) AS orders, sum(cancelled_orders) AS cancelled_orders,
        sum(orders_without_total) AS orders_without_total,
        json_group_object(coalesce(currency, '?'), net_amount) AS net_by_currency,
        json_group_object(coalesce(currency, '?'), commission_amount) AS commission_by_currency
      FROM sales_by_currency GROUP BY host_id ${materializedSql}
    )`;

/** The API's all-time ranking. As in `sales_by_host`, an empty string stands for a null ID. */
const allTimeRankingSql = `all_time_ranking AS (
      SELECT coalesce(host_id, '') AS host, sum(clicks) AS clicks, sum(buy_now_clicks) AS buy_now_clicks,
        sum(orders) AS orders, sum(sales) AS sales
      FROM analytics_hosts GROUP BY host_id ${materializedSql}
    )`;

const rosterMembersSql = `roster_members AS (
      SELECT host_id, max(commission_rate) AS commission_rate, max(campaigns_status) AS campaigns_status
      FROM roster GROUP BY host_id ${materializedSql}
    )`;

const recommendedProductsSql = `recommended_products AS (
      SELECT host_id, max(product_count) AS products FROM recommendations GROUP BY host_id ${materializedSql}
    )`;

export const hosts: View = {
  name: "hosts",
  about:
    "one row per host, with roster data, orders, net and commission by currency, products, and the API's all-time ranking; " +
    "orders without a host share one row",
  columns: [
    text("id", "the host's ID"),
    hostUsernameColumn,
    hostLabelColumn,
    boolean("on_roster"),
    number("commission_rate", "percentage"),
    text("campaigns_status"),
    ...orderCountColumns,
    json("net_by_currency"),
    json("commission_by_currency"),
    integer("clicks", "clicks according to the API's host ranking"),
    integer("buy_now_clicks", "buy-now clicks according to the API's host ranking"),
    integer("ranking_orders", "orders according to the API's host ranking; can differ from `orders`"),
    amount("ranking_sales", "sales according to the API's host ranking, in the store currency"),
    integer("recommended_products"),
    text("username", "identical to `host_username`"),
  ],
  reads: ["analytics_hosts", "host_names", "orders", "recommendations", "roster"],
  sql: `WITH ${hostIdsSql},
    ${salesByHostSql},
    ${allTimeRankingSql},
    ${rosterMembersSql},
    ${recommendedProductsSql}
    SELECT ids.id, ${hostUsernameSql("ids.id")} AS host_username, ${hostUsernameSql("ids.id")} AS username,
      ${hostLabelSql("ids.id")} AS host_label, members.host_id IS NOT NULL AS on_roster,
      members.commission_rate, members.campaigns_status,
      coalesce(sales_by_host.orders, 0) AS orders, coalesce(sales_by_host.cancelled_orders, 0) AS cancelled_orders,
      coalesce(sales_by_host.orders_without_total, 0) AS orders_without_total,
      sales_by_host.net_by_currency, sales_by_host.commission_by_currency,
      ranking.clicks, ranking.buy_now_clicks,
      ranking.orders AS ranking_orders, round(ranking.sales, 6) AS ranking_sales,
      coalesce(recommended.products, 0) AS recommended_products
    FROM host_ids AS ids LEFT JOIN roster_members AS members ON members.host_id = ids.id
    LEFT JOIN sales_by_host ON sales_by_host.host = coalesce(ids.id, '')
    LEFT JOIN all_time_ranking AS ranking ON ranking.host = coalesce(ids.id, '')
    LEFT JOIN recommended_products AS recommended ON recommended.host_id = ids.id
    ORDER BY ids.id`,
};

/** For each month, selects the most recently read ranking of all hosts. Entries without a host are combined. */
const monthlyRankingsSql = `monthly_rankings AS (
    SELECT substr(entries.period_start, 1, 7) AS month, coalesce(entries.host_id, '') AS host,
      sum(entries.total_clicks) AS clicks,
      CASE WHEN count(*) = 1 THEN max(entries.conversion_rate) END AS conversion_rate,
      sum(entries.orders) AS ranking_orders, round(sum(entries.revenue), 6) AS ranking_revenue
    FROM analytics_clicks_top_hosts AS entries WHERE entries.asked_host_id IS NULL AND entries.group_by = (
      SELECT periods.group_by FROM analytics_clicks_periods AS periods
      WHERE periods.period_start = entries.period_start AND periods.host_id IS NULL
      ORDER BY periods.synced_at DESC, periods.group_by LIMIT 1)
    GROUP BY 1, 2 ${materializedSql})`;

export const hostsByMonth: View = {
  name: "hosts_by_month",
  about:
    "one row per host, month (UTC) and currency with orders; orders without a host share one row; " +
    "the figures from the API's monthly ranking cover all currencies and are repeated in every row for the host",
  columns: [
    ...hostColumns,
    monthColumn,
    currencyColumn,
    ...orderFigureColumns,
    integer(
      "clicks",
      "clicks according to the API's monthly ranking; null if the ranking does not contain the host, or if no sync has read that month's clicks",
    ),
    number(
      "conversion_rate",
      "tracked orders divided by buy-now clicks, 0 to 1, according to the API's monthly ranking",
    ),
    integer("ranking_orders", "orders according to the API's monthly ranking; can differ from `orders`"),
    amount("ranking_revenue", "revenue according to the API's monthly ranking, in the store currency"),
  ],
  date: "month",
  example: `SELECT host_label, currency, orders, net_amount, clicks, conversion_rate FROM hosts_by_month
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month') ORDER BY net_amount DESC LIMIT 10`,
  reads: ["analytics_clicks_periods", "analytics_clicks_top_hosts", "host_names", "orders"],
  sql: `WITH ${monthlyRankingsSql}
    SELECT ${hostColumnsSql("sales.host_id")}, sales.month, sales.currency, ${orderFigureNamesSql},
      rankings.clicks, rankings.conversion_rate, rankings.ranking_orders, rankings.ranking_revenue
    FROM (SELECT host_id, month, currency, ${orderFigureSumsSql} FROM order_figures
      GROUP BY month, host_id, currency) AS sales
    LEFT JOIN monthly_rankings AS rankings
      ON rankings.month = sales.month AND rankings.host = coalesce(sales.host_id, '')
    ORDER BY sales.month, sales.host_id, sales.currency`,
};

/** The highest commission seen for each order, with the host and currency that the order had at that time. */
const highestCommissionsSql = `highest_commissions AS (SELECT record_id, host_id, currency, max(commission_amount) AS amount
      FROM order_versions WHERE orders GROUP BY record_id, host_id, currency ${materializedSql})`;

/** Each order's current commission, and the amount by which it has fallen from the highest one. */
const commissionPartsSql = `commission_parts AS (
      SELECT host_id, currency, orders, commission_amount, NULL AS taken FROM order_figures
      UNION ALL SELECT highest.host_id, highest.currency, 0, NULL, max(0, highest.amount - coalesce(
          (SELECT o.commission_amount FROM orders AS o WHERE o.record_id = highest.record_id
            AND o.is_cancelled IS NOT 1 AND o.host_id IS highest.host_id AND o.currency IS highest.currency), 0))
        FROM highest_commissions AS highest)`;

export const commissionByHost: View = {
  name: "commission_by_host",
  about:
    "one row per host and currency, with the commission earned on orders that are neither removed nor cancelled, and the commission clawed back (the highest commission seen for each order minus the current one); " +
    "the API does not report payments",
  columns: [
    ...hostColumns,
    currencyColumn,
    integer("orders", "orders that are neither removed nor cancelled"),
    amount("commission_amount", "the commission that the host has earned (the API does not report payments)"),
    amount(
      "taken_back",
      "the commission clawed back after refunds, cancellations, withdrawals and corrections",
    ),
  ],
  reads: ["host_names", "orders", "orders_removed", "record_versions"],
  sql: `WITH ${orderVersionsSql},
    ${highestCommissionsSql},
    ${commissionPartsSql}
    SELECT ${hostColumnsSql("commissions.host_id")}, currency, orders, commission_amount, taken_back
    FROM (SELECT host_id, currency, total(orders) AS orders,
        ${amountSumSql("commission_amount")} AS commission_amount, ${amountSumSql("taken")} AS taken_back
      FROM commission_parts GROUP BY host_id, currency) AS commissions
    WHERE orders > 0 OR taken_back > 0 ORDER BY host_id, currency`,
};

export const contentByHost: View = {
  name: "content_by_host",
  about: "one row per host with files in the library; files without a host share one row",
  columns: [
    ...hostColumns,
    ...["files", "deliverables", "uploads", "images", "videos", "campaigns", "bytes"].map((name) =>
      integer(name),
    ),
    timestamp("last_added_at"),
  ],
  // In a query with max(), SQLite takes all other columns, such as `created_at`, from the row with the highest value.
  reads: ["content", "host_names"],
  sql: `SELECT ${hostColumnsSql("content.host_id")}, count(*) AS files,
      total(source = 'deliverable') AS deliverables, total(source = 'upload') AS uploads,
      total(media_type = 'image') AS images, total(media_type = 'video') AS videos,
      count(DISTINCT opportunity_id) AS campaigns, total(file_size_bytes) AS bytes,
      created_at AS last_added_at, max(created_at_utc)
    FROM content GROUP BY content.host_id ORDER BY host_id`,
};

const [oldRateSql, newRateSql] = [numberFromSqlText("changes.old"), numberFromSqlText("changes.new")];

export const rosterChanges: View = {
  name: "roster_changes",
  about:
    "one row per roster change that a sync detected: a host joined or left, or a host's rate changed; " +
    "hosts found by the first sync do not count as changes (`roster` contains the dates on which they joined)",
  columns: [
    timestamp("seen_at", "the time at which the change was first seen"),
    text("what", "`joined`, `left` or `rate`"),
    ...hostColumns,
    number("old", "the previous commission rate, as a percentage"),
    number("new", "the new commission rate, as a percentage"),
    timestamp(
      "last_seen_at",
      "the time at which the old value was last seen; the change happened between this time and `seen_at`",
    ),
    text("relationship_id"),
  ],
  date: "seen_at",
  example: `SELECT seen_at, what, host_label, old, new FROM roster_changes
WHERE seen_at >= date('now', 'start of month', '-1 month') ORDER BY seen_at`,
  reads: ["changes", "host_names", "roster", "roster_removed"],
  sql: `SELECT changes.seen_changed_at AS seen_at,
      CASE changes.kind WHEN 'changed' THEN 'rate' WHEN 'removed' THEN 'left' ELSE 'joined' END AS what,
      ${hostColumnsSql("members.host_id")}, ${oldRateSql} AS old, ${newRateSql} AS new,
      changes.last_seen_unchanged_at AS last_seen_at, members.relationship_id
    FROM changes JOIN (
        SELECT relationship_id, host_id FROM roster
        UNION ALL SELECT relationship_id, host_id FROM roster_removed
      ) AS members ON members.relationship_id = changes.key
    WHERE changes.resource = 'roster'
      AND (changes.kind <> 'changed' OR (changes.field = 'commission_rate' AND ${oldRateSql} IS NOT ${newRateSql}))
    ORDER BY changes.change_id`,
};

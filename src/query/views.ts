import type { ScalarType } from "../resources/types.js";

/** A view for analysts: part of the mirror, so that any SQL program has it. */
export interface View {
  name: string;
  about: string;
  /** A query to begin with, for the README. */
  example: string;
  sql: string;
  /** The table whose columns it has, so that they are written alike. */
  like?: string;
  /** What columns hold that it works out itself. */
  types?: Readonly<Record<string, ScalarType>>;
  /** The integer that orders its rows and never changes, where each is a row of a table: it is read as fast as that. */
  rowId?: string;
}

/**
 * Sums are rounded to six digits: what binary fractions add to them is no money.
 * Amounts of different currencies are never added: where a row is about several, they stand in a JSON object.
 */
export const views: readonly View[] = [
  {
    name: "orders_net",
    types: { month: "text", refunded_amount: "number", net_amount: "number" },
    rowId: "record_id",
    about: "orders that count, with what is left after refunds; cancelled orders have a net of 0",
    example: "SELECT currency, sum(net_amount) FROM orders_net GROUP BY currency",
    sql: `SELECT id, order_number, order_date, substr(order_date, 1, 7) AS month, currency,
        total_amount AS gross_amount, coalesce(refund_amount, 0) AS refunded_amount,
        CASE WHEN is_cancelled THEN 0 ELSE round(total_amount - coalesce(refund_amount, 0), 6) END AS net_amount,
        commission_amount, is_cancelled, is_refunded, attribution, host_id, host_username, record_id
      FROM orders WHERE removed_at IS NULL`,
  },
  {
    name: "refunds_by_month",
    about: "refunds by the month of the order and currency",
    example: "SELECT * FROM refunds_by_month WHERE month >= '2026-01' ORDER BY month",
    sql: `SELECT month, currency, count(*) AS orders, sum(refunded_amount > 0) AS refunded_orders,
        round(sum(gross_amount), 6) AS gross_amount, round(sum(refunded_amount), 6) AS refunded_amount
      FROM orders_net GROUP BY month, currency`,
  },
  {
    name: "refunds_by_age",
    about:
      "refunds that this mirror saw come, by how old the order was: at least and at most, since the API gives no date of a refund",
    example: "SELECT days_at_most / 7 AS week, count(*) FROM refunds_by_age GROUP BY 1",
    sql: `SELECT o.id AS order_id, o.order_date, o.currency,
        round(CAST(coalesce(c.new, 0) AS REAL) - CAST(coalesce(c.old, 0) AS REAL), 6) AS refunded_amount,
        max(0, CAST(julianday(c.last_seen_unchanged_at) - julianday(o.order_date) AS INTEGER)) AS days_at_least,
        CAST(julianday(c.seen_changed_at) - julianday(o.order_date) AS INTEGER) + 1 AS days_at_most,
        c.last_seen_unchanged_at, c.seen_changed_at
      FROM changes c JOIN orders o ON o.id = c.key
      WHERE c.resource = 'orders' AND c.field = 'refund_amount'`,
  },
  {
    name: "commission_taken_back",
    about:
      "commission that went down after it was first seen, by host and currency; an order that was withdrawn or cancelled counts whole",
    example:
      "SELECT host_username, currency, amount FROM commission_taken_back ORDER BY amount DESC LIMIT 10",
    sql: `WITH cuts AS (
        SELECT key, max(0, CAST(coalesce(old, 0) AS REAL) - CAST(coalesce(new, 0) AS REAL)) AS amount FROM changes
          WHERE resource = 'orders' AND field = 'commission_amount'
        UNION ALL
        SELECT c.key, coalesce(o.commission_amount, 0) FROM changes c JOIN orders o ON o.id = c.key
          WHERE c.resource = 'orders'
            AND ((c.kind = 'removed' AND o.removed_at IS NOT NULL) OR (c.field = 'is_cancelled' AND c.new = 'true' AND o.is_cancelled))
      )
      SELECT o.host_id, max(o.host_username) AS host_username, o.currency, round(sum(cuts.amount), 6) AS amount, count(*) AS changes
      FROM cuts JOIN orders o ON o.id = cuts.key WHERE cuts.amount > 0 GROUP BY o.host_id, o.currency`,
  },
  {
    name: "hosts",
    types: { on_roster: "boolean" },
    about:
      "each host on one line: roster, orders, net amounts and commission by currency, clicks, recommended products",
    example: "SELECT username, orders, net_by_currency, clicks FROM hosts ORDER BY orders DESC LIMIT 10",
    sql: `WITH ids AS (
        SELECT host_id AS id, host_username AS username FROM roster WHERE removed_at IS NULL
        UNION SELECT host_id, host_username FROM orders WHERE removed_at IS NULL AND host_id IS NOT NULL
        UNION SELECT host_id, host_username FROM recommendations WHERE removed_at IS NULL
        UNION SELECT host_id, host_username FROM analytics_hosts WHERE removed_at IS NULL AND host_id IS NOT NULL
      ),
      sums AS (
        SELECT host_id, currency, count(*) AS orders, sum(net_amount) AS net,
          sum(CASE WHEN is_cancelled THEN 0 ELSE commission_amount END) AS commission
        FROM orders_net WHERE host_id IS NOT NULL GROUP BY host_id, currency
      ),
      sales AS (
        SELECT host_id, sum(orders) AS orders, json_group_object(coalesce(currency, '?'), round(net, 2)) AS net_by_currency,
          json_group_object(coalesce(currency, '?'), round(commission, 2)) AS commission_by_currency
        FROM sums GROUP BY host_id
      )
      SELECT ids.id, max(ids.username) AS username, max(r.host_id IS NOT NULL) AS on_roster,
        max(r.commission_rate) AS commission_rate, max(r.campaigns_status) AS campaigns_status,
        coalesce(max(s.orders), 0) AS orders, max(s.net_by_currency) AS net_by_currency,
        max(s.commission_by_currency) AS commission_by_currency,
        max(a.clicks) AS clicks, max(a.buy_now_clicks) AS buy_now_clicks,
        coalesce(max(p.product_count), 0) AS recommended_products
      FROM ids
      LEFT JOIN roster r ON r.host_id = ids.id AND r.removed_at IS NULL
      LEFT JOIN sales s ON s.host_id = ids.id
      LEFT JOIN analytics_hosts a ON a.host_id = ids.id AND a.removed_at IS NULL
      LEFT JOIN recommendations p ON p.host_id = ids.id AND p.removed_at IS NULL
      WHERE ids.id IS NOT NULL GROUP BY ids.id`,
  },
  {
    name: "campaign_progress",
    about: "each campaign with its deliverables and the states of its assignments and payments",
    example:
      "SELECT title, status, deliverables_done, deliverables, assignments_completed, assignments FROM campaign_progress",
    sql: `SELECT o.id, o.title, o.status, o.deadline,
        (SELECT count(*) FROM opportunity_deliverables d WHERE d.opportunity_id = o.id) AS deliverables,
        (SELECT count(completed_at) FROM opportunity_deliverables d WHERE d.opportunity_id = o.id) AS deliverables_done,
        count(a.id) AS assignments,
        coalesce(sum(a.status = 'ACTIVE'), 0) AS assignments_active,
        coalesce(sum(a.status = 'COMPLETED'), 0) AS assignments_completed,
        coalesce(sum(a.brand_payment_state = 'PAID'), 0) AS paid_by_brand,
        coalesce(sum(a.athlete_payment_state = 'PAID'), 0) AS paid_to_hosts
      FROM opportunities o LEFT JOIN opportunity_assignments a ON a.opportunity_id = o.id
      WHERE o.removed_at IS NULL GROUP BY o.id`,
  },
  {
    name: "analytics_hosts_daily",
    about:
      "clicks and sales per host and day: differences of the all-time totals between one snapshot and the one before (`since`)",
    example: "SELECT date, sum(clicks), sum(sales) FROM analytics_hosts_daily GROUP BY date",
    sql: `SELECT date, since, host_id, host_username, clicks, buy_now_clicks, orders, sales FROM (
        SELECT s.date, (SELECT max(d.date) FROM analytics_hosts_days d WHERE d.date < s.date) AS since, s.host_id, s.host_username,
          s.clicks - coalesce(lag(s.clicks) OVER w, 0) AS clicks,
          s.buy_now_clicks - coalesce(lag(s.buy_now_clicks) OVER w, 0) AS buy_now_clicks,
          s.orders - coalesce(lag(s.orders) OVER w, 0) AS orders,
          round(s.sales - coalesce(lag(s.sales) OVER w, 0), 6) AS sales
        FROM analytics_hosts_snapshots s WINDOW w AS (PARTITION BY s.host_id ORDER BY s.date)
      ) WHERE since IS NOT NULL`,
  },
  {
    name: "codes_current",
    like: "codes",
    about: "discount codes as far as known: every column seen, without those that are gone",
    example: "SELECT * FROM codes_current LIMIT 10",
    sql: "SELECT * FROM codes WHERE removed_at IS NULL",
  },
  {
    name: "gifts_current",
    like: "gifts",
    about: "gifts as far as known: every column seen, without those that are gone",
    example: "SELECT * FROM gifts_current LIMIT 10",
    sql: "SELECT * FROM gifts WHERE removed_at IS NULL",
  },
];

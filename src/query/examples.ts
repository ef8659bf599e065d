import { views } from "./views/index.js";

/** A query to begin with, for tables that are read together with another, or by more than their columns. */
const examples: Readonly<Record<string, string>> = {
  orders: `SELECT month, currency, count(*) AS orders, round(sum(total_amount), 2) AS gross
FROM orders WHERE removed_at IS NULL AND is_cancelled IS NOT 1 GROUP BY month, currency ORDER BY month DESC`,
  order_line_items: `SELECT i.sku, i.title, o.currency, sum(i.quantity) AS sold, sum(i.quantity * i.price) AS worth
FROM order_line_items i JOIN orders o ON o.id = i.order_id
WHERE o.removed_at IS NULL AND o.is_cancelled IS NOT 1
GROUP BY i.sku, i.title, o.currency ORDER BY sold DESC LIMIT 10`,
  roster: `SELECT host_username, commission_rate, joined_at, host_socials ->> 'instagram' AS instagram
FROM roster WHERE removed_at IS NULL ORDER BY joined_at DESC LIMIT 10`,
  opportunity_deliverables: `SELECT o.title AS campaign, d.title, d.due_date
FROM opportunity_deliverables d JOIN opportunities o ON o.id = d.opportunity_id
WHERE d.completed_at IS NULL AND o.status = 'ACTIVE' ORDER BY d.due_date`,
  content: `SELECT media_type, uploaded_by, count(*) AS files, sum(file_size_bytes) / 1000000 AS megabytes
FROM content WHERE removed_at IS NULL GROUP BY 1, 2 ORDER BY files DESC`,
  analytics_clicks: `SELECT date, total_clicks, buy_now_clicks, orders, revenue
FROM analytics_clicks WHERE group_by = 'day' AND host_id IS NULL ORDER BY date DESC LIMIT 14`,
};

/** Returns a query to begin with: by default the first five rows. */
export function exampleFor(table: string): string {
  const view = views.find(({ name }) => name === table);
  return view?.example ?? examples[table] ?? `SELECT * FROM ${table} LIMIT 5`;
}

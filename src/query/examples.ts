import { views } from "./views/index.js";

/** A query to begin with for each table; a view has its own. */
const examples: Readonly<Record<string, string>> = {
  orders: `SELECT month, currency, count(*) AS orders, round(sum(total_amount), 2) AS gross
FROM orders WHERE removed_at IS NULL AND is_cancelled IS NOT 1 GROUP BY month, currency ORDER BY month DESC`,
  order_line_items: `SELECT i.sku, i.title, o.currency, sum(i.quantity) AS sold, sum(i.quantity * i.price) AS worth
FROM order_line_items i JOIN orders o ON o.id = i.order_id
WHERE o.removed_at IS NULL AND o.is_cancelled IS NOT 1
GROUP BY i.sku, i.title, o.currency ORDER BY sold DESC LIMIT 10`,
  roster: `SELECT host_username, commission_rate, joined_at, host_socials ->> 'instagram' AS instagram
FROM roster WHERE removed_at IS NULL ORDER BY joined_at DESC LIMIT 10`,
  recommendations: `SELECT host_username, product_count FROM recommendations
WHERE removed_at IS NULL ORDER BY product_count DESC LIMIT 10`,
  recommendation_products: `SELECT title, count(*) AS hosts FROM recommendation_products
GROUP BY id, title ORDER BY hosts DESC LIMIT 10`,
  opportunities: `SELECT title, status, deadline, payment_flatFee, assignment_counts ->> 'ACTIVE' AS active_hosts
FROM opportunities WHERE removed_at IS NULL AND status IN ('PROPOSED', 'ACTIVE') ORDER BY deadline`,
  opportunity_deliverables: `SELECT o.title AS campaign, d.title, d.due_date
FROM opportunity_deliverables d JOIN opportunities o ON o.id = d.opportunity_id
WHERE d.completed_at IS NULL AND o.status = 'ACTIVE' ORDER BY d.due_date`,
  opportunity_assignments: `SELECT status, brand_payment_state, athlete_payment_state, count(*) AS hosts
FROM opportunity_assignments GROUP BY 1, 2, 3 ORDER BY hosts DESC`,
  opportunity_attachments: `SELECT o.title AS campaign, a.filename, a.file_size_bytes
FROM opportunity_attachments a JOIN opportunities o ON o.id = a.opportunity_id LIMIT 10`,
  content: `SELECT media_type, uploaded_by, count(*) AS files, sum(file_size_bytes) / 1000000 AS megabytes
FROM content WHERE removed_at IS NULL GROUP BY 1, 2 ORDER BY files DESC`,
  analytics_clicks_periods: `SELECT period_start, total_clicks, unique_sessions, orders, revenue, synced_at
FROM analytics_clicks_periods WHERE group_by = 'day' AND host_id IS NULL ORDER BY period_start DESC LIMIT 12`,
  analytics_clicks: `SELECT date, total_clicks, buy_now_clicks, orders, revenue
FROM analytics_clicks WHERE group_by = 'day' AND host_id IS NULL ORDER BY date DESC LIMIT 14`,
  analytics_clicks_top_hosts: `SELECT period_start, host_username, total_clicks, orders FROM analytics_clicks_top_hosts
WHERE group_by = 'day' AND asked_host_id IS NULL AND position < 3
ORDER BY period_start DESC, position LIMIT 12`,
  analytics_clicks_top_products: `SELECT period_start, title, total_clicks FROM analytics_clicks_top_products
WHERE group_by = 'day' AND host_id IS NULL AND position < 3
ORDER BY period_start DESC, position LIMIT 12`,
  analytics_hosts: `SELECT position + 1 AS place, host_username, clicks, orders, sales
FROM analytics_hosts WHERE removed_at IS NULL ORDER BY position LIMIT 10`,
  gifts: "SELECT * FROM gifts WHERE removed_at IS NULL LIMIT 5",
  codes: "SELECT * FROM codes WHERE removed_at IS NULL LIMIT 5",
  surveys: "SELECT * FROM surveys WHERE removed_at IS NULL LIMIT 5",
  survey_results: "SELECT survey_id, count(*) AS records FROM survey_results GROUP BY survey_id",
};

/** Returns a query to begin with: by default the first five rows. */
export function exampleFor(table: string): string {
  const view = views.find(({ name }) => name === table);
  return view?.example ?? examples[table] ?? `SELECT * FROM ${table} LIMIT 5`;
}

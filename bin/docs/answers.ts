/** A question that people ask of a mirror, and the SELECT that answers it: at most three lines. */
export interface Answer {
  name: string;
  question: string;
  sql: string;
}

/** Each is checked against the API's own records: test/query/answers.test.ts. */
export const answers = [
  {
    name: "net",
    question: "What is left after refunds, by month and currency?",
    sql: `SELECT month, currency, orders, gross_amount, refunded_amount, net_amount
FROM sales_by_month ORDER BY month DESC, currency LIMIT 12`,
  },
  {
    name: "refund rate",
    question: "How much of each month was refunded?",
    sql: `SELECT month, currency, orders, refunded_orders, round(100 * refund_rate, 1) AS percent
FROM refunds_by_month ORDER BY month DESC, currency LIMIT 12`,
  },
  {
    name: "hosts",
    question: "Which hosts brought most last month, with their clicks and conversion?",
    sql: `SELECT host_username, currency, orders, net_amount, clicks, conversion_rate FROM hosts_by_month
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month')
ORDER BY net_amount DESC LIMIT 10`,
  },
  {
    name: "roster",
    question: "Who joined and who left since the beginning of last month?",
    sql: `SELECT date(seen_at) AS day, what, host_username FROM roster_changes
WHERE what IN ('joined', 'left') AND seen_at >= date('now', 'start of month', '-1 month')
ORDER BY seen_at, what, host_username`,
  },
  {
    name: "commission",
    question: "What commission did each host earn, and what was taken back?",
    sql: `SELECT host_username, currency, orders, commission_amount, taken_back
FROM commission_by_host ORDER BY commission_amount DESC LIMIT 10`,
  },
  {
    name: "late refunds",
    question: "Which refunds came more than 30 days after the order?",
    sql: `SELECT order_number, date(order_date) AS ordered, currency, refunded_amount, days_at_least, days_at_most
FROM late_refunds WHERE days_at_least > 30 ORDER BY refunded_amount DESC LIMIT 10`,
  },
  {
    name: "campaigns",
    question: "How far are the campaigns, and what is still open?",
    sql: `SELECT title, status, deadline, deliverables_open, assignments_open, payments_open, payouts_open
FROM campaigns_owing ORDER BY deadline, title LIMIT 10`,
  },
  {
    name: "content",
    question: "How much content is there of each host?",
    sql: `SELECT host_username, files, images, videos, date(last_added_at) AS last_added
FROM content_by_host WHERE host_id IS NOT NULL ORDER BY files DESC, host_username LIMIT 10`,
  },
  {
    name: "growth",
    question: "How does each month compare with the one before, the running one through its last whole day?",
    sql: `SELECT month, currency, is_partial, net_through, net_before,
  round(100 * net_through / net_before - 100, 1) AS more
FROM sales_by_month ORDER BY month DESC, currency LIMIT 12`,
  },
  {
    name: "week",
    question: "How were the last seven whole days, for Monday's mail?",
    sql: `SELECT currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled, round(sum(net_amount), 2) AS net
FROM sales_by_day WHERE day >= date('now', '-7 days') AND day < date('now')
GROUP BY currency`,
  },
] as const satisfies readonly Answer[];

export interface ExampleQuery {
  name: string;
  question: string;
  sql: string;
}

/**
 * The documentation's example queries. Tests in test/query compare each result with one computed from the API's
 * records.
 */
export const pageQueries = [
  {
    name: "hosts",
    question: "Which hosts sold the most last month, and what were their clicks and conversion rates?",
    sql: `SELECT host_username, currency, orders, net_amount, clicks, conversion_rate FROM hosts_by_month
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month')
ORDER BY net_amount DESC LIMIT 10`,
  },
  {
    name: "commission",
    question: "How much commission did each host earn, and how much was clawed back?",
    sql: `SELECT host_username, currency, orders, commission_amount, taken_back
FROM commission_by_host ORDER BY commission_amount DESC LIMIT 10`,
  },
  {
    name: "late refunds",
    question: "Which refunds were made more than 30 days after the order?",
    sql: `SELECT order_number, date(order_date) AS ordered, currency, refunded_amount, days_at_least, days_at_most
FROM late_refunds WHERE days_at_least > 30 ORDER BY refunded_amount DESC LIMIT 10`,
  },
  {
    name: "growth",
    question: "How does each month's net amount compare with the previous month's?",
    sql: `SELECT month, currency, is_partial, net_through, net_before,
  round(100 * net_through / net_before - 100, 1) AS more
FROM sales_by_month ORDER BY month DESC, currency LIMIT 12`,
  },
] as const satisfies readonly ExampleQuery[];

import { numberFromSqlText } from "../util/numbers.js";
import { materializedSql, orderFiguresSql } from "./view.js";

/**
 * Common table expressions. `order_versions` contains the earlier versions of orders with their amounts. Each version
 * is valid from `since_at` to `until_at`. `present` is 0 for periods in which the API did not return the order.
 */
export const orderVersionsSql = `stored_versions AS (
    SELECT versions.record_id, versions.version_id, versions.since_at, versions.until_at, versions.present,
      versions.month,
      ${[
        fieldSql("currency", "'text'"),
        amountSql("total_amount"),
        amountSql("refund_amount"),
        amountSql("commission_amount"),
        fieldSql("is_cancelled", "'true', 'false'"),
        fieldSql("host_id", "'text'", "host.id"),
      ].join(",\n      ")}
    FROM record_versions AS versions WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.record_id = versions.record_id)
      OR EXISTS (SELECT 1 FROM orders_removed AS removed WHERE removed.record_id = versions.record_id) ${materializedSql}),
  order_versions AS (
    SELECT record_id, version_id, since_at, until_at, present, month, currency,
      host_id, ${orderFiguresSql} FROM stored_versions ${materializedSql})`;

/**
 * Returns SQL that selects a field from a version's JSON. As in the `orders` table, a value of an unexpected type
 * becomes null.
 */
function fieldSql(name: string, types: string, path = name): string {
  const field = `versions.json, '$.${path}'`;
  return `CASE WHEN json_type(${field}) IN (${types}) THEN json_extract(${field}) END AS ${name}`;
}

/**
 * Returns SQL that selects an amount from a version's JSON. As in the `orders` table, numeric strings are converted to
 * numbers.
 */
function amountSql(name: string): string {
  const field = `versions.json, '$.${name}'`;
  const value = `json_extract(${field})`;
  return `CASE json_type(${field}) WHEN 'integer' THEN ${value} WHEN 'real' THEN ${value} WHEN 'text' THEN ${numberFromSqlText(value)} END AS ${name}`;
}

/**
 * Common table expressions. `order_coverage` contains the coverage of orders after each run, with an empty string for a
 * null `from_at`. `order_reads` contains only the coverage after runs that completed.
 */
export const orderReadsSql = `order_coverage AS (
    SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
    FROM sync_runs JOIN run_coverage USING (run_id) WHERE resource = 'orders' ${materializedSql}),
  order_reads AS (
    SELECT * FROM order_coverage WHERE outcome = 'done' ${materializedSql})`;

/**
 * Returns SQL for the time at which a month was reported: the end of the first run that read the entire month after its
 * end, or null if there is no such run. Requires the common table expression `order_reads`.
 */
export function reportedAtSql(month: string): string {
  const firstDay = `${month} || '-01'`;
  const [start, end] = [`${firstDay} || 'T00:00:00.000Z'`, `date(${firstDay}, '+1 month')`];
  return `(SELECT finished_at FROM order_reads WHERE from_at <= ${start}
    AND to_at >= date(${end}, '-1 day') || 'T23:59:59.999Z' ORDER BY run_id LIMIT 1)`;
}

/** SQL for the end of the orders' most recent covered range. Requires the common table expression `order_coverage`. */
export const ordersReadUntilSql = `(SELECT max(to_at) FROM (SELECT to_at FROM coverage WHERE resource = 'orders' UNION ALL SELECT to_at FROM order_coverage))`;

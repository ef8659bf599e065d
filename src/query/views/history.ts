import { numberIn, ofOrder, once } from "./figures.js";

/** Returns a column of `orders` from an earlier version's JSON; null if it has an unexpected type, as in the table. */
function ofJson(name: string, types: string, path = name): string {
  const at = `v.json, '$.${path}'`;
  return `CASE WHEN json_type(${at}) IN (${types}) THEN json_extract(${at}) END AS ${name}`;
}

/** Returns a column with an amount; a number as text is a number, as in the table. */
function amountOf(name: string): string {
  const at = `v.json, '$.${name}'`;
  const value = `json_extract(${at})`;
  return `CASE json_type(${at}) WHEN 'integer' THEN ${value} WHEN 'real' THEN ${value} WHEN 'text' THEN ${numberIn(value)} END AS ${name}`;
}

const columns = [
  ofJson("currency", "'text'"),
  ...["total_amount", "refund_amount", "commission_amount"].map(amountOf),
  ofJson("is_cancelled", "'true', 'false'"),
  ofJson("host_id", "'text'", "host.id"),
];

/**
 * `versions`: each form that an order had before its present one, from `since_at` until `until_at`, with its figures.
 * `present` is 0 while the API did not return it.
 */
export const versions = `forms AS (
    SELECT v.record_id, v.version_id, v.since_at, v.until_at, v.present, v.month,
      ${columns.join(",\n      ")}
    FROM record_versions AS v WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.record_id = v.record_id)
      OR EXISTS (SELECT 1 FROM orders_removed AS o WHERE o.record_id = v.record_id) ${once}),
  versions AS (
    SELECT record_id, version_id, since_at, until_at, present, month, currency,
      host_id, ${ofOrder} FROM forms ${once})`;

/**
 * `covered`: what was covered after the last answer to a run; `from_at` is never null.
 * `reads`: the runs of `covered` that were complete.
 */
export const reads = `covered AS (
    SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
    FROM sync_runs JOIN run_coverage USING (run_id) WHERE resource = 'orders' ${once}),
  reads AS (
    SELECT * FROM covered WHERE outcome = 'done' ${once})`;

/** Returns when the first run after a month's end that left all of it covered was done, by `reads`; null if none has. */
export function reportedAt(month: string): string {
  const first = `${month} || '-01'`;
  const [begins, next] = [`${first} || 'T00:00:00.000Z'`, `date(${first}, '+1 month')`];
  return `(SELECT finished_at FROM reads WHERE from_at <= ${begins}
    AND to_at >= date(${next}, '-1 day') || 'T23:59:59.999Z' ORDER BY run_id LIMIT 1)`;
}

/** The instant up to which the orders were read, by the run that came furthest, by `covered`. */
export const reachedAt = `(SELECT max(to_at) FROM (SELECT to_at FROM coverage WHERE resource = 'orders' UNION ALL SELECT to_at FROM covered))`;

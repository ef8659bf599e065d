import { orders } from "../../resources/orders.js";
import { type Column, tablesOf } from "../../resources/shape.js";
import { ofOrder, utc } from "./figures.js";

/** What the figures are made of, and whose they are. */
const told = [
  ...["order_date", "currency", "total_amount", "refund_amount", "is_cancelled", "commission_amount"],
  ...["host_id", "host_username"],
];

/**
 * `versions`: each form that an order had before its present one, from `since_at` until `until_at`, with its figures.
 * `present` is 0 where it was withdrawn for so long.
 */
export const versions = `forms AS MATERIALIZED (
    SELECT v.record_id, v.version_id, v.since_at, v.until_at, v.present,
      ${told.map(ofJson).join(", ")}
    FROM record_versions AS v JOIN orders AS o ON o.record_id = v.record_id),
  versions AS MATERIALIZED (
    SELECT record_id, version_id, since_at, until_at, present, substr(${utc("order_date")}, 1, 7) AS month, currency,
      host_id, host_username, ${ofOrder} FROM forms)`;

/** A column of `orders` as a kept version's text has it; null where it is of another type, as in the table. */
function ofJson(name: string): string {
  const column = tablesOf(orders)[0]?.columns.find((one) => one.name === name);
  if (!column) throw new Error(`orders has no column ${name}`);
  const at = `v.json, '$.${column.path.join(".")}'`;
  return `CASE WHEN json_type(${at}) IN (${jsonTypes(column.type)}) THEN json_extract(${at}) END AS ${name}`;
}

function jsonTypes(type: Column["type"]): string {
  if (type === "boolean") return "'true', 'false'";
  return type === "number" ? "'integer', 'real'" : "'text'";
}

/**
 * `covered`: what was covered after the last answer to a run; `from_at` is never null. A run that began after two in a
 * row that came later, or after the last one, had a clock that was ahead: of what it says nothing is known.
 * `reads`: of those the runs that had come to their end, with nothing missing.
 */
export const reads = `covered AS MATERIALIZED (
    SELECT run_id, outcome, verified, started_at, finished_at, coalesce(from_at, '') AS from_at, to_at
    FROM (SELECT *, min(max(started_at, next_at)) OVER (ORDER BY run_id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS later_at
      FROM (SELECT *, lead(started_at, 1, '') OVER (ORDER BY run_id) AS next_at FROM sync_runs WHERE resource = 'orders'))
      JOIN run_coverage USING (run_id)
    WHERE coalesce(started_at <= later_at, 1)),
  reads AS MATERIALIZED (
    SELECT * FROM covered WHERE outcome = 'done' OR (outcome = 'verified' AND verified))`;

/** When the first run after a month's end that left all of it covered was done, by `reads`; null while it is partial. */
export function reportedAt(month: string): string {
  const first = `${month} || '-01'`;
  const [begins, next] = [`${first} || 'T00:00:00.000Z'`, `date(${first}, '+1 month')`];
  return `(SELECT finished_at FROM reads WHERE from_at <= ${begins} AND started_at >= ${next}
    AND to_at >= date(${next}, '-1 day') || 'T23:59:59.999Z' ORDER BY run_id LIMIT 1)`;
}

/** Up to when the orders were read, by whichever run came furthest, by `covered`: what is younger is not known yet. */
export const reachedAt = `(SELECT max(to_at) FROM (SELECT to_at FROM coverage WHERE resource = 'orders' UNION ALL SELECT to_at FROM covered))`;

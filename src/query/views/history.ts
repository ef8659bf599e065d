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
 * `reads`: each run that ended with all orders read, down to `covered_from` and up to `reach`. One that left a gap below
 * itself is not whole.
 */
export const reads = `reads AS MATERIALIZED (
  SELECT started_at, finished_at, covered_from, reach,
    since <= coalesce(max(reach) OVER (ORDER BY run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), since) AS is_whole
  FROM (SELECT run_id, started_at, finished_at, coalesce(since, '') AS since, coalesce(covered_from, '') AS covered_from,
      CASE WHEN until < started_at THEN until ELSE finished_at END AS reach
    FROM sync_runs WHERE resource = 'orders' AND outcome = 'done'))`;

/** When the first complete read of a month after its end was done, by `reads`; null while the month is partial. */
export function reportedAt(month: string): string {
  const first = `${month} || '-01'`;
  return `(SELECT min(finished_at) FROM reads WHERE is_whole AND covered_from <= ${first} || 'T00:00:00.000Z'
    AND started_at >= date(${first}, '+1 month') || 'T00:00:00.000Z'
    AND reach >= date(${first}, '+1 month', '-1 day') || 'T23:59:59.999Z')`;
}

/**
 * Up to when the orders were read, by whichever read came furthest: what is younger is not known yet. One that is under
 * way, or was killed, has counted nothing, and has claimed what it read.
 */
export const reachedAt = `(SELECT max(CASE WHEN until < started_at THEN until ELSE started_at END) FROM sync_runs AS r
    WHERE resource = 'orders' AND outcome <> 'verified' AND (outcome = 'done' OR rows_read > 0 OR EXISTS (
      SELECT 1 FROM coverage AS c WHERE c.resource = 'orders' AND c.run_id = r.run_id)))`;

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
 * `reads`: each run that ended with all orders read that it asked for, from `since` up to `reach`; `spans` has those
 * too that found something missing at the end. `holes`: what lay between a span and those before it, whether a later
 * one has read it or not. `unread`: what the mirror has never read.
 */
export const reads = `spans AS MATERIALIZED (
    SELECT run_id, outcome, started_at, finished_at, coalesce(since, '') AS since, coalesce(covered_from, '') AS covered_from,
      CASE WHEN until < started_at THEN until ELSE finished_at END AS reach
    FROM sync_runs WHERE resource = 'orders' AND outcome IN ('done', 'incomplete') AND until IS NOT NULL),
  reads AS MATERIALIZED (SELECT * FROM spans WHERE outcome = 'done'),
  known AS (
    SELECT since, reach, covered_from, min(since) OVER w AS lowest, max(reach) OVER w AS highest
    FROM spans WINDOW w AS (ORDER BY run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
  holes AS MATERIALIZED (
    SELECT coalesce(highest, covered_from) AS after_at, since AS before_at FROM known WHERE since > coalesce(highest, covered_from)
    UNION SELECT reach, lowest FROM known WHERE reach < lowest
    UNION SELECT covered_from, min(since, lowest) FROM known WHERE covered_from < min(since, lowest)),
  unread AS MATERIALIZED (
    SELECT after_at, before_at FROM (
      SELECT coalesce(max(to_at) OVER (ORDER BY from_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), '') AS after_at,
        coalesce(from_at, '') AS before_at FROM coverage WHERE resource = 'orders')
    WHERE before_at > coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', after_at, '+0.001 seconds'), '')
    UNION ALL SELECT coalesce(max(to_at), ''), '9' FROM coverage WHERE resource = 'orders')`;

/** When the first complete read of a month after its end was done, by `reads`; null while the month is partial. */
export function reportedAt(month: string): string {
  const { first, last } = endsOf(month);
  return `(SELECT min(finished_at) FROM ${wholeSince(month)} AS w CROSS JOIN reads WHERE covered_from <= ${first} AND reach >= ${last}
    AND started_at >= date(${month} || '-01', '+1 month') || 'T00:00:00.000Z' AND run_id >= w.since_run)`;
}

/**
 * The first run after which no hole was left in a month. One that no later run asked for, and that is read all the same,
 * was filled by a run that was stopped: it is none.
 */
export function wholeSince(month: string): string {
  const { first, last } = endsOf(month);
  const [from, to] = [`max(h.after_at, ${first})`, `min(h.before_at, ${last})`];
  return `(SELECT coalesce(max(coalesce(
      (SELECT min(s.run_id) FROM spans AS s WHERE s.since <= ${from} AND s.reach >= ${to}),
      CASE WHEN EXISTS (SELECT 1 FROM unread AS u WHERE u.after_at < ${to} AND u.before_at > ${from}) THEN 9e9 ELSE 0 END)), 0) AS since_run
    FROM holes AS h WHERE h.after_at < ${last} AND h.before_at > ${first})`;
}

function endsOf(month: string): { first: string; last: string } {
  const first = `${month} || '-01'`;
  return {
    first: `(${first} || 'T00:00:00.000Z')`,
    last: `(date(${first}, '+1 month', '-1 day') || 'T23:59:59.999Z')`,
  };
}

/**
 * Up to when the orders were read, by whichever read came furthest: what is younger is not known yet. One that is under
 * way, or was killed, has counted nothing, and has claimed what it read.
 */
export const reachedAt = `(SELECT max(CASE WHEN until < started_at THEN until ELSE started_at END) FROM sync_runs AS r
    WHERE resource = 'orders' AND outcome <> 'verified' AND (outcome = 'done' OR rows_read > 0 OR EXISTS (
      SELECT 1 FROM coverage AS c WHERE c.resource = 'orders' AND c.run_id = r.run_id)))`;

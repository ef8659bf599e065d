import {
  columnsOf,
  host,
  materialized,
  numberFromSqlText,
  selectHost,
  selectOrderFigures,
  sumAmounts,
  type View,
} from "./view.js";

/** Returns a column of `orders` from an earlier version's JSON; null if it has an unexpected type, as in the table. */
function ofJson(name: string, types: string, path = name): string {
  const at = `v.json, '$.${path}'`;
  return `CASE WHEN json_type(${at}) IN (${types}) THEN json_extract(${at}) END AS ${name}`;
}

/** Returns a column with an amount; a number as text is a number, as in the table. */
function amountOf(name: string): string {
  const at = `v.json, '$.${name}'`;
  const value = `json_extract(${at})`;
  return `CASE json_type(${at}) WHEN 'integer' THEN ${value} WHEN 'real' THEN ${value} WHEN 'text' THEN ${numberFromSqlText(value)} END AS ${name}`;
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
      OR EXISTS (SELECT 1 FROM orders_removed AS o WHERE o.record_id = v.record_id) ${materialized}),
  versions AS (
    SELECT record_id, version_id, since_at, until_at, present, month, currency,
      host_id, ${selectOrderFigures} FROM forms ${materialized})`;

/**
 * `covered`: what was covered after the last answer to a run; `from_at` is never null.
 * `reads`: the runs of `covered` that were complete.
 */
export const reads = `covered AS (
    SELECT run_id, outcome, finished_at, coalesce(from_at, '') AS from_at, to_at
    FROM sync_runs JOIN run_coverage USING (run_id) WHERE resource = 'orders' ${materialized}),
  reads AS (
    SELECT * FROM covered WHERE outcome = 'done' ${materialized})`;

/** Returns when the first run after a month's end that left all of it covered was done, by `reads`; null if none has. */
export function reportedAt(month: string): string {
  const first = `${month} || '-01'`;
  const [begins, next] = [`${first} || 'T00:00:00.000Z'`, `date(${first}, '+1 month')`];
  return `(SELECT finished_at FROM reads WHERE from_at <= ${begins}
    AND to_at >= date(${next}, '-1 day') || 'T23:59:59.999Z' ORDER BY run_id LIMIT 1)`;
}

/** The instant up to which the orders were read, by the run that came furthest, by `covered`. */
export const reachedAt = `(SELECT max(to_at) FROM (SELECT to_at FROM coverage WHERE resource = 'orders' UNION ALL SELECT to_at FROM covered))`;

export const restatements: View = {
  name: "restatements",
  about:
    "one row per closed month and currency: its net when it was reported and now; `restated_orders` names the orders " +
    "that make the difference, and `export sales_by_month --as-of` the `reported_at` shows all that was known then",
  columns: columnsOf("month currency reported_at net_reported net_now difference orders", {
    orders: "how many orders make the difference",
  }),
  date: "month",
  example: "SELECT * FROM restatements WHERE difference <> 0 ORDER BY month DESC, currency",
  sql: `WITH ${reads}
    SELECT month, currency, ${reportedAt("month")} AS reported_at,
      0 + round(total(now) - total(difference), 6) AS net_reported, ${sumAmounts("now")} AS net_now,
      ${sumAmounts("difference")} AS difference, total(orders) AS orders
    FROM (SELECT substr(day, 1, 7) AS month, currency, net_amount AS now, NULL AS difference, 0 AS orders FROM sales_by_day
      UNION ALL SELECT month, currency, NULL, difference, 1 FROM restated_orders)
    GROUP BY month, currency HAVING reported_at IS NOT NULL ORDER BY month, currency`,
};

const columnsRestatedOrders =
  "record_id, id, order_number, order_date, order_date_utc, month, currency, is_cancelled, total_amount, refund_amount, " +
  "commission_amount, host_id";

/**
 * `now` holds the present forms that came after the first month was reported. `pairs` holds each order with a month
 * whose sum it may have changed since the report, and its version of that time. Each side of a pair counts in its own
 * month and currency: an order that moved leaves one row and comes to another.
 */
export const restatedOrders: View = {
  name: "restated_orders",
  about:
    "one row per order whose net has changed since its month was reported; an order that moved " +
    "to a different month or currency has a row in each",
  columns: columnsOf(
    `month currency reported_at order_id order_number order_date net_reported net_now difference what seen_at ${host}`,
    {
      what: "`late` (first seen since), `refunded`, `cancelled`, `withdrawn` (the API no longer returns it), `returned`, `reinstated` (no longer cancelled), `redated`, `currency` or `amount`",
    },
  ),
  date: "month",
  example: `SELECT order_number, what, net_reported, net_now, difference FROM restated_orders
WHERE month = strftime('%Y-%m', 'now', 'start of month', '-1 month') ORDER BY abs(difference) DESC LIMIT 20`,
  sql: `WITH ${reads}, ${versions},
    now AS (
      SELECT *, ${selectOrderFigures} FROM (
        SELECT ${columnsRestatedOrders}, synced_at AS since_at, 1 AS present FROM orders
        UNION ALL SELECT ${columnsRestatedOrders}, removed_at, 0 FROM orders_removed)
      WHERE since_at > (SELECT min(finished_at) FROM reads) ${materialized}),
    months AS (SELECT month, ${reportedAt("month")} AS reported_at
      FROM (SELECT month FROM now UNION SELECT month FROM versions) ${materialized}),
    pairs AS (
      SELECT record_id, month, reported_at, (SELECT max(v.version_id) FROM record_versions AS v
          WHERE v.record_id = p.record_id AND v.since_at <= p.reported_at AND v.until_at > p.reported_at) AS version_id
      FROM (SELECT n.record_id, m.month, m.reported_at FROM now AS n JOIN months AS m ON m.month = n.month
          WHERE n.since_at > m.reported_at
        UNION SELECT n.record_id, m.month, m.reported_at FROM versions AS v
          JOIN months AS m ON m.month = v.month AND v.since_at <= m.reported_at AND v.until_at > m.reported_at
          JOIN now AS n ON n.record_id = v.record_id AND n.since_at > m.reported_at) AS p ${materialized}),
    states AS (
      SELECT p.record_id, p.month, p.reported_at, n.since_at AS seen_at,
        v.present AND v.month = p.month AS was_in, v.currency AS old_currency, v.net_amount AS old,
        n.present AND n.month = p.month AS is_in, n.currency AS new_currency, n.net_amount AS new,
        CASE WHEN NOT n.present THEN 'withdrawn' WHEN n.cancelled_orders THEN 'cancelled'
          WHEN v.version_id IS NULL THEN 'late' WHEN NOT v.present THEN 'returned'
          WHEN v.cancelled_orders THEN 'reinstated' WHEN v.month IS NOT n.month THEN 'redated'
          WHEN v.currency IS NOT n.currency THEN 'currency'
          WHEN v.gross_amount IS n.gross_amount THEN 'refunded' ELSE 'amount' END AS what
      FROM pairs AS p JOIN now AS n ON n.record_id = p.record_id LEFT JOIN versions AS v ON v.version_id = p.version_id ${materialized}),
    restated AS (
      SELECT record_id, month, currency, reported_at, seen_at, what, ${sumAmounts("old")} AS net_reported, ${sumAmounts("new")} AS net_now
      FROM (SELECT record_id, month, old_currency AS currency, reported_at, seen_at, what, old, NULL AS new FROM states WHERE was_in
        UNION ALL SELECT record_id, month, new_currency, reported_at, seen_at, what, NULL, new FROM states WHERE is_in)
      GROUP BY record_id, month, currency)
  SELECT r.month, r.currency, r.reported_at, o.id AS order_id, o.order_number, o.order_date,
    r.net_reported, r.net_now, round(r.net_now - r.net_reported, 6) AS difference,
    r.what, r.seen_at, ${selectHost("o.host_id")}
  FROM restated AS r JOIN now AS o ON o.record_id = r.record_id WHERE r.net_now <> r.net_reported
  ORDER BY r.month, r.currency, o.order_date_utc, o.id`,
};

const [before, after] = ["c.old", "c.new"].map((amount) => `coalesce(${numberFromSqlText(amount)}, 0)`);

/** Milliseconds between two times. */
const between = (from: string, to: string) =>
  `CAST(round((julianday(${to}) - julianday(${from})) * 86400000) AS INTEGER)`;

export const lateRefunds: View = {
  name: "late_refunds",
  about:
    "one row per refund that this mirror saw come, of an order that counts; the API gives no date of a refund, so its " +
    "age is at least and at most so many days; a refund that was there when the order was first read has no row",
  columns: columnsOf(
    `order_id order_number order_date month currency refunded_amount days_at_least days_at_most last_seen_unchanged_at seen_changed_at ${host}`,
    { refunded_amount: "less than 0 if a refund was taken back" },
  ),
  date: "seen_changed_at",
  example: `SELECT order_number, order_date, currency, refunded_amount, days_at_least, days_at_most FROM late_refunds
WHERE days_at_least > 30 ORDER BY seen_changed_at DESC LIMIT 20`,
  // An amount that went from null to 0 changed, and nothing was refunded.
  sql: `SELECT f.id AS order_id, f.order_number, f.order_date, f.month, f.currency,
      round(${after} - ${before}, 6) AS refunded_amount,
      max(0, ${between("f.ordered_at", "c.last_seen_unchanged_at")} / 86400000) AS days_at_least,
      max(0, (${between("f.ordered_at", "c.seen_changed_at")} + 86399999) / 86400000) AS days_at_most,
      c.last_seen_unchanged_at, c.seen_changed_at, f.host_id, f.host_username, f.host_label
    FROM changes AS c JOIN order_figures AS f ON f.id = c.key AND f.orders = 1
    WHERE c.resource = 'orders' AND c.field = 'refund_amount'
      AND ${after} <> ${before} ORDER BY c.change_id`,
};

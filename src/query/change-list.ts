import { type Mirror, quote } from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";

/** A row of `changes`, with what people call the record. */
export interface Change {
  change_id: number;
  resource: string;
  key: string;
  kind: "added" | "changed" | "removed" | "returned";
  field: string | null;
  old: string | null;
  new: string | null;
  last_seen_unchanged_at: string | null;
  seen_changed_at: string;
  run_id: number;
  /** An order's number, a host's username, a title; null where none is known. */
  label: string | null;
}

/** Which changes: times as the mirror writes them. */
export interface ChangeFilter {
  resource: string | undefined;
  since: string;
  until: string | undefined;
}

/** What people call a record, by the name of the column, the best first. */
const labels = ["order_number", "title", "filename", "host_username", "code", "name", "host_name"];

/**
 * The newest changes, the newest last, and how many there are in all. What else changed in the oldest of their records
 * in the same run comes along, beyond `limit`: a refund without its amount says little.
 */
export function listChanges(
  mirror: Mirror,
  filter: ChangeFilter,
  limit: number,
): { changes: Change[]; total: number } {
  const { db } = mirror;
  const { sql, values } = filterSql(filter);
  const total = db
    .prepare(`SELECT count(*) FROM changes WHERE ${sql}`)
    .pluck()
    .get(...values) as number;
  const rows = db
    .prepare(
      `WITH newest AS (SELECT * FROM changes WHERE ${sql} ORDER BY change_id DESC LIMIT ?),
         oldest AS (SELECT * FROM newest ORDER BY change_id LIMIT 1)
       SELECT * FROM newest
       UNION SELECT c.* FROM changes AS c JOIN oldest AS o USING (resource, key, run_id, seen_changed_at)
       ORDER BY change_id DESC`,
    )
    .all(...values, limit) as Omit<Change, "label">[];
  const labelOf = openLabels(mirror);
  return { changes: rows.reverse().map((row) => ({ ...row, label: labelOf(row.resource, row.key) })), total };
}

/** A condition on `changes` as text, for `export`; the newest `limit` where one is given. */
export function changesCondition(filter: ChangeFilter, limit: number | undefined): string {
  const { sql, values } = filterSql(filter);
  let index = 0;
  const condition = sql.replaceAll("?", () => `'${String(values[index++]).replaceAll("'", "''")}'`);
  if (limit === undefined) return condition;
  return `change_id IN (SELECT change_id FROM changes WHERE ${condition} ORDER BY change_id DESC LIMIT ${limit})`;
}

function filterSql({ resource, since, until }: ChangeFilter): { sql: string; values: string[] } {
  const conditions = [
    ["seen_changed_at >= ?", since],
    ["seen_changed_at <= ?", until],
    ["resource = ?", resource],
  ].filter((condition): condition is [string, string] => condition[1] !== undefined);
  return { sql: conditions.map(([sql]) => sql).join(" AND "), values: conditions.map(([, value]) => value) };
}

/** Looks labels up in the typed tables, a statement a resource. */
function openLabels(mirror: Mirror): (resource: string, key: string) => string | null {
  const lookups = new Map<string, ((key: string) => string | null) | null>();
  return (name, key) => {
    if (!lookups.has(name)) lookups.set(name, openLabel(mirror, name));
    return lookups.get(name)?.(key) ?? null;
  };
}

function openLabel(mirror: Mirror, name: string): ((key: string) => string | null) | null {
  const resource = [...resources, ...details].find((one) => one.name === name);
  const shape: TableShape | undefined = resource && tablesOf(resource)[0];
  if (!shape) return null;
  const there = (mirror.db.pragma(`table_info(${quote(shape.name)})`) as { name: string }[]).map(
    (one) => one.name,
  );
  const label = labels.find((one) => there.includes(one));
  if (!label) return null;
  const find = mirror.db
    .prepare(
      `SELECT t.${quote(label)} FROM records AS r JOIN ${quote(shape.name)} AS t ON t.record_id = r.record_id
       WHERE r.resource = ? AND r.key = ?`,
    )
    .pluck();
  return (key) => {
    const found = find.get(name, key);
    return found === null || found === undefined ? null : String(found);
  };
}

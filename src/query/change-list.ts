import type { Mirror } from "../store/database.js";

export interface Change {
  change_id: number;
  resource: string;
  key: string;
  kind: "added" | "changed" | "removed" | "returned";
  field: string | null;
  old: string | null;
  new: string | null;
  last_seen_unchanged_at: string;
  seen_changed_at: string;
  run_id: number;
  /** A label for the record: its order number, handle or title. */
  label: string | null;
}

export interface ChangeFilter {
  /** Undefined to include the changes to all resources. */
  resourceName: string | undefined;
  /** The `run_id` of the run that detected the change. */
  runId?: number | undefined;
  /** The earliest `seen_changed_at` to include (ISO 8601). */
  since: string;
}

/** The fields that can serve as a record's label, in order of preference. */
const labelFields = ["title", "filename", "host.username", "code", "name", "host.name"];

/** Returns the newest matching changes, oldest first, and the total number of matching changes. */
export function loadNewestChanges(
  { db }: Mirror,
  filter: ChangeFilter,
  limit: number,
): { changes: Change[]; total: number } {
  const fieldSql = (path: string) => `r.json ->> '$.${path}'`;
  const labelSql = `iif(changes.resource = 'orders', ${fieldSql("order_number")}, coalesce(${labelFields.map(fieldSql).join(", ")}))`;
  const changes = db.prepare(
    `SELECT changes.*, CAST(${labelSql} AS TEXT) AS label
     FROM changes LEFT JOIN records AS r ON r.resource = changes.resource AND r.key = changes.key
     WHERE ${changesConditionSql(filter, limit)} ORDER BY change_id`,
  );
  const total = db.prepare(`SELECT count(*) FROM changes WHERE ${changesConditionSql(filter)}`).pluck();
  return { changes: changes.all() as Change[], total: total.get() as number };
}

/**
 * Returns an SQL condition on `changes`. If the selection has a limit, the condition matches only the newest changes.
 */
export function changesConditionSql({ resourceName, runId, since }: ChangeFilter, limit?: number): string {
  const condition = [
    `seen_changed_at >= '${since}'`,
    ...(runId === undefined ? [] : [`run_id = ${runId}`]),
    ...(resourceName === undefined ? [] : [`resource = '${resourceName}'`]),
  ].join(" AND ");
  if (limit === undefined) return condition;
  return `change_id IN (SELECT change_id FROM changes WHERE ${condition} ORDER BY change_id DESC LIMIT ${limit})`;
}

import type { Mirror } from "../mirror/index.js";

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
  /** An order's number, a host's username, a title; null if none is known. */
  label: string | null;
}

/** Times are text as the mirror writes them. */
export interface ChangeFilter {
  resource: string | undefined;
  /** The run that found them, by its `run_id`. */
  run?: number | undefined;
  since: string;
}

/** The members that hold what people call a record, the best first; of an order, which has a host too, its number. */
const labels = ["title", "filename", "host.username", "code", "name", "host.name"];

/** Returns the newest changes, the newest last, and how many there are in all. */
export function listChanges({ db }: Mirror, filter: ChangeFilter, limit: number) {
  const memberOf = (path: string) => `r.json ->> '$.${path}'`;
  const label = `iif(c.resource = 'orders', ${memberOf("order_number")}, coalesce(${labels.map(memberOf).join(", ")}))`;
  const changes = db.prepare(
    `SELECT c.*, CAST(${label} AS TEXT) AS label
     FROM changes AS c LEFT JOIN records AS r ON r.resource = c.resource AND r.key = c.key
     WHERE change_id IN (SELECT change_id FROM changes WHERE ${changesCondition(filter, limit)}) ORDER BY change_id`,
  );
  const total = db.prepare(`SELECT count(*) FROM changes WHERE ${changesCondition(filter)}`).pluck();
  return { changes: changes.all() as Change[], total: total.get() as number };
}

/** Returns a condition on `changes`; with a limit, on the newest of them. */
export function changesCondition({ resource, run, since }: ChangeFilter, limit?: number): string {
  const condition = [
    `seen_changed_at >= ${literal(since)}`,
    ...(run === undefined ? [] : [`run_id = ${run}`]),
    ...(resource === undefined ? [] : [`resource = ${literal(resource)}`]),
  ].join(" AND ");
  if (limit === undefined) return condition;
  return `change_id IN (SELECT change_id FROM changes WHERE ${condition} ORDER BY change_id DESC LIMIT ${limit})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

import { type Mirror, quote } from "../mirror/index.js";
import { typedTables } from "./names.js";
import { describeTable } from "./tables.js";

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
  until: string | undefined;
}

/** The columns that hold what people call a record, the best first. */
const labels = ["order_number", "title", "filename", "host_username", "code", "name", "host_name"];

/** Returns the newest changes, the newest last, and how many there are in all. */
export function listChanges(
  mirror: Mirror,
  filter: ChangeFilter,
  limit: number,
): { changes: Change[]; total: number } {
  const { db } = mirror;
  const count = db.prepare(`SELECT count(*) FROM changes WHERE ${changesCondition(filter)}`).pluck();
  const rows = db
    .prepare(`SELECT * FROM changes WHERE ${changesCondition(filter, limit)} ORDER BY change_id`)
    .all() as Omit<Change, "label">[];
  const names = [...new Set(rows.map(({ resource }) => resource))];
  const labelOf = new Map(names.map((name) => [name, openLabels(mirror, name)]));
  return {
    changes: rows.map((row) => ({ ...row, label: labelOf.get(row.resource)?.(row.key) ?? null })),
    total: count.get() as number,
  };
}

/** Returns a condition on `changes`; with a limit, on the newest so many. */
export function changesCondition({ resource, run, since, until }: ChangeFilter, limit?: number): string {
  const condition = [
    `seen_changed_at >= ${literal(since)}`,
    ...(until === undefined ? [] : [`seen_changed_at <= ${literal(until)}`]),
    ...(run === undefined ? [] : [`run_id = ${run}`]),
    ...(resource === undefined ? [] : [`resource = ${literal(resource)}`]),
  ].join(" AND ");
  if (limit === undefined) return condition;
  return `change_id IN (SELECT change_id FROM changes WHERE ${condition} ORDER BY change_id DESC LIMIT ${limit})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Looks up what people call the records of a resource. */
function openLabels(mirror: Mirror, resource: string): (key: string) => string | null {
  const shape = typedTables().find((one) => one.resource.name === resource && one.list === null);
  const columns = shape ? describeTable(mirror, shape.name).columns.map(({ name }) => name) : [];
  const label = labels.find((name) => columns.includes(name));
  if (!shape || !label) return () => null;
  const find = mirror.db
    .prepare(
      `SELECT CAST(t.${quote(label)} AS TEXT) FROM records AS r JOIN ${quote(shape.name)} AS t USING (record_id)
       WHERE r.resource = ? AND r.key = ?`,
    )
    .pluck();
  return (key) => (find.get(resource, key) as string | null | undefined) ?? null;
}

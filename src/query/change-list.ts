import type { TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { readRedactedAfterRun } from "../store/redaction-rules.js";
import {
  positionsPerRecord,
  quote,
  type RecordState,
  recordStates,
  rowIdColumn,
  tableName,
} from "../store/table-sql.js";
import type { ReadableColumn } from "./readable-tables.js";
import { inBatches, type Row } from "./select.js";

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
const labelMembers = ["title", "filename", "host.username", "code", "name", "host.name"];

/** Returns the newest changes, the newest last, and how many there are in all. */
export function listChanges({ db }: Mirror, filter: ChangeFilter, limit: number) {
  const memberOf = (path: string) => `r.json ->> '$.${path}'`;
  const label = `iif(c.resource = 'orders', ${memberOf("order_number")}, coalesce(${labelMembers.map(memberOf).join(", ")}))`;
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
    `seen_changed_at >= ${sqlText(since)}`,
    ...(run === undefined ? [] : [`run_id = ${run}`]),
    ...(resource === undefined ? [] : [`resource = ${sqlText(resource)}`]),
  ].join(" AND ");
  if (limit === undefined) return condition;
  return `change_id IN (SELECT change_id FROM changes WHERE ${condition} ORDER BY change_id DESC LIMIT ${limit})`;
}

function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Up to where a reader has read: the mirror's own numbers, which no clock moves. */
export interface Bookmark {
  /** The newest run and its times: a mirror without it is a different one, or an old copy. */
  run: string;
  record_id: number;
  version_id: number;
}

/** A row as it is now, or one that its record's list no longer has. */
export interface ChangedRow {
  /** In the order of the table's columns. */
  values: Row;
  /** The record's key in the mirror, and the row's place in its list; null for a row of a main table. */
  key: string;
  position: number | null;
  removedAt: string | null;
}

/** The rows of a table that came, changed or went. */
export interface ChangedRows {
  /** The columns that name a row where the API documents them (a record's ids, or those of a list's parent); else none. */
  idColumns: readonly string[];
  isList: boolean;
  /** Up to where the mirror is now; null if no previous forms are kept: then all rows are sent each time. */
  bookmark: Bookmark | null;
  /** True if the bookmark is of this mirror. */
  matches(bookmark: Bookmark): boolean;
  /** True if records were redacted since the bookmark: what was sent up to it may hold data that was removed since. */
  precedesRedaction(bookmark: Bookmark): boolean;
  /** All rows without a bookmark. */
  rows(after: Bookmark | undefined): Iterable<ChangedRow[]>;
  /** The rows that are gone from their lists; only the columns of their parent have values. */
  removedItems(after: Bookmark): Iterable<ChangedRow[]>;
}

const begunRun = "run_id || ' ' || started_at || ' '";
const runName = `${begunRun} || coalesce(finished_at, '')`;

/** Prepares these columns of a table for reading; call it inside `withReadTransaction`. */
export function openChangedRows(
  mirror: Mirror,
  shape: TableShape,
  columns: readonly ReadableColumn[],
): ChangedRows {
  const { db } = mirror;
  const redactedAfterRun = readRedactedAfterRun(mirror);
  const names = columns.map(({ name }) => name);
  function* read(sqlOf: (part: RecordState) => string, after: Bookmark | undefined): Iterable<ChangedRow[]> {
    for (const part of recordStates) yield* readPart(sqlOf(part), after);
  }
  function* readPart(sql: string, after: Bookmark | undefined): Iterable<ChangedRow[]> {
    const statement = db.prepare(sql).raw();
    const found = after ? statement.iterate(after) : statement.iterate();
    for (const batch of inBatches(found as IterableIterator<Row>))
      yield batch.map((row) => {
        const last = row.slice(names.length) as [string, number | null, string | null];
        const [key, position, removedAt] = last;
        return { values: row.slice(0, names.length), key, position, removedAt };
      });
  }
  return {
    idColumns: idColumnsOf(shape),
    isList: shape.list !== null,
    bookmark: shape.resource.history ? (db.prepare(bookmarkSql).get() as Bookmark) : null,
    // A run that was under way then may have ended since.
    matches: ({ run }) =>
      db.prepare(`SELECT 1 FROM sync_runs WHERE ? IN (${runName}, ${begunRun})`).get(run) !== undefined,
    precedesRedaction: ({ run }) => redactedAfterRun !== null && Number.parseInt(run, 10) <= redactedAfterRun,
    rows: (after) => read((part) => changedRowsSql(shape, part, names, after === undefined), after),
    removedItems(after) {
      const { list } = shape;
      return list ? read((part) => removedItemsSql(shape, part, list, names), after) : [];
    },
  };
}

const bookmarkSql = `SELECT (SELECT ${runName} FROM sync_runs ORDER BY run_id DESC LIMIT 1) AS run,
  coalesce((SELECT max(record_id) FROM records), 0) AS record_id,
  coalesce((SELECT max(version_id) FROM record_versions), 0) AS version_id`;

function idColumnsOf({ resource: { pagination, key }, list }: TableShape): readonly string[] {
  if (pagination !== "documented") return [];
  if (list && key.length > 0) return list.field.parent.map(({ column }) => column);
  // A member of an object, such as `host.id`, is a column that bears both names.
  return key.map((path) => path.replaceAll(".", "_"));
}

/** New since then, or with a version since then: each change of a record keeps what it was, a removal too. */
const changedIds = `r.record_id > @record_id
  OR r.record_id IN (SELECT v.record_id FROM record_versions AS v WHERE v.version_id > @version_id)`;

function changedRowsSql(
  shape: TableShape,
  part: RecordState,
  names: readonly string[],
  isAll: boolean,
): string {
  const rowId = `t.${rowIdColumn(shape)}`;
  const recordId = shape.list ? `t.row_id / ${positionsPerRecord}` : "t.record_id";
  const position = shape.list ? `t.row_id % ${positionsPerRecord}` : "NULL";
  const values = names.map((column) => `t.${quote(column)}`);
  return `SELECT ${[...values, "r.key", position, "r.removed_at"].join(", ")}
    FROM ${quote(tableName(shape, part))} AS t CROSS JOIN records AS r ON r.record_id = ${recordId}
    ${isAll ? "" : `WHERE ${changedIds}`} ORDER BY ${rowId}`;
}

/** The oldest version since then is the record as it was sent: items beyond the present list's length are lost. */
function removedItemsSql(
  { resource }: TableShape,
  part: RecordState,
  { path, field }: NonNullable<TableShape["list"]>,
  names: readonly string[],
): string {
  const at = `'$.${path.map((member) => `"${member}"`).join(".")}'`;
  const cellOf = (name: string) => {
    const parent = field.parent.find(({ column }) => column === name);
    if (parent) return `p.${quote(parent.from)}`;
    return name === "position" ? "e.key" : "NULL";
  };
  return `SELECT ${[...names.map(cellOf), "r.key", "e.key", "r.since_at"].join(", ")}
    FROM record_versions AS v JOIN records AS r ON r.record_id = v.record_id
      JOIN ${quote(tableName({ name: resource.table }, part))} AS p ON p.record_id = r.record_id JOIN json_each(v.json, ${at}) AS e
    WHERE r.resource = '${resource.name}' AND r.record_id <= @record_id AND v.version_id IN (
        SELECT min(version_id) FROM record_versions WHERE version_id > @version_id GROUP BY record_id)
      AND typeof(e.key) = 'integer' AND e.key >= coalesce(json_array_length(r.json, ${at}), 0)
    ORDER BY v.record_id, e.key`;
}

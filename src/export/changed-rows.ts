import { inBatches, type Row } from "../query/open-rows.js";
import type { TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { loadRedactedAfterRun } from "../store/redact-mirror.js";
import {
  positionsPerRecord,
  quote,
  type RecordState,
  recordIdSql,
  recordStates,
  rowIdColumn,
  tableName,
} from "../store/table-sql.js";

/** A point in a mirror's history. An incremental export has sent all changes up to this point. */
export interface Bookmark {
  /**
   * The ID, start time and end time of the mirror's newest run. If a mirror does not contain this
   * run, it is a different mirror or an old copy.
   */
  run: string;
  /** The highest `record_id` in `records`, and the highest `version_id` in `record_versions`. */
  record_id: number;
  version_id: number;
}

const runStartSql = "run_id || ' ' || started_at || ' '";
const runSql = `${runStartSql} || coalesce(finished_at, '')`;

/** Returns a bookmark for the current state of the mirror. */
export function createBookmark({ db }: Mirror): Bookmark {
  const select = `SELECT (SELECT ${runSql} FROM sync_runs ORDER BY run_id DESC LIMIT 1) AS run,
    coalesce((SELECT max(record_id) FROM records), 0) AS record_id,
    coalesce((SELECT max(version_id) FROM record_versions), 0) AS version_id`;
  return db.prepare(select).get() as Bookmark;
}

/** True if the bookmark comes from this mirror. */
export function isBookmarkOf({ db }: Mirror, { run }: Bookmark): boolean {
  // Also accept a bookmark without the run's end time, which was created while the run was in progress.
  const find = `SELECT 1 FROM sync_runs WHERE ? IN (${runSql}, ${runStartSql})`;
  return db.prepare(find).get(run) !== undefined;
}

export interface ChangedRow {
  values: Row;
  key: string;
  /** The position of a child row in its record's list, or null for a row in a main table. */
  position: number | null;
  removedAt: string | null;
}

/**
 * Yields the rows of a typed table that have been added, changed or removed since a bookmark. Yields all rows if there
 * is no bookmark, or if data has been redacted since the bookmark, because a redaction stores no earlier versions.
 */
export function* loadChangedRows(
  mirror: Mirror,
  shape: TableShape,
  columns: readonly string[],
  after: Bookmark | undefined,
): Iterable<ChangedRow[]> {
  const isRedacted =
    after !== undefined && Number.parseInt(after.run, 10) <= (loadRedactedAfterRun(mirror) ?? -1);
  const condition = after === undefined || isRedacted ? "true" : changedRecordsSql;
  for (const state of recordStates)
    yield* loadChanges(mirror, rowsSql(shape, state, columns, condition), columns.length, after);
}

/**
 * Yields the list items that have been removed since a bookmark. All columns are null except the position and the
 * columns copied from the record.
 */
export function* loadRemovedItems(
  mirror: Mirror,
  shape: TableShape,
  columns: readonly string[],
  after: Bookmark,
): Iterable<ChangedRow[]> {
  const { list } = shape;
  if (!list) return;
  for (const state of recordStates)
    yield* loadChanges(mirror, removedItemsSql(shape, state, list, columns), columns.length, after);
}

function* loadChanges(
  { db }: Mirror,
  sql: string,
  columnCount: number,
  after: Bookmark | undefined,
): Iterable<ChangedRow[]> {
  const rows = db
    .prepare(sql)
    .raw()
    .iterate(after ?? {}) as IterableIterator<Row>;
  for (const batch of inBatches(rows))
    yield batch.map((row) => {
      const [key, position, removedAt] = row.slice(columnCount) as [string, number | null, string | null];
      return { values: row.slice(0, columnCount), key, position, removedAt };
    });
}

/**
 * Matches records that are new or have changed since the bookmark. Every change, including a removal, stores the
 * record's previous version.
 */
const changedRecordsSql = `r.record_id > @record_id
  OR r.record_id IN (SELECT v.record_id FROM record_versions AS v WHERE v.version_id > @version_id)`;

function rowsSql(shape: TableShape, state: RecordState, names: readonly string[], condition: string): string {
  const rowId = `t.${rowIdColumn(shape)}`;
  const recordId = recordIdSql(shape, rowId);
  const position = shape.list ? `t.row_id % ${positionsPerRecord}` : "NULL";
  const values = names.map((column) => `t.${quote(column)}`);
  return `SELECT ${[...values, "r.key", position, "r.removed_at"].join(", ")}
    FROM ${quote(tableName(shape, state))} AS t CROSS JOIN records AS r ON r.record_id = ${recordId}
    WHERE ${condition} ORDER BY ${rowId}`;
}

/**
 * Selects items that were in a record's list at the last export but no longer are. A version is stored when it is
 * replaced, so the oldest version stored after the bookmark is the record as it was at that export.
 */
function removedItemsSql(
  { resource }: TableShape,
  state: RecordState,
  { path, field }: NonNullable<TableShape["list"]>,
  names: readonly string[],
): string {
  const listPath = `'$.${path.map((member) => `"${member}"`).join(".")}'`;
  const valueSql = (name: string) => {
    const parent = field.parentKey.find(({ column }) => column === name);
    if (parent) return `p.${quote(parent.mainColumn)}`;
    return name === "position" ? "e.key" : "NULL";
  };
  return `SELECT ${[...names.map(valueSql), "r.key", "e.key", "r.since_at"].join(", ")}
    FROM record_versions AS v JOIN records AS r ON r.record_id = v.record_id
      JOIN ${quote(tableName({ name: resource.table }, state))} AS p ON p.record_id = r.record_id JOIN json_each(v.json, ${listPath}) AS e
    WHERE r.resource = '${resource.name}' AND r.record_id <= @record_id AND v.version_id IN (
        SELECT min(version_id) FROM record_versions WHERE version_id > @version_id GROUP BY record_id)
      AND typeof(e.key) = 'integer' AND e.key >= coalesce(json_array_length(r.json, ${listPath}), 0)
    ORDER BY v.record_id, e.key`;
}

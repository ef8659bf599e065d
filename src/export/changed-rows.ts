import { inBatches, type Row, type RowSource } from "../query/select.js";
import type { TableShape } from "../resources/table-shape.js";
import { readRedactedAfterRun } from "../store/redact-mirror.js";
import {
  positionsPerRecord,
  quote,
  type RecordState,
  recordStates,
  rowIdColumn,
  tableName,
} from "../store/table-sql.js";

/** A point in a mirror's history up to which an incremental export has sent all changes. */
export interface Bookmark {
  /** The ID and times of the mirror's newest run. A mirror without this run is a different mirror or an old copy. */
  run: string;
  /** The highest `record_id` in `records`, and the highest `version_id` in `record_versions`. */
  record_id: number;
  version_id: number;
}

export interface ChangedRow {
  values: Row;
  key: string;
  /** The row's position in its record's list, or null for a row in a main table. */
  position: number | null;
  removedAt: string | null;
}

/** The rows of a table that have been added, changed or removed since a bookmark. */
export interface ChangedRows {
  /** The columns that identify a row's record. The list is empty if the API documents no ID. */
  idColumns: readonly string[];
  isList: boolean;
  /**
   * The current state of the mirror. Null for a table without a history, because all of its rows are exported every
   * time.
   */
  bookmark: Bookmark | null;
  /** True if the bookmark was created from this mirror. */
  matches(bookmark: Bookmark): boolean;
  /**
   * Reads the rows that have changed since a bookmark. Reads all rows if there is no bookmark or if data has been
   * redacted since then.
   */
  batches(after: Bookmark | undefined): Iterable<ChangedRow[]>;
  /**
   * Reads the list items that have been removed since a bookmark. All columns are null except the position and the
   * columns copied from the record.
   */
  removedItems(after: Bookmark): Iterable<ChangedRow[]>;
}

const beginningOfRun = "run_id || ' ' || started_at || ' '";
const runName = `${beginningOfRun} || coalesce(finished_at, '')`;

const bookmarkSql = `SELECT (SELECT ${runName} FROM sync_runs ORDER BY run_id DESC LIMIT 1) AS run,
  coalesce((SELECT max(record_id) FROM records), 0) AS record_id,
  coalesce((SELECT max(version_id) FROM record_versions), 0) AS version_id`;

/**
 * Opens a table for an incremental export. Returns undefined for views, system tables, tables for removed records and
 * query results. Must be called inside `withReadTransaction`.
 */
export function openChangedRows(source: RowSource): ChangedRows | undefined {
  const { selection } = source;
  const shape = selection?.table.shape;
  if (!selection || shape?.name !== source.name) return undefined;
  const { mirror } = selection;
  const { db } = mirror;
  const names = source.columns.map(({ name }) => name);
  const redactedAfterRun = readRedactedAfterRun(mirror) ?? -1;

  function* read(sqlOf: (state: RecordState) => string, parameters: object): Iterable<ChangedRow[]> {
    for (const state of recordStates) {
      const rows = db.prepare(sqlOf(state)).raw().iterate(parameters) as IterableIterator<Row>;
      for (const batch of inBatches(rows))
        yield batch.map((row) => {
          const [key, position, removedAt] = row.slice(names.length) as [
            string,
            number | null,
            string | null,
          ];
          return { values: row.slice(0, names.length), key, position, removedAt };
        });
    }
  }

  return {
    idColumns: idColumnsOf(shape),
    isList: shape.list !== null,
    bookmark: shape.resource.keepsHistory ? (db.prepare(bookmarkSql).get() as Bookmark) : null,
    // The run in the bookmark may still have been in progress when the bookmark was created.
    matches: ({ run }) =>
      db.prepare(`SELECT 1 FROM sync_runs WHERE ? IN (${runName}, ${beginningOfRun})`).get(run) !== undefined,
    batches(after) {
      // Redaction changes records without storing their earlier versions.
      const isRedacted = after !== undefined && Number.parseInt(after.run, 10) <= redactedAfterRun;
      const condition = after === undefined || isRedacted ? "true" : changedRecords;
      return read((state) => rowsSql(shape, state, names, condition), after ?? {});
    },
    removedItems(after) {
      const { list } = shape;
      return list ? read((state) => removedItemsSql(shape, state, list, names), after) : [];
    },
  };
}

function idColumnsOf({ resource: { pagination, key }, list }: TableShape): readonly string[] {
  if (pagination !== "documented") return [];
  if (list && key.length > 0) return list.field.parent.map(({ column }) => column);
  // A nested field such as `host.id` becomes the column `host_id`.
  return key.map((path) => path.replaceAll(".", "_"));
}

/** Every change to a record, including its removal, stores the record's previous version. */
const changedRecords = `r.record_id > @record_id
  OR r.record_id IN (SELECT v.record_id FROM record_versions AS v WHERE v.version_id > @version_id)`;

function rowsSql(shape: TableShape, state: RecordState, names: readonly string[], condition: string): string {
  const rowId = `t.${rowIdColumn(shape)}`;
  const recordId = shape.list ? `t.row_id / ${positionsPerRecord}` : "t.record_id";
  const position = shape.list ? `t.row_id % ${positionsPerRecord}` : "NULL";
  const values = names.map((column) => `t.${quote(column)}`);
  return `SELECT ${[...values, "r.key", position, "r.removed_at"].join(", ")}
    FROM ${quote(tableName(shape, state))} AS t CROSS JOIN records AS r ON r.record_id = ${recordId}
    WHERE ${condition} ORDER BY ${rowId}`;
}

/**
 * Selects the items that a record's list contained at the last export and no longer contains. The record's state at
 * that time is the oldest version that was stored after the bookmark.
 */
function removedItemsSql(
  { resource }: TableShape,
  state: RecordState,
  { path, field }: NonNullable<TableShape["list"]>,
  names: readonly string[],
): string {
  const listPath = `'$.${path.map((member) => `"${member}"`).join(".")}'`;
  const valueSql = (name: string) => {
    const parent = field.parent.find(({ column }) => column === name);
    if (parent) return `p.${quote(parent.from)}`;
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

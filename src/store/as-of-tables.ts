import type { Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import { formatInstant } from "../util/times.js";
import { openColumns } from "./columns.js";
import type { Mirror } from "./database.js";
import { openTables } from "./projection.js";
import { readInBatches, type StoredRow } from "./stored-record.js";
import { columnNames, positionsPerRecord, quote, recordStates, rowIdColumn, tableName } from "./table-sql.js";

/**
 * Lays these tables, and the records of their resources, over the real ones as the mirror knew them at a time: as
 * temporary tables of this connection, so that everything reads them alike. Call it inside `withReadTransaction`, once.
 * @param at milliseconds
 */
export function createHistoricalTables(mirror: Mirror, wanted: readonly TableShape[], at: number): void {
  const { db } = mirror;
  db.pragma("temp.cache_size = -4000");
  db.pragma("main.cache_size = -4000");
  const resources = [...new Set(wanted.map(({ resource }) => resource))];
  const names = resources.map(({ name }) => name);
  createRecordsView(mirror, names, formatInstant(at));
  for (const resource of resources) createTypedTables(mirror, resource, wanted);
}

function createTypedTables(mirror: Mirror, resource: Resource, wanted: readonly TableShape[]): void {
  // Children are written with their parent; lists that were not asked for are left out.
  const shapes = tablesOf(resource).filter((shape) => shape.list === null || wanted.includes(shape));
  const write = openTables(mirror, shapes, () => {}, "temp");
  for (const shape of shapes) copyUnchanged(mirror, shape);
  // Only versions other than a record's present one are parsed.
  const select = mirror.db.prepare<[number, string], StoredRow>(
    `SELECT record_id, json, context, since_at, removed_at FROM temp.records
     WHERE record_id > ? AND version_id IS NOT NULL AND resource = ? ORDER BY record_id`,
  );
  for (const record of readInBatches(mirror, select, resource.name)) write(record, true);
}

/**
 * A version of a record held from `since_at` until the next one's; a removal makes one of its own. `past` has the
 * version of each record (null: its present one), `records` reads it from where it is stored. If two held at once,
 * because a clock was set back, the one that was read last counts.
 */
function createRecordsView({ db }: Mirror, resources: readonly string[], at: string): void {
  const wanted = `(${resources.map((name) => `'${name}'`).join(", ")})`;
  db.exec(
    `CREATE TEMP TABLE past (record_id INTEGER PRIMARY KEY, version_id INTEGER, since_at TEXT, removed_at TEXT);
     INSERT INTO past SELECT record_id, NULL, since_at, removed_at
       FROM main.records WHERE +resource IN ${wanted} AND since_at <= '${at}';
     INSERT OR IGNORE INTO past SELECT v.record_id, v.version_id, v.since_at, iif(v.present, NULL, v.since_at)
       FROM main.record_versions AS v CROSS JOIN main.records AS r ON r.record_id = v.record_id
       WHERE r.resource IN ${wanted} AND v.since_at <= '${at}' AND v.until_at > '${at}' ORDER BY v.version_id DESC;
     CREATE TEMP VIEW records AS
       SELECT past.record_id, past.version_id, r.resource, r.key, coalesce(v.json, r.json) AS json, r.context,
         past.since_at, past.removed_at
       FROM past CROSS JOIN main.records AS r ON r.record_id = past.record_id
       LEFT JOIN main.record_versions AS v ON v.version_id = past.version_id`,
  );
}

/** Copies the rows of all records whose present version held then from the mirror's own tables. */
function copyUnchanged(mirror: Mirror, shape: TableShape): void {
  const columns = openColumns(mirror, shape).all();
  const recordId = `t.${rowIdColumn(shape)}${shape.list ? ` / ${positionsPerRecord}` : ""}`;
  for (const part of recordStates) {
    const names = columnNames(shape, columns, part).map(quote);
    const table = quote(tableName(shape, part));
    mirror.db.exec(
      `INSERT INTO temp.${table} (${names.join(", ")}) SELECT ${names.map((name) => `t.${name}`).join(", ")}
       FROM main.${table} AS t CROSS JOIN temp.past AS past ON past.record_id = ${recordId} WHERE past.version_id IS NULL`,
    );
  }
}

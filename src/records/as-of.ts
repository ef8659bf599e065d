import { formatInstant } from "../lib/times.js";
import { columnNames, type Mirror, positionsPerRecord, quote } from "../mirror/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { openColumns } from "./open-columns.js";
import { openTables } from "./projection.js";
import { rowBatches } from "./record-batches.js";
import { type StoredRow, storedRecord } from "./stored-record.js";

/**
 * From now on this connection sees these tables, and the records of their resources, as the mirror knew them at that
 * time. They are laid over the real ones as temporary tables, made from the records as they were, so that everything
 * reads them alike. Call it inside `withSnapshot`, once.
 */
export function readAsOf(mirror: Mirror, wanted: readonly TableShape[], at: number): void {
  const { db } = mirror;
  db.pragma("temp.cache_size = -4000");
  db.pragma("main.cache_size = -4000");
  const resources = [...new Set(wanted.map(({ resource }) => resource))];
  layRecords(
    mirror,
    resources.map(({ name }) => name),
    formatInstant(at),
  );
  for (const resource of resources) layTables(mirror, resource, wanted);
}

function layTables(mirror: Mirror, resource: Resource, wanted: readonly TableShape[]): void {
  // A child's rows are written with its parent's; those of other lists nobody asks for.
  const shapes = tablesOf(resource).filter((shape) => shape.list === null || wanted.includes(shape));
  const write = openTables(mirror, "temp", shapes);
  for (const shape of shapes) copyUnchanged(mirror, shape);
  // Only versions that are not the record's present one are taken apart again.
  const select = mirror.db.prepare<[number, string], StoredRow>(
    `SELECT record_id, json, context, since_at, removed_at FROM temp.records
     WHERE record_id > ? AND version_id IS NOT NULL AND resource = ? ORDER BY record_id`,
  );
  for (const rows of rowBatches(select, resource.name))
    for (const row of rows) {
      const record = storedRecord(row);
      for (let part = 0; !write(record, part); ) part += 1;
    }
}

/**
 * A version of a record held from `since_at` until the next one's; a removal makes one of its own. `past` says which
 * one each record had (null: its present one), `records` reads it from where it is kept. A clock that was set back can
 * make two hold at once: the one that was read last counts.
 */
function layRecords({ db }: Mirror, resources: readonly string[], at: string): void {
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

/** The rows of all records whose present version held then stand in the mirror's own table. */
function copyUnchanged(mirror: Mirror, shape: TableShape): void {
  const names = columnNames(shape, openColumns(mirror, shape).all()).map(quote);
  const recordId = shape.list ? `t.row_id / ${positionsPerRecord}` : "t.record_id";
  const table = quote(shape.name);
  mirror.db.exec(
    `INSERT INTO temp.${table} (${names.join(", ")}) SELECT ${names.map((name) => `t.${name}`).join(", ")}
     FROM main.${table} AS t CROSS JOIN temp.past AS past ON past.record_id = ${recordId} WHERE past.version_id IS NULL`,
  );
}

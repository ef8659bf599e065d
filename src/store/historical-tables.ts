import type { Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import { formatInstant } from "../util/times.js";
import type { Mirror } from "./database.js";
import { Projection } from "./projection.js";
import { parseRecord, type StoredRow } from "./records.js";
import { TableColumns } from "./table-columns.js";
import { columnNames, positionsPerRecord, quote, recordStates, rowIdColumn, tableName } from "./table-sql.js";

/**
 * Creates temporary copies of the typed tables, and a temporary view `records`, with the data as of a given time. On
 * this connection, they hide the real tables. Call this once per connection, in a read transaction.
 * @param at the time in milliseconds since the Unix epoch
 */
export function createHistoricalTables(mirror: Mirror, shapes: readonly TableShape[], at: number): void {
  mirror.db.pragma("temp.cache_size = -4000");
  mirror.db.pragma("main.cache_size = -4000");
  const resources = [...new Set(shapes.map(({ resource }) => resource))];
  const names = resources.map(({ name }) => name);
  createRecordsView(mirror, names, formatInstant(at));
  for (const resource of resources) createTypedTables(mirror, resource, shapes);
}

/**
 * Creates a view `records` with the versions that were current at the given time, and the table `past` on which the
 * view is based. A version is current from its `since_at` until the `since_at` of the next version. A removal counts as
 * a version. A null `version_id` refers to the record's current version. If versions overlap because a clock was set
 * back, the version that was stored last is used.
 */
function createRecordsView({ db }: Mirror, resources: readonly string[], at: string): void {
  const names = `(${resources.map((name) => `'${name}'`).join(", ")})`;
  db.exec(
    `CREATE TEMP TABLE past (record_id INTEGER PRIMARY KEY, version_id INTEGER, since_at TEXT, removed_at TEXT);
     INSERT INTO past SELECT record_id, NULL, since_at, removed_at
       FROM main.records WHERE +resource IN ${names} AND since_at <= '${at}';
     INSERT OR IGNORE INTO past SELECT v.record_id, v.version_id, v.since_at, iif(v.present, NULL, v.since_at)
       FROM main.record_versions AS v CROSS JOIN main.records AS r ON r.record_id = v.record_id
       WHERE r.resource IN ${names} AND v.since_at <= '${at}' AND v.until_at > '${at}' ORDER BY v.version_id DESC;
     CREATE TEMP VIEW records AS
       SELECT past.record_id, past.version_id, r.resource, r.key, coalesce(v.json, r.json) AS json, r.context,
         past.since_at, past.removed_at
       FROM past CROSS JOIN main.records AS r ON r.record_id = past.record_id
       LEFT JOIN main.record_versions AS v ON v.version_id = past.version_id`,
  );
}

function createTypedTables(mirror: Mirror, resource: Resource, wanted: readonly TableShape[]): void {
  // The main table is needed even if only a child table was requested, because child rows are built from its rows.
  const shapes = tablesOf(resource).filter((shape) => shape.list === null || wanted.includes(shape));
  const projection = new Projection(mirror, shapes, "temp");
  for (const shape of shapes) copyCurrentVersions(mirror, shape);
  const earlier = mirror.selectValues<number>(
    "SELECT record_id FROM temp.records WHERE version_id IS NOT NULL AND resource = ?",
    resource.name,
  );
  for (const id of earlier) {
    const row = mirror.selectRow<StoredRow>("SELECT * FROM temp.records WHERE record_id = ?", id);
    if (row) projection.write(parseRecord(mirror, row), { isNew: true });
  }
}

/**
 * Copies the rows of records that have not changed since the given time. This is faster than building them from the
 * records.
 */
function copyCurrentVersions(mirror: Mirror, shape: TableShape): void {
  const columns = new TableColumns(mirror, shape).all();
  const recordId = `t.${rowIdColumn(shape)}${shape.list ? ` / ${positionsPerRecord}` : ""}`;
  for (const state of recordStates) {
    const names = columnNames(shape, columns, state).map(quote);
    const table = quote(tableName(shape, state));
    mirror.db.exec(
      `INSERT INTO temp.${table} (${names.join(", ")}) SELECT ${names.map((name) => `t.${name}`).join(", ")}
       FROM main.${table} AS t CROSS JOIN temp.past AS past ON past.record_id = ${recordId} WHERE past.version_id IS NULL`,
    );
  }
}

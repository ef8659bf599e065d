import { UsageError } from "../errors.js";
import { hasInexactNumbers, parseExact } from "../exact.js";
import type { Mirror } from "../mirror/mirror.js";
import { createTable, positionsPerRecord, quote, type StoredColumn } from "../mirror/schema.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import type { JsonObject } from "../resources/types.js";
import { formatInstant } from "../times.js";
import { readDiscovered } from "./open-columns.js";
import { columnValue, type SqlValue, valueAt } from "./values.js";

/** A record as it was. */
interface PastRecord {
  record_id: number;
  json: string;
  context: string | null;
  since_at: string;
  removed_at: string | null;
}

/**
 * From now on this connection sees a resource's records and tables as the mirror knew them at that time. They are laid
 * over the real ones as temporary tables, made from the records as they were, so that everything reads them alike.
 * Call it inside `withSnapshot`. When the mirror first read the resource tells how far back that can go.
 * @throws UsageError where no history is kept
 */
export function readAsOf(mirror: Mirror, wanted: TableShape, at: number): { firstReadAt: string | null } {
  const { resource } = wanted;
  if (!resource.history)
    throw new UsageError(`The mirror keeps no history of \`${wanted.name}\`, so there is no \`--as-of\`.`, {
      hint: "leave `--as-of` out",
    });
  const { db } = mirror;
  db.pragma("temp.cache_size = -4000");
  db.pragma("main.cache_size = -4000");
  const first = "SELECT min(started_at) FROM sync_runs WHERE resource = ? AND rows_read > 0";
  layRecords(mirror, resource.name, formatInstant(at));
  const shapes = tablesOf(resource).filter((shape) => shape.list === null || shape === wanted);
  const writers = shapes.map((shape) => tableWriter(mirror, shape));
  // Only forms that a record no longer has are taken apart again: everything else stands in the tables.
  const page = db.prepare(
    `SELECT record_id, json, context, since_at, removed_at FROM temp.records
     WHERE record_id > ? AND version_id IS NOT NULL ORDER BY record_id LIMIT 20`,
  );
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const records = page.all(last) as PastRecord[];
    for (const record of records) {
      const value = asObject(JSON.parse(record.json));
      let parent: ReadonlyMap<string, SqlValue> = new Map();
      for (const writer of writers) parent = writer(record, value, parent);
    }
    last = records.at(-1)?.record_id ?? last;
    if (records.length === 0) break;
  }
  return { firstReadAt: db.prepare(first).pluck().get(resource.name) as string | null };
}

/**
 * A record's form held from `since_at` until the next one's; a removal is a form of its own. `past` says which form
 * each record had, `records` reads it from where it is kept. A clock that was set back can make two forms hold at once:
 * the one that was read last counts.
 */
function layRecords({ db }: Mirror, resource: string, at: string): void {
  db.exec(
    `CREATE TEMP TABLE past (record_id INTEGER PRIMARY KEY, version_id INTEGER, since_at TEXT, removed_at TEXT);
     INSERT INTO past SELECT record_id, NULL, since_at, removed_at
       FROM main.records WHERE +resource = '${resource}' AND since_at <= '${at}';
     INSERT OR IGNORE INTO past SELECT v.record_id, v.version_id, v.since_at, iif(v.present, NULL, v.since_at)
       FROM main.record_versions AS v CROSS JOIN main.records AS r ON r.record_id = v.record_id
       WHERE r.resource = '${resource}' AND v.since_at <= '${at}' AND v.until_at > '${at}' ORDER BY v.version_id DESC;
     CREATE TEMP VIEW records AS
       SELECT past.record_id, past.version_id, r.resource, r.key, coalesce(v.json, r.json) AS json, r.context,
         past.since_at, past.removed_at
       FROM past CROSS JOIN main.records AS r ON r.record_id = past.record_id
       LEFT JOIN main.record_versions AS v ON v.version_id = past.version_id`,
  );
}

/**
 * Makes a temporary table of the same name with the rows of all records that still have the form they had. What it
 * returns writes a record's rows into it, and gives the main table's values to its children.
 */
function tableWriter(mirror: Mirror, shape: TableShape) {
  const { db } = mirror;
  const declared = shape.columns.map((column): StoredColumn => ({ ...column, open: false }));
  const columns = [...declared, ...(shape.open ? readDiscovered(mirror, shape.name) : [])];
  db.exec(createTable(shape, columns).replace("CREATE TABLE", "CREATE TEMP TABLE"));
  const technical = shape.list ? ["synced_at", "row_id"] : ["synced_at", "removed_at", "record_id"];
  const names = [...columns.map(({ name }) => name), ...technical];
  copyUnchanged(mirror, shape, columns);
  const insert = db.prepare(
    `INSERT INTO temp.${quote(shape.name)} (${names.map(quote).join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
  );
  return (record: PastRecord, value: JsonObject, parent: ReadonlyMap<string, SqlValue>) => {
    const context = record.context === null ? {} : asObject(JSON.parse(record.context));
    const exact = shape.open && hasInexactNumbers(record.json) ? parseExact(record.json) : undefined;
    const valuesOf = (item: unknown, position: number, exactItem: unknown) =>
      columns.map((column): SqlValue => {
        if (column.from === "parent") return parent.get(column.path[0] ?? "") ?? null;
        if (column.from === "position") return position;
        const source = column.from === "context" ? context : item;
        return columnValue(column, valueAt(source, column.path), shape.name, () => {}, exactItem);
      });
    if (!shape.list) {
      const values = valuesOf(value, 0, exact);
      insert.run(...values, record.since_at, record.removed_at, record.record_id);
      return new Map(columns.map(({ name }, index) => [name, values[index] ?? null]));
    }
    const items = valueAt(value, shape.list.path);
    const exactItems = valueAt(exact, shape.list.path);
    if (Array.isArray(items))
      for (const [position, item] of items.slice(0, positionsPerRecord).entries()) {
        if (typeof item !== "object" || item === null || Array.isArray(item)) continue;
        const exactItem = Array.isArray(exactItems) ? exactItems[position] : undefined;
        const rowId = record.record_id * positionsPerRecord + position;
        insert.run(...valuesOf(item, position, exactItem), record.since_at, rowId);
      }
    return parent;
  };
}

function copyUnchanged({ db }: Mirror, shape: TableShape, columns: readonly StoredColumn[]): void {
  const table = quote(shape.name);
  const own = columns.map(({ name }) => `t.${quote(name)}`);
  const [technical, id] = shape.list
    ? [["past.since_at", "t.row_id"], `t.row_id / ${positionsPerRecord}`]
    : [["past.since_at", "past.removed_at", "t.record_id"], "t.record_id"];
  db.exec(
    `INSERT INTO temp.${table} SELECT ${[...own, ...technical].join(", ")}
     FROM main.${table} AS t CROSS JOIN temp.past AS past ON past.record_id = ${id} WHERE past.version_id IS NULL`,
  );
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

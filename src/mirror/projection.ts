import { hasInexactNumbers, parseExact } from "../exact.js";
import { details, resources } from "../resources/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import type { JsonObject, Resource } from "../resources/types.js";
import { readInfo, writeInfo } from "./info.js";
import type { Mirror } from "./open.js";
import { type OpenColumns, openColumns } from "./open-columns.js";
import { createIndexes, createTable, positionsPerRecord, quote, type StoredColumn } from "./schema.js";
import { type Complaint, columnValue, type SqlValue, valueAt } from "./values.js";

/** A record with what the mirror knows about it: all that its rows are made of. */
export interface StoredRecord {
  recordId: number;
  json: string;
  value: JsonObject;
  context: JsonObject;
  sinceAt: string;
  removedAt: string | null;
}

/** Writes the rows of one resource's tables. */
export interface Projection {
  /** Writes a record's rows; `replace` first takes away those it had. */
  write(record: StoredRecord, replace: boolean): void;
  setRemoved(recordId: number, removedAt: string | null): void;
}

/** Prepares a resource's typed tables, creating those that are missing. */
export function openProjection(
  mirror: Mirror,
  resource: Resource,
  complain: (complaint: Complaint) => void,
): Projection {
  const tables = tablesOf(resource).map((shape) => tableWriter(mirror, shape, complain));
  const main = tables[0];
  if (!main) throw new Error(`no table: ${resource.name}`);
  const setRemoved = mirror.db.prepare(
    `UPDATE ${quote(resource.table)} SET removed_at = ? WHERE record_id = ?`,
  );
  let inexact = readInfo(mirror, `inexact:${resource.table}`) !== null;
  return {
    write(record, replace) {
      if (!inexact && hasInexactNumbers(record.json)) {
        // From now on exports of these tables look numbers up in the records' text.
        writeInfo(mirror, `inexact:${resource.table}`, "1");
        inexact = true;
      }
      const parent = main.writeMain(record);
      for (const child of tables.slice(1)) child.writeItems(record, parent, replace);
    },
    setRemoved: (recordId, removedAt) => void setRemoved.run(removedAt, recordId),
  };
}

/** Creates the typed tables that are missing: people find every table from the first run on. */
export function createTables(mirror: Mirror): void {
  for (const resource of [...resources, ...details])
    for (const shape of tablesOf(resource)) createIfMissing(mirror, shape, openColumns(mirror, shape).all());
}

/** Creates the indexes of a resource's tables: after the first read, since sorted building is far cheaper. */
export function indexProjection(mirror: Mirror, resource: Resource): void {
  for (const shape of tablesOf(resource))
    for (const statement of createIndexes(shape)) mirror.db.exec(statement);
}

function tableWriter(mirror: Mirror, shape: TableShape, complain: (complaint: Complaint) => void) {
  const { db } = mirror;
  const known: OpenColumns = openColumns(mirror, shape);
  createIfMissing(mirror, shape, known.all());
  let columns = known.all();
  let insert = prepareInsert();
  const removeItems = shape.list
    ? db.prepare(`DELETE FROM ${quote(shape.name)} WHERE row_id BETWEEN ? AND ?`)
    : undefined;

  function prepareInsert() {
    const technical = shape.list ? ["synced_at", "row_id"] : ["synced_at", "removed_at", "record_id"];
    const names = [...columns.map((column) => column.name), ...technical];
    return db.prepare(
      `INSERT OR REPLACE INTO ${quote(shape.name)} (${names.map(quote).join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    );
  }

  function valuesOf(
    item: JsonObject,
    record: StoredRecord,
    parent: ReadonlyMap<string, SqlValue>,
    position: number,
    exact: unknown,
  ): SqlValue[] {
    if (shape.open && known.discover(item)) {
      columns = known.all();
      insert = prepareInsert();
    }
    return columns.map((column: StoredColumn) => {
      if (column.from === "parent") return parent.get(column.path[0] ?? "") ?? null;
      if (column.from === "position") return position;
      const source = column.from === "context" ? record.context : item;
      return columnValue(column, valueAt(source, column.path), shape.name, complain, exact);
    });
  }

  /** Only open columns can hold integers that a number cannot: they are then kept as text. */
  const exactOf = (record: StoredRecord) =>
    shape.open && hasInexactNumbers(record.json) ? parseExact(record.json) : undefined;

  return {
    writeMain(record: StoredRecord): ReadonlyMap<string, SqlValue> {
      const values = valuesOf(record.value, record, new Map(), 0, exactOf(record));
      insert.run(...values, record.sinceAt, record.removedAt, record.recordId);
      return new Map(columns.map((column, index) => [column.name, values[index] ?? null]));
    },
    writeItems(record: StoredRecord, parent: ReadonlyMap<string, SqlValue>, replace: boolean): void {
      if (!shape.list) return;
      const first = record.recordId * positionsPerRecord;
      if (replace) removeItems?.run(first, first + positionsPerRecord - 1);
      const items = valueAt(record.value, shape.list.path);
      if (items === undefined || items === null) return;
      if (!Array.isArray(items)) {
        complain({ table: shape.name, column: shape.list.path.join("."), found: typeof items });
        return;
      }
      const exactItems = valueAt(exactOf(record), shape.list.path);
      for (const [position, item] of items.slice(0, positionsPerRecord).entries()) {
        if (typeof item !== "object" || item === null || Array.isArray(item)) {
          complain({ table: shape.name, column: shape.list.path.join("."), found: "not an object" });
          continue;
        }
        const exact = Array.isArray(exactItems) ? exactItems[position] : undefined;
        // The values first: they may bring a new column, and so another statement.
        const values = valuesOf(item, record, parent, position, exact);
        insert.run(...values, record.sinceAt, first + position);
      }
    },
  };
}

function createIfMissing(mirror: Mirror, shape: TableShape, columns: readonly StoredColumn[]): void {
  const there = mirror.db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").pluck();
  if (there.get(shape.name) === undefined) mirror.db.exec(createTable(shape, columns));
}

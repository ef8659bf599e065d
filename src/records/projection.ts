import { hasInexactNumbers, parseExact } from "../exact.js";
import { readInfo, writeInfo } from "../mirror/info.js";
import type { Mirror } from "../mirror/mirror.js";
import {
  createIndexes,
  createTable,
  positionsPerRecord,
  quote,
  type StoredColumn,
} from "../mirror/schema.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import type { JsonObject, Resource } from "../resources/types.js";
import { type OpenColumns, openColumns } from "./open-columns.js";
import { type Complaint, columnValue, type SqlValue, valueAt } from "./values.js";

/** A record with what the mirror knows about it: all that its rows are made of. */
export interface StoredRecord {
  recordId: number;
  json: string;
  /** See `ApiRecord`. */
  plain?: boolean | undefined;
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
  const shapes = tablesOf(resource);
  const tables = shapes.map((shape) => tableWriter(mirror, shape, shapes[0], complain));
  const main = tables[0];
  if (!main) throw new Error(`no table: ${resource.name}`);
  const setRemoved = mirror.db.prepare(
    `UPDATE ${quote(resource.table)} SET removed_at = ? WHERE record_id = ?`,
  );
  let inexact = readInfo(mirror, `inexact:${resource.table}`) !== null;
  return {
    write(record, replace) {
      if (!inexact && !record.plain && hasInexactNumbers(record.json)) {
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

/** Creates the indexes of a resource's tables: after the first read, since sorted building is far cheaper. */
export function indexProjection(mirror: Mirror, resource: Resource): void {
  for (const shape of tablesOf(resource))
    for (const statement of createIndexes(shape)) mirror.db.exec(statement);
}

function tableWriter(
  mirror: Mirror,
  shape: TableShape,
  main: TableShape | undefined,
  complain: (complaint: Complaint) => void,
) {
  const { db } = mirror;
  const known: OpenColumns = openColumns(mirror, shape, complain);
  createIfMissing(mirror, shape, known.all());
  let cells = known.all().map((column) => cellOf(column, shape.name, main, complain));
  let insert = prepareInsert();
  const removeItems = shape.list
    ? db.prepare(`DELETE FROM ${quote(shape.name)} WHERE row_id BETWEEN ? AND ?`)
    : undefined;

  function prepareInsert() {
    const technical = shape.list ? ["synced_at", "row_id"] : ["synced_at", "removed_at", "record_id"];
    const names = [...known.all().map((column) => column.name), ...technical];
    return db.prepare(
      `INSERT OR REPLACE INTO ${quote(shape.name)} (${names.map(quote).join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    );
  }

  function valuesOf(row: CellSource): (SqlValue | bigint)[] {
    if (shape.open && known.discover(row.item, row.record.context)) {
      cells = known.all().map((column) => cellOf(column, shape.name, main, complain));
      insert = prepareInsert();
    }
    const values: (SqlValue | bigint)[] = [];
    for (const cell of cells) values.push(cell(row));
    return values;
  }

  /** Only open columns can hold integers that a number cannot: they are then kept as text. */
  const exactOf = (record: StoredRecord) =>
    shape.open && hasInexactNumbers(record.json) ? parseExact(record.json) : undefined;

  return {
    writeMain(record: StoredRecord): readonly (SqlValue | bigint)[] {
      const values = valuesOf({
        item: record.value,
        record,
        parent: [],
        position: 0,
        exact: exactOf(record),
      });
      insert.run(values, record.sinceAt, record.removedAt, record.recordId);
      return values;
    },
    writeItems(record: StoredRecord, parent: readonly (SqlValue | bigint)[], replace: boolean): void {
      if (!shape.list) return;
      const first = record.recordId * positionsPerRecord;
      if (replace) removeItems?.run(first, first + positionsPerRecord - 1);
      const items = valueAt(record.value, shape.list.path);
      if (items === undefined || items === null) return;
      if (!Array.isArray(items)) {
        complain({ kind: "type", table: shape.name, column: shape.list.path.join("."), found: typeof items });
        return;
      }
      const exactItems = valueAt(exactOf(record), shape.list.path);
      for (const [position, item] of items.slice(0, positionsPerRecord).entries()) {
        if (typeof item !== "object" || item === null || Array.isArray(item)) {
          const column = shape.list.path.join(".");
          complain({ kind: "type", table: shape.name, column, found: "not an object" });
          continue;
        }
        const exact = Array.isArray(exactItems) ? exactItems[position] : undefined;
        // The values first: they may bring a new column, and so another statement.
        const values = valuesOf({ item, record, parent, position, exact });
        values.push(record.sinceAt, first + position);
        insert.run(values);
      }
    },
  };
}

/** What a row's cells are made from. */
interface CellSource {
  item: JsonObject;
  record: StoredRecord;
  /** The main table's values, in the order of its columns. */
  parent: readonly (SqlValue | bigint)[];
  position: number;
  exact: unknown;
}

/** Prepares the making of one column's cells: it runs for every cell of every row. */
function cellOf(
  column: StoredColumn,
  table: string,
  main: TableShape | undefined,
  complain: (complaint: Complaint) => void,
): (source: CellSource) => SqlValue | bigint {
  const { from, path } = column;
  if (from === "position") return ({ position }) => position;
  if (from === "parent") {
    const index = main?.columns.findIndex(({ name }) => name === path[0]) ?? -1;
    return ({ parent }) => parent[index] ?? null;
  }
  const read = readerOf(path);
  if (!column.open && from !== "context")
    return ({ item, exact }) => columnValue(column, read(item), table, complain, exact);
  const holder =
    from === "context" ? ({ record }: CellSource) => record.context : ({ item }: CellSource) => item;
  if (!column.open)
    return (source) => columnValue(column, read(holder(source)), table, complain, source.exact);
  return (source) => {
    const value = valueAt(holder(source), path);
    return bindable(value, columnValue(column, value, table, complain, source.exact));
  };
}

/** `valueAt` for one path: straight to the member, where its name is not one that every object has. */
function readerOf(path: readonly string[]): (object: JsonObject) => unknown {
  const [first, second] = path;
  if (first === undefined || path.length > 2 || path.some((member) => member in Object.prototype))
    return (object) => valueAt(object, path);
  if (second === undefined) return (object) => object[first];
  return (object) => {
    const inner = object[first];
    return typeof inner === "object" && inner !== null ? (inner as JsonObject)[second] : undefined;
  };
}

/**
 * A discovered column has no type to make an integer of what better-sqlite3 binds, a double; and numbers that are
 * kept as text would compare as text. Text are only integers that SQLite's reader could not give back.
 */
function bindable(value: unknown, cell: SqlValue): SqlValue | bigint {
  if (typeof cell === "number") return Number.isSafeInteger(cell) ? BigInt(cell) : cell;
  const isHuge = Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "number" && !isHuge ? value : cell;
}

export function createIfMissing(mirror: Mirror, shape: TableShape, columns: readonly StoredColumn[]): void {
  const there = mirror.db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").pluck();
  if (there.get(shape.name) === undefined) mirror.db.exec(createTable(shape, columns));
}

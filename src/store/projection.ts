import type { Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import { isObject, type JsonObject } from "../util/json-value.js";
import { formatUtc, readTimestamp } from "../util/timestamp.js";
import { openColumns } from "./columns.js";
import type { Mirror } from "./database.js";
import { type StoredRecord, stateOf } from "./stored-record.js";
import {
  columnNames,
  createIndexSql,
  createTableSql,
  mainDateColumn,
  positionsPerRecord,
  quote,
  type RecordState,
  recordStates,
  rowIdColumn,
  type SchemaName,
  type TableColumn,
  tableName,
} from "./table-sql.js";
import { jsonType, type ReportIssue, type SqlValue, toColumnValue, valueAt } from "./values.js";

/** A row as it is bound. */
export type RowValues = (SqlValue | bigint)[];

/** The source of a row's cells. */
export interface CellSource {
  item: JsonObject;
  context: JsonObject;
  /** The row of the main table. */
  parent: Readonly<RowValues>;
  position: number;
}

/** Returns the function that makes a column's cells: it runs for every cell of every row. */
export function cellOf(
  column: TableColumn,
  table: string,
  main: TableShape,
  complain: ReportIssue,
): (source: CellSource) => SqlValue | bigint {
  const { from, path } = column;
  if (from === "position") return ({ position }) => position;
  if (from === "parent") {
    const index = main.columns.findIndex(({ name }) => name === path[0]);
    return ({ parent }) => parent[index] ?? null;
  }
  const read = readerOf(path);
  if (from === "context") return ({ context }) => toColumnValue(column, read(context), table, complain);
  return ({ item }) => toColumnValue(column, read(item), table, complain);
}

/** Returns `valueAt` for one path: a plain access, unless a name is one that every object has. */
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
 * Prepares the rows of one table, to write them or to compare a table with them.
 * @param main the resource's main table, from which children take their parent's columns
 * @param discovers whether scalars that are seen for the first time become columns
 */
export function openRows(
  mirror: Mirror,
  shape: TableShape,
  main: TableShape,
  discovers: boolean,
  complain: ReportIssue,
) {
  const known = openColumns(mirror, shape, complain);
  const prepareCells = () => known.all().map((column) => cellOf(column, shape.name, main, complain));
  let cells = prepareCells();
  const date = mainDateColumn(shape);
  const dateIndex = date && shape.columns.indexOf(date);

  function valuesOf(source: CellSource): RowValues {
    if (shape.discoversColumns && discovers && known.discover(source.item, source.context))
      cells = prepareCells();
    const values: RowValues = [];
    for (const cell of cells) values.push(cell(source));
    return values;
  }

  function mismatch(found: string): void {
    complain({ kind: "type", table: shape.name, column: (shape.list?.path ?? []).join("."), found });
  }

  return {
    columns: known.all,
    /** Returns all column names in the order of a row's values, the integer key last. Discovered columns add to them. */
    names: (part: RecordState) => columnNames(shape, known.all(), part),
    /** Returns a record's row of the main table. */
    main({ context, recordId, removedAt, sinceAt, value }: StoredRecord): RowValues {
      const values = valuesOf({ item: value, context, parent: [], position: 0 });
      if (dateIndex !== undefined) values.push(...dateCells(values[dateIndex]));
      if (removedAt === null) values.push(sinceAt, recordId);
      else values.push(sinceAt, removedAt, recordId);
      return values;
    },
    /** Makes the rows of a record's list. @param take is given each before the next, which may bring a new column */
    items(
      { context, recordId, removedAt, sinceAt, value }: StoredRecord,
      parent: Readonly<RowValues>,
      take: (values: RowValues) => void,
    ): void {
      const list = shape.list ? (valueAt(value, shape.list.path) ?? []) : [];
      if (!Array.isArray(list)) mismatch(jsonType(list));
      for (const [position, item] of Array.isArray(list) ? list.entries() : []) {
        if (!isObject(item)) {
          mismatch("not an object");
          continue;
        }
        const values = valuesOf({ item, context, parent, position });
        const rowId = recordId * positionsPerRecord + position;
        if (removedAt === null) values.push(sinceAt, rowId);
        else values.push(sinceAt, removedAt, rowId);
        take(values);
      }
    },
  };
}

/** Returns the values of `dateColumns`: the day, the month and the time of a date in UTC; nulls if it is unreadable. */
function dateCells(date: RowValues[number] | undefined): [string | null, string | null, string | null] {
  const timestamp = typeof date === "string" ? readTimestamp(date) : undefined;
  if (!timestamp) return [null, null, null];
  const text = formatUtc(timestamp);
  return [text.slice(0, 10), text.slice(0, 7), text];
}

/**
 * Prepares both tables of a shape, and creates them if they are missing. Temporary ones have the columns of the mirror's,
 * and discover none.
 * @param main the resource's main table, from which children take their parent's columns
 */
export function openTable(
  mirror: Mirror,
  schema: SchemaName,
  shape: TableShape,
  main: TableShape,
  complain: ReportIssue,
) {
  const { db } = mirror;
  const rows = openRows(mirror, shape, main, schema === "main", complain);
  createTables(mirror, shape, rows.columns(), schema);
  const inserts = { current: prepareInsert("current"), removed: prepareInsert("removed") };
  const id = rowIdColumn(shape);
  const deletes = recordStates.map((part) => ({
    part,
    statement: db.prepare(`DELETE FROM ${nameIn(part)} WHERE ${id} BETWEEN ? AND ?`),
  }));

  function nameIn(part: RecordState): string {
    return `${schema}.${quote(tableName(shape, part))}`;
  }

  function prepareInsert(part: RecordState) {
    const names = rows.names(part);
    const places = names.map(() => "?").join(", ");
    const columns = names.map(quote).join(", ");
    const statement = db.prepare(`INSERT OR REPLACE INTO ${nameIn(part)} (${columns}) VALUES (${places})`);
    return { statement, width: names.length };
  }

  function put(values: RowValues, part: RecordState): void {
    // A row may have brought a new column.
    if (values.length !== inserts[part].width) inserts[part] = prepareInsert(part);
    inserts[part].statement.run(values);
  }

  return {
    /** Writes a record's row of the main table. @returns its values, for the rows of its children */
    writeMain(record: StoredRecord): Readonly<RowValues> {
      const values = rows.main(record);
      put(values, stateOf(record));
      return values;
    },
    writeItems(record: StoredRecord, parent: Readonly<RowValues>): void {
      const part = stateOf(record);
      rows.items(record, parent, (values) => put(values, part));
    },
    /** Deletes the earlier rows of a record. Its row in the main table stays if it is replaced there. */
    removeRows(record: StoredRecord): void {
      const { recordId } = record;
      const first = shape.list ? recordId * positionsPerRecord : recordId;
      const last = shape.list ? first + positionsPerRecord - 1 : recordId;
      for (const { part, statement } of deletes)
        if (shape.list || part !== stateOf(record)) statement.run(first, last);
    },
  };
}

/** Creates both tables of a shape if they are missing. */
export function createTables(
  { db }: Mirror,
  shape: TableShape,
  columns: readonly TableColumn[],
  schema: SchemaName = "main",
): void {
  const find = db.prepare(`SELECT 1 FROM ${schema}.sqlite_master WHERE type = 'table' AND name = ?`);
  for (const part of recordStates)
    if (find.get(tableName(shape, part)) === undefined)
      db.exec(createTableSql(shape, columns, { part, schema }));
}

/** Writes a record's rows. @param isNew true if it has no rows yet */
export type WriteRows = (record: StoredRecord, isNew: boolean) => void;

/**
 * Prepares typed tables of one resource, the main one first, and creates those that are missing. In `temp` they are this
 * connection's own, and lie over those of the same name.
 */
export function openTables(
  mirror: Mirror,
  shapes: readonly TableShape[],
  complain: ReportIssue = () => {},
  schema: SchemaName = "main",
): WriteRows {
  const [first, ...others] = shapes;
  if (!first) throw new Error("no table to write");
  const main = openTable(mirror, schema, first, first, complain);
  const children = others.map((shape) => openTable(mirror, schema, shape, first, complain));
  return (record, isNew) => {
    if (!isNew) for (const table of [main, ...children]) table.removeRows(record);
    const parent = main.writeMain(record);
    for (const child of children) child.writeItems(record, parent);
  };
}

/** Creates the indexes of a resource's tables: after the first read, because sorted building is far cheaper. */
export function indexTables(mirror: Mirror, resource: Resource): void {
  for (const statement of tablesOf(resource).flatMap(createIndexSql)) mirror.db.exec(statement);
}

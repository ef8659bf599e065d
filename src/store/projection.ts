import type { Statement } from "better-sqlite3";
import type { ScalarType } from "../resources/fields.js";
import type { Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import { numberFromText } from "../util/amounts.js";
import { isObject, type JsonObject, valueAt } from "../util/json-value.js";
import { formatUtc, readTimestamp } from "../util/timestamp.js";
import type { Mirror } from "./database.js";
import { recordState, type StoredRecord } from "./records.js";
import { jsonType, numberAsText, type ReportIssue } from "./schema-issues.js";
import { TableColumns } from "./table-columns.js";
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

/**
 * Writes records as rows in a resource's typed tables, and creates missing tables. Tables in the schema `temp` hide
 * tables with the same names on this connection and never get new columns.
 */
export class Projection {
  readonly #main: TableWriter;
  readonly #children: readonly TableWriter[];

  /** @param shapes the main table, followed by its child tables */
  constructor(
    mirror: Mirror,
    [main, ...children]: readonly TableShape[],
    report: ReportIssue = () => {},
    schema: SchemaName = "main",
  ) {
    if (!main) throw new Error("a projection requires a main table");
    this.#main = new TableWriter(mirror, main, main, report, schema);
    this.#children = children.map((shape) => new TableWriter(mirror, shape, main, report, schema));
  }

  /**
   * Writes a record's rows and deletes its earlier rows.
   * @param isNew true if the record has no rows yet
   */
  write(record: StoredRecord, isNew: boolean): void {
    if (!isNew) for (const table of [this.#main, ...this.#children]) table.deleteRows(record);
    const parent = this.#main.writeRow(record);
    for (const child of this.#children) child.writeItems(record, parent);
  }
}

interface Insert {
  statement: Statement<unknown[]>;
  width: number;
}

/** Writes to a shape's two tables: one for current records and one for removed records. */
class TableWriter {
  readonly #rows: RowBuilder;
  readonly #inserts: Record<RecordState, Insert>;
  readonly #deletes;

  constructor(
    private readonly mirror: Mirror,
    private readonly shape: TableShape,
    main: TableShape,
    report: ReportIssue,
    private readonly schema: SchemaName,
  ) {
    this.#rows = new RowBuilder(mirror, shape, main, { discovers: schema === "main", report });
    createTables(mirror, shape, this.#rows.columns(), schema);
    this.#inserts = { current: this.#prepareInsert("current"), removed: this.#prepareInsert("removed") };
    this.#deletes = recordStates.map((state) => ({
      state,
      statement: mirror.db.prepare(
        `DELETE FROM ${this.#tableIn(state)} WHERE ${rowIdColumn(shape)} BETWEEN ? AND ?`,
      ),
    }));
  }

  /**
   * Writes a record's row in the main table.
   * @returns the row, which provides values for the child rows
   */
  writeRow(record: StoredRecord): TableRow {
    const row = this.#rows.mainRow(record);
    this.#insert(row, recordState(record));
    return row;
  }

  writeItems(record: StoredRecord, parent: TableRow): void {
    const state = recordState(record);
    for (const row of this.#rows.itemRows(record, parent)) this.#insert(row, state);
  }

  /** Deletes a record's earlier rows, except the row that `writeRow` replaces. */
  deleteRows(record: StoredRecord): void {
    const { list } = this.shape;
    const { recordId } = record;
    const first = list ? recordId * positionsPerRecord : recordId;
    const last = list ? first + positionsPerRecord - 1 : recordId;
    for (const { state, statement } of this.#deletes)
      if (list || state !== recordState(record)) statement.run(first, last);
  }

  #insert(row: TableRow, state: RecordState): void {
    // If a column has just been discovered, the row has more values than the prepared statement.
    if (row.length !== this.#inserts[state].width) this.#inserts[state] = this.#prepareInsert(state);
    this.#inserts[state].statement.run(row);
  }

  #prepareInsert(state: RecordState): Insert {
    const names = this.#rows.names(state);
    const columns = names.map(quote).join(", ");
    const values = names.map(() => "?").join(", ");
    const insert = `INSERT OR REPLACE INTO ${this.#tableIn(state)} (${columns}) VALUES (${values})`;
    return { statement: this.mirror.db.prepare<unknown[]>(insert), width: names.length };
  }

  #tableIn(state: RecordState): string {
    return `${this.schema}.${quote(tableName(this.shape, state))}`;
  }
}

/** A row's values in the order of `columnNames`, with the integer key last. */
export type TableRow = (SqlValue | bigint)[];

export class RowBuilder {
  readonly #columns: TableColumns;
  #cells: readonly CellReader[];
  /** The index of the main date column, or null if the table has none. */
  readonly #dateIndex: number | null;

  /**
   * @param main the resource's main table, which provides values for child rows
   * @param discovers true to add columns for scalar values that have none
   */
  constructor(
    mirror: Mirror,
    private readonly shape: TableShape,
    private readonly main: TableShape,
    private readonly options: { discovers: boolean; report: ReportIssue },
  ) {
    this.#columns = new TableColumns(mirror, shape, options.report);
    this.#cells = this.#createCells();
    const date = mainDateColumn(shape);
    this.#dateIndex = date ? shape.columns.indexOf(date) : null;
  }

  columns(): readonly TableColumn[] {
    return this.#columns.all();
  }

  /** Returns the column names, including the names of the columns discovered so far. */
  names(state: RecordState): readonly string[] {
    return columnNames(this.shape, this.#columns.all(), state);
  }

  mainRow(record: StoredRecord): TableRow {
    const { context, recordId, value } = record;
    const row = this.#columnValues({ item: value, context, parent: [], position: 0 });
    if (this.#dateIndex !== null) row.push(...utcDates(row[this.#dateIndex]));
    return addMirrorColumns(row, record, recordId);
  }

  /**
   * Yields the rows for a record's list. Write each row before requesting the next row, because building the next row
   * may add a column.
   */
  *itemRows(record: StoredRecord, parent: TableRow): Generator<TableRow> {
    const { context, recordId, value } = record;
    const list = this.shape.list ? (valueAt(value, this.shape.list.path) ?? []) : [];
    if (!Array.isArray(list)) {
      this.#reportType(jsonType(list));
      return;
    }
    for (const [position, item] of list.entries()) {
      if (!isObject(item)) {
        this.#reportType("not an object");
        continue;
      }
      const row = this.#columnValues({ item, context, parent, position });
      yield addMirrorColumns(row, record, recordId * positionsPerRecord + position);
    }
  }

  #columnValues(source: CellSource): TableRow {
    if (this.shape.discoversColumns && this.options.discovers)
      if (this.#columns.discover(source.item, source.context)) this.#cells = this.#createCells();
    const row: TableRow = [];
    for (const read of this.#cells) row.push(read(source));
    return row;
  }

  #createCells(): readonly CellReader[] {
    const { main, shape } = this;
    return this.#columns.all().map((column) => createCell(column, shape.name, main, this.options.report));
  }

  #reportType(found: string): void {
    const column = (this.shape.list?.path ?? []).join(".");
    this.options.report({ kind: "type", table: this.shape.name, column, found });
  }
}

function addMirrorColumns(row: TableRow, { removedAt, sinceAt }: StoredRecord, id: number): TableRow {
  if (removedAt === null) row.push(sinceAt, id);
  else row.push(sinceAt, removedAt, id);
  return row;
}

/** Returns the values of `utcDateColumns`, or nulls if the date is unreadable. */
function utcDates(date: TableRow[number] | undefined): [string | null, string | null, string | null] {
  const timestamp = typeof date === "string" ? readTimestamp(date) : undefined;
  if (!timestamp) return [null, null, null];
  const text = formatUtc(timestamp);
  return [text.slice(0, 10), text.slice(0, 7), text];
}

interface CellSource {
  item: JsonObject;
  context: JsonObject;
  parent: TableRow;
  position: number;
}

type CellReader = (source: CellSource) => SqlValue | bigint;

/** Returns a function that reads one cell. Everything that does not depend on the row is computed here. */
function createCell(column: TableColumn, table: string, main: TableShape, report: ReportIssue): CellReader {
  const { from, path } = column;
  if (from === "position") return ({ position }) => position;
  if (from === "parent") {
    const index = main.columns.findIndex(({ name }) => name === path[0]);
    return ({ parent }) => parent[index] ?? null;
  }
  const read = createReader(path);
  if (from === "context") return ({ context }) => toColumnValue(column, read(context), table, report);
  return ({ item }) => toColumnValue(column, read(item), table, report);
}

/** Returns a version of `valueAt` that is faster for short, fixed paths. */
function createReader(path: readonly string[]): (object: JsonObject) => unknown {
  const [first, second] = path;
  if (first === undefined || path.length > 2 || path.some((member) => member in Object.prototype))
    return (object) => valueAt(object, path);
  if (second === undefined) return (object) => object[first];
  return (object) => {
    const inner = object[first];
    return typeof inner === "object" && inner !== null ? (inner as JsonObject)[second] : undefined;
  };
}

export function createTables(
  { db }: Mirror,
  shape: TableShape,
  columns: readonly TableColumn[],
  schema: SchemaName = "main",
): void {
  const find = db.prepare(`SELECT 1 FROM ${schema}.sqlite_master WHERE type = 'table' AND name = ?`);
  for (const state of recordStates)
    if (find.get(tableName(shape, state)) === undefined)
      db.exec(createTableSql(shape, columns, { state, schema }));
}

/**
 * Creates the indexes of a resource's tables. Call this after the first read, because inserting into indexed
 * tables is slower.
 */
export function indexTables(mirror: Mirror, resource: Resource): void {
  for (const statement of tablesOf(resource).flatMap(createIndexSql)) mirror.db.exec(statement);
}

export type SqlValue = string | number | null;

/**
 * Converts a value to its column's type. If the value has an unexpected type, reports it, and returns null unless it is
 * a string that contains a number.
 */
export function toColumnValue(
  column: TableColumn,
  value: unknown,
  table: string,
  report: ReportIssue,
): SqlValue | bigint {
  if (value === undefined || value === null) return null;
  const { isDiscovered, type } = column;
  // SQLite would store a lone surrogate as invalid UTF-8.
  if (typeof value === "string" && (isDiscovered || isText(type))) return value.toWellFormed();
  // better-sqlite3 binds numbers as REAL, and a column without a declared type would store them that way.
  if (typeof value === "boolean" && (isDiscovered || type === "boolean"))
    return isDiscovered ? BigInt(value) : Number(value);
  if (typeof value === "number") {
    if (isDiscovered) return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (type === "number" || (type === "integer" && Number.isSafeInteger(value))) return value;
  }
  if (isDiscovered) return null;
  if (type === "json") return JSON.stringify(value);
  const number = typeof value === "string" ? parseNumber(value, type) : undefined;
  const found = number === undefined ? jsonType(value) : numberAsText;
  report({ kind: "type", table, column: column.name, found });
  return number ?? null;
}

/** Parses a string as a number if the column can store that number. */
function parseNumber(text: string, type: ScalarType): number | undefined {
  if (type !== "number" && type !== "integer") return undefined;
  const number = numberFromText(text);
  return type === "integer" && !Number.isSafeInteger(number) ? undefined : number;
}

function isText(type: ScalarType): boolean {
  return type === "text" || type === "timestamp" || type === "date";
}

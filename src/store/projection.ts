import type { ScalarType } from "../resources/fields.js";
import type { Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import { isObject, type JsonObject, valueAt } from "../util/json-value.js";
import { parseJsonNumber } from "../util/numbers.js";
import { formatUtc, readTimestamp } from "../util/times.js";
import type { Mirror } from "./database.js";
import { recordState, type StoredRecord } from "./records.js";
import { jsonType, numberAsText, type SchemaIssue } from "./schema-issues.js";
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
  TableColumns,
  tableName,
} from "./table-sql.js";

/**
 * Writes records as rows in a resource's typed tables, and creates tables that do not exist. Tables in the schema
 * `temp` hide the tables with the same names on this connection, and no columns are added to them.
 */
export class Projection {
  readonly #main: TableWriter;
  readonly #children: readonly TableWriter[];
  #issues: SchemaIssue[] = [];

  constructor(mirror: Mirror, [main, ...children]: readonly TableShape[], schema: SchemaName = "main") {
    if (!main) throw new Error("a projection requires a main table");
    const report = (issue: SchemaIssue) => this.#issues.push(issue);
    const open = (shape: TableShape) => new TableWriter(mirror, shape, main, report, schema);
    this.#main = open(main);
    this.#children = children.map(open);
  }

  /**
   * Replaces a record's rows.
   * @param options.isNew true if the record has no rows yet
   * @returns the differences between the record and the tables' columns
   */
  write(record: StoredRecord, { isNew }: { isNew: boolean }): readonly SchemaIssue[] {
    this.#issues = [];
    if (!isNew) for (const table of [this.#main, ...this.#children]) table.deleteRows(record);
    const parent = this.#main.writeRow(record);
    for (const child of this.#children) child.writeItems(record, parent);
    return this.#issues;
  }
}

type ReportIssue = (issue: SchemaIssue) => void;

class TableWriter {
  readonly #rows: RowBuilder;
  readonly #inserts = new Map<RecordState, { sql: string; columnCount: number }>();

  constructor(
    private readonly mirror: Mirror,
    private readonly shape: TableShape,
    main: TableShape,
    report: ReportIssue,
    private readonly schema: SchemaName,
  ) {
    this.#rows = new RowBuilder(mirror, shape, main, { discovers: schema === "main", report });
    const find = `SELECT 1 FROM ${schema}.sqlite_master WHERE type = 'table' AND name = ?`;
    for (const state of recordStates)
      if (mirror.selectValue(find, tableName(shape, state)) === undefined)
        mirror.db.exec(createTableSql(shape, this.#rows.columns(), { state, schema }));
  }

  writeRow(record: StoredRecord): TableRow {
    const row = this.#rows.mainRow(record);
    this.#insert(row, recordState(record));
    return row;
  }

  writeItems(record: StoredRecord, parent: TableRow): void {
    const state = recordState(record);
    for (const row of this.#rows.itemRows(record, parent)) this.#insert(row, state);
  }

  /** Deletes a record's earlier rows, except for the main row that `writeRow` replaces. */
  deleteRows(record: StoredRecord): void {
    const { list } = this.shape;
    const { recordId } = record;
    const first = list ? recordId * positionsPerRecord : recordId;
    const last = list ? first + positionsPerRecord - 1 : recordId;
    const condition = `${rowIdColumn(this.shape)} BETWEEN ? AND ?`;
    for (const state of recordStates)
      if (list || state !== recordState(record))
        this.mirror.run(`DELETE FROM ${this.#tableIn(state)} WHERE ${condition}`, first, last);
  }

  #insert(row: TableRow, state: RecordState): void {
    this.mirror.run(this.#insertSql(state), row);
  }

  /** Returns the cached INSERT statement, or a new one if a column has been discovered since the last call. */
  #insertSql(state: RecordState): string {
    const columnCount = this.#rows.columns().length;
    const cached = this.#inserts.get(state);
    if (cached?.columnCount === columnCount) return cached.sql;
    const names = this.#rows.names(state);
    const values = names.map(() => "?").join(", ");
    const sql = `INSERT OR REPLACE INTO ${this.#tableIn(state)} (${names.map(quote).join(", ")}) VALUES (${values})`;
    this.#inserts.set(state, { sql, columnCount });
    return sql;
  }

  #tableIn(state: RecordState): string {
    return `${this.schema}.${quote(tableName(this.shape, state))}`;
  }
}

/** A row's values in the order of `columnNames`. The integer key comes last. */
export type TableRow = (SqlValue | bigint)[];

export type SqlValue = string | number | null;

interface RowInput {
  item: JsonObject;
  context: JsonObject;
  parent: TableRow;
  position: number;
}

export class RowBuilder {
  readonly #columns: TableColumns;
  readonly #dateIndex: number | null;
  /** The positions of the main table's columns in its rows. */
  readonly #parentIndexes: ReadonlyMap<string | undefined, number>;

  /**
   * @param main the resource's main table, whose values may be copied to child rows
   * @param discovers true to add columns for scalar values that have no column
   */
  constructor(
    mirror: Mirror,
    private readonly shape: TableShape,
    main: TableShape,
    private readonly options: { discovers: boolean; report: ReportIssue },
  ) {
    this.#columns = new TableColumns(mirror, shape, options.report);
    const date = mainDateColumn(shape);
    this.#dateIndex = date ? shape.columns.indexOf(date) : null;
    this.#parentIndexes = new Map(main.columns.map(({ name }, index) => [name, index]));
  }

  columns(): readonly TableColumn[] {
    return this.#columns.all();
  }

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
   * Yields the rows for a list in a record. Write each row before requesting the next, because building a row may add a
   * column.
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

  #columnValues(source: RowInput): TableRow {
    if (this.shape.discoversColumns && this.options.discovers)
      this.#columns.discover(source.item, source.context);
    const row: TableRow = [];
    for (const column of this.#columns.all()) row.push(this.#columnValue(column, source));
    return row;
  }

  #columnValue(column: TableColumn, { context, item, parent, position }: RowInput): SqlValue | bigint {
    const { from, path } = column;
    if (from === "position") return position;
    if (from === "parent") return parent[this.#parentIndexes.get(path[0]) ?? -1] ?? null;
    const value = valueAt(from === "context" ? context : item, path);
    return toColumnValue(column, value, this.shape.name, this.options.report);
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

function utcDates(date: TableRow[number] | undefined): [string | null, string | null, string | null] {
  const timestamp = typeof date === "string" ? readTimestamp(date) : undefined;
  if (!timestamp) return [null, null, null];
  const text = formatUtc(timestamp);
  return [text.slice(0, 10), text.slice(0, 7), text];
}

/**
 * Converts a value to its column's type. Every value of a different type is reported. A string that contains a number is
 * converted; any other such value becomes null.
 */
function toColumnValue(
  column: TableColumn,
  value: unknown,
  table: string,
  report: ReportIssue,
): SqlValue | bigint {
  if (value === undefined || value === null) return null;
  if (column.isDiscovered) return toUntypedValue(value);
  const typed = toTypedValue(column.type, value);
  if (typed !== undefined) return typed;
  const number = typeof value === "string" ? parseNumber(value, column.type) : undefined;
  const found = number === undefined ? jsonType(value) : numberAsText;
  report({ kind: "type", table, column: column.name, found });
  return number ?? null;
}

function toUntypedValue(value: unknown): SqlValue | bigint {
  if (typeof value === "string") return value.toWellFormed();
  // better-sqlite3 binds JavaScript numbers as REAL, so integers are passed as bigints.
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  return null;
}

function toTypedValue(type: ScalarType, value: unknown): SqlValue | undefined {
  switch (type) {
    case "json":
      return JSON.stringify(value);
    case "boolean":
      return typeof value === "boolean" ? Number(value) : undefined;
    case "number":
      return typeof value === "number" ? value : undefined;
    case "integer":
      return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
    default:
      // SQLite would store a lone surrogate as invalid UTF-8.
      return typeof value === "string" ? value.toWellFormed() : undefined;
  }
}

function parseNumber(text: string, type: ScalarType): number | undefined {
  if (type !== "number" && type !== "integer") return undefined;
  const number = parseJsonNumber(text);
  return type === "integer" && !Number.isSafeInteger(number) ? undefined : number;
}

/** Creates a resource's indexes. Call this after the first read, because inserting into indexed tables is slower. */
export function indexTables(mirror: Mirror, resource: Resource): void {
  for (const sql of tablesOf(resource).flatMap(createIndexSql)) mirror.db.exec(sql);
}

import type { ScalarType } from "../resources/fields.js";
import type { Resource } from "../resources/resource.js";
import { listTableShapes, type ShapeColumn, type TableShape } from "../resources/table-shape.js";
import { isObject, type JsonObject, valueAt } from "../util/json-value.js";
import { parseJsonNumber } from "../util/numbers.js";
import { formatUtc, parseTimestampParts } from "../util/timestamps.js";
import type { Mirror } from "./database.js";
import { loadColumns, TableColumns } from "./discovered-columns.js";
import { type ParsedRecord, recordState } from "./records.js";
import { jsonType, numberAsText, type SchemaIssue } from "./schema-issues.js";
import {
  type AddedColumn,
  addedColumns,
  columnNames,
  createIndexSql,
  createTableSql,
  mainDateColumn,
  quote,
  type RecordState,
  recordStates,
  rowIdColumn,
  rowIdRange,
  type SchemaName,
  tableName,
} from "./table-sql.js";

/**
 * Creates a resource's typed tables. Tables in the `temp` schema exist only on this connection, where they hide the
 * tables with the same names.
 */
export function createTables(mirror: Mirror, shapes: readonly TableShape[], schema: SchemaName): void {
  for (const shape of shapes)
    for (const state of recordStates)
      mirror.db.exec(createTableSql(shape, loadColumns(mirror, shape), state, schema));
}

/** Writes records as rows in a resource's typed tables. Tables in the `temp` schema never get new columns. */
export class Projection {
  readonly #tables: readonly TableWriter[];

  constructor(mirror: Mirror, shapes: readonly TableShape[], schema: SchemaName = "main") {
    this.#tables = shapes.map((shape) => new TableWriter(mirror, shape, schema));
  }

  /**
   * Replaces a record's rows.
   * @param options.isNew true if the record has no rows yet
   * @returns the values and fields in the record that do not fit the tables' columns
   */
  write(record: ParsedRecord, { isNew }: { isNew: boolean }): readonly SchemaIssue[] {
    const issues: SchemaIssue[] = [];
    for (const table of this.#tables) {
      if (!isNew) table.deleteReplacedRows(record);
      table.insertRows(record, issues);
    }
    return issues;
  }
}

class TableWriter {
  readonly #rowBuilder: RowBuilder;
  /** The INSERT statements, cached because building their text takes longer than executing them. */
  readonly #insertSql = new Map<RecordState, string>();

  constructor(
    private readonly mirror: Mirror,
    private readonly shape: TableShape,
    private readonly schema: SchemaName,
  ) {
    this.#rowBuilder = new RowBuilder(mirror, shape);
  }

  insertRows(record: ParsedRecord, issues: SchemaIssue[]): void {
    if (this.shape.discoversColumns && this.schema === "main") {
      const { columns } = this.#rowBuilder;
      for (const { value } of this.#rowBuilder.items(record))
        if (columns.discover(value, record.parameters, issues)) this.#insertSql.clear();
    }
    const insert = this.#insertInto(recordState(record));
    for (const row of this.#rowBuilder.build(record, issues)) this.mirror.execute(insert, row);
  }

  /**
   * Deletes the rows of a record's earlier version that `insertRows` does not replace: in a child table, all of them. A
   * main table has one row per record. This row is deleted only if the record has been removed or has become current
   * again, because deleting it on every update would fire user-defined DELETE triggers.
   */
  deleteReplacedRows(record: ParsedRecord): void {
    if (this.shape.list) this.#deleteRows(record, recordStates);
    else this.#deleteRows(record, [recordState(record) === "current" ? "removed" : "current"]);
  }

  #deleteRows({ recordId }: ParsedRecord, states: readonly RecordState[]): void {
    const [first, last] = rowIdRange(this.shape, recordId);
    for (const state of states) {
      const remove = `DELETE FROM ${this.#tableIn(state)} WHERE ${rowIdColumn(this.shape)} BETWEEN ? AND ?`;
      this.mirror.execute(remove, first, last);
    }
  }

  #insertInto(state: RecordState): string {
    const cached = this.#insertSql.get(state);
    if (cached !== undefined) return cached;
    const names = this.#rowBuilder.columnNames(state);
    const values = names.map(() => "?").join(", ");
    const sql = `INSERT OR REPLACE INTO ${this.#tableIn(state)} (${names.map(quote).join(", ")}) VALUES (${values})`;
    this.#insertSql.set(state, sql);
    return sql;
  }

  #tableIn(state: RecordState): string {
    return `${this.schema}.${quote(tableName(this.shape, state))}`;
  }
}

/** A row's values, in the order of `columnNames`. The integer key comes last. */
export type TableRow = SqlValue[];

type SqlValue = string | number | bigint | null;

/** An object that becomes a row, and its position in its list. */
interface TableItem {
  value: JsonObject;
  position: number;
}

/** Builds the rows of a typed table: one per record or, in a child table, one per list item. */
export class RowBuilder {
  readonly columns: TableColumns;
  readonly #addedColumns: Readonly<Record<RecordState, readonly AddedColumn[]>>;
  readonly #dateIndex: number | null;
  /** The main table's columns, whose values child rows may repeat. */
  readonly #mainColumns: ReadonlyMap<string | undefined, ShapeColumn>;

  constructor(
    mirror: Mirror,
    private readonly shape: TableShape,
  ) {
    this.columns = new TableColumns(mirror, shape);
    this.#addedColumns = {
      current: addedColumns(shape, "current"),
      removed: addedColumns(shape, "removed"),
    };
    const date = mainDateColumn(shape);
    this.#dateIndex = date ? shape.columns.indexOf(date) : null;
    const [main] = listTableShapes(shape.resource);
    this.#mainColumns = new Map((main ?? shape).columns.map((column) => [column.name, column]));
  }

  columnNames(state: RecordState): readonly string[] {
    return columnNames(this.shape, this.columns.all(), state);
  }

  /**
   * Returns the objects that become rows: the record itself or, for a child table, the items in its list.
   * @param issues receives an issue for each list or item with an unexpected type
   */
  items({ value }: ParsedRecord, issues: SchemaIssue[] = []): TableItem[] {
    const { list, name } = this.shape;
    if (!list) return [{ value, position: 0 }];
    const items = valueAt(value, list.path) ?? [];
    const report = (found: string) =>
      issues.push({ kind: "type", table: name, column: list.path.join("."), found });
    if (!Array.isArray(items)) {
      report(jsonType(items));
      return [];
    }
    return items.flatMap((item, position) => {
      if (isObject(item)) return [{ value: item, position }];
      report("not an object");
      return [];
    });
  }

  /** @param issues receives an issue for each value with an unexpected type */
  build(record: ParsedRecord, issues: SchemaIssue[] = []): TableRow[] {
    const added = this.#addedColumns[recordState(record)];
    return this.items(record, issues).map((item) => {
      const values = this.columns.all().map((column) => this.#value(column, record, item, issues));
      const utcTime = this.#dateIndex === null ? null : toUtcTime(values[this.#dateIndex]);
      const origin = { record, position: item.position, utcTime };
      return [...values, ...added.map((column) => column.value(origin))];
    });
  }

  #value(
    column: ShapeColumn,
    record: ParsedRecord,
    { position, value: itemValue }: TableItem,
    issues: SchemaIssue[],
  ): SqlValue {
    const { source, path } = column;
    if (source === "position") return position;
    if (source === "parent") {
      const mainColumn = this.#mainColumns.get(path[0]);
      return mainColumn ? this.#value(mainColumn, record, { value: record.value, position: 0 }, []) : null;
    }
    const value = valueAt(source === "parameter" ? record.parameters : itemValue, path);
    return toColumnValue(column, value, this.shape.name, issues);
  }
}

function toUtcTime(date: TableRow[number] | undefined): string | null {
  const timestamp = typeof date === "string" ? parseTimestampParts(date) : undefined;
  return timestamp ? formatUtc(timestamp) : null;
}

/**
 * Converts a value to its column's type, and reports the value if it has a different type. A string that contains a
 * number is converted. Any other value of a different type becomes null.
 */
function toColumnValue(column: ShapeColumn, value: unknown, table: string, issues: SchemaIssue[]): SqlValue {
  if (value === undefined || value === null) return null;
  if (column.isDiscovered) return toUntypedValue(value);
  const typed = toTypedValue(column.type, value);
  if (typed !== null) return typed;
  const number = typeof value === "string" ? parseNumber(value, column.type) : null;
  const found = number === null ? jsonType(value) : numberAsText;
  issues.push({ kind: "type", table, column: column.name, found });
  return number;
}

function toUntypedValue(value: unknown): SqlValue {
  if (typeof value === "string") return value.toWellFormed();
  // better-sqlite3 binds JavaScript numbers as REAL, so integers are passed as bigints.
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  return null;
}

/** Converts a value for a column of the given type. Returns null if the value has a different type. */
function toTypedValue(type: ScalarType, value: unknown): SqlValue {
  switch (type) {
    case "json":
      return JSON.stringify(value);
    case "boolean":
      return typeof value === "boolean" ? Number(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "integer":
      return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
    default:
      // SQLite would store a lone surrogate as invalid UTF-8.
      return typeof value === "string" ? value.toWellFormed() : null;
  }
}

function parseNumber(text: string, type: ScalarType): number | null {
  if (type !== "number" && type !== "integer") return null;
  const number = parseJsonNumber(text) ?? null;
  return type === "integer" && !Number.isSafeInteger(number) ? null : number;
}

/** Creates a resource's indexes. Call this after the first read, because inserting into indexed tables is slower. */
export function indexTables(mirror: Mirror, resource: Resource): void {
  for (const sql of listTableShapes(resource).flatMap(createIndexSql)) mirror.db.exec(sql);
}

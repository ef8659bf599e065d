import type { ScalarType } from "../../resources/fields.js";
import type { Column, TableShape } from "../../resources/table-shape.js";

/** The SQL of typed tables: their names, columns and indexes. */

const sqlTypes: Record<ScalarType, string> = {
  text: " TEXT",
  timestamp: " TEXT",
  date: " TEXT",
  integer: " INTEGER",
  number: " REAL",
  boolean: " INTEGER",
  json: " TEXT",
};

/** A column of a typed table. A discovered column has no declared type: its values keep their own types. */
export interface TableColumn extends Column {
  isDiscovered: boolean;
}

/** `main`: the mirror's file. `temp`: temporary tables of one connection, which shadow those of the same name. */
export type SchemaName = "main" | "temp";

/**
 * The state of a record, which decides the table that has its rows: `NAME` for current records; `NAME_removed`, with
 * the same columns and `removed_at`, for removed ones. Rows of child tables are stored in the same way.
 */
export type RecordState = "current" | "removed";
export const recordStates: readonly RecordState[] = ["current", "removed"];

export function tableName({ name }: Pick<TableShape, "name">, state: RecordState = "current"): string {
  return state === "current" ? name : `${name}_removed`;
}

/** Returns the statement that creates a typed table. The mirror's own columns come last, so that people see data first. */
export function createTableSql(
  shape: TableShape,
  columns: readonly TableColumn[],
  { state = "current", schema = "main" }: { state?: RecordState; schema?: SchemaName } = {},
): string {
  const create = schema === "temp" ? "CREATE TEMP TABLE" : "CREATE TABLE";
  const definitions = [
    ...columns.map(({ isDiscovered, name, type }) => `${quote(name)}${isDiscovered ? "" : sqlTypes[type]}`),
    ...utcDateColumns(shape).map(({ name }) => `${quote(name)} TEXT`),
    "synced_at TEXT NOT NULL",
    ...(state === "removed" ? ["removed_at TEXT NOT NULL"] : []),
    `${rowIdColumn(shape)} INTEGER PRIMARY KEY`,
  ];
  return `${create} ${quote(tableName(shape, state))} (${definitions.join(", ")})`;
}

/** Returns the names of a typed table's columns in the order of `createTableSql`. */
export function columnNames(
  shape: TableShape,
  columns: readonly TableColumn[],
  state: RecordState = "current",
): readonly string[] {
  const names = [...columns, ...utcDateColumns(shape)].map(({ name }) => name);
  return [...names, "synced_at", ...(state === "removed" ? ["removed_at"] : []), rowIdColumn(shape)];
}

/** Returns the columns that are computed from the main date of a record: its day, month and time in UTC. */
export function utcDateColumns(shape: TableShape): { name: string; type: ScalarType }[] {
  const date = mainDateColumn(shape);
  if (!date) return [];
  return [
    { name: "day", type: "date" },
    { name: "month", type: "text" },
    { name: `${date.name}_utc`, type: "timestamp" },
  ];
}

/** Returns the timestamp column that `--since` and `--until` filter a main table by; undefined if there is none. */
export function mainDateColumn({ resource, list, columns }: TableShape): Column | undefined {
  if (list) return undefined;
  return columns.find(({ name, type }) => name === resource.date && type === "timestamp");
}

/** Returns the integer primary key of a table, which orders its rows. */
export function rowIdColumn({ list }: Pick<TableShape, "list">): "record_id" | "row_id" {
  return list ? "row_id" : "record_id";
}

/**
 * The `row_id` of a child row is its record's ID times this number, plus its position in the list. All child rows of a record
 * are thus one range of integers, which is much cheaper to replace than rows with random text keys.
 */
export const positionsPerRecord = 2 ** 20;

/** Returns the statements that create the missing indexes of a shape's tables. */
export function createIndexSql(shape: TableShape): readonly string[] {
  return recordStates.flatMap((state) => {
    const table = quote(tableName(shape, state));
    return shape.indexes.map((columns) => {
      const name = quote(indexName(shape, state, columns));
      return `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (${columns.map(quote).join(", ")})`;
    });
  });
}

/** Returns the names of all indexes of a shape's tables. */
export function indexNames(shape: TableShape): readonly string[] {
  return recordStates.flatMap((state) => shape.indexes.map((columns) => indexName(shape, state, columns)));
}

function indexName(shape: TableShape, state: RecordState, columns: readonly string[]): string {
  return `${tableName(shape, state)}_by_${columns.join("_")}`;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

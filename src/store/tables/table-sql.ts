import type { ScalarType } from "../../resources/fields.js";
import type { Column, TableShape } from "../../resources/table-shape.js";

const sqlTypes: Record<ScalarType, string> = {
  text: " TEXT",
  timestamp: " TEXT",
  date: " TEXT",
  integer: " INTEGER",
  number: " REAL",
  boolean: " INTEGER",
  json: " TEXT",
};

/**
 * A column of a typed table. Discovered columns have no declared type, so their values keep their own types.
 */
export interface TableColumn extends Column {
  isDiscovered: boolean;
}

/**
 * `main` is the mirror's file. Tables in `temp` exist for one connection and hide tables of the same name.
 */
export type SchemaName = "main" | "temp";

/**
 * The state of a record. Rows of current records are in the table `NAME`, those of removed records in
 * `NAME_removed`, which has the same columns and `removed_at`. Child tables work in the same way.
 */
export type RecordState = "current" | "removed";
export const recordStates: readonly RecordState[] = ["current", "removed"];

export function tableName({ name }: Pick<TableShape, "name">, state: RecordState = "current"): string {
  return state === "current" ? name : `${name}_removed`;
}

/** Returns the statement that creates a typed table. Columns that the mirror adds come last. */
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

/** Returns the names of a table's columns, in the order of `createTableSql`. */
export function columnNames(
  shape: TableShape,
  columns: readonly TableColumn[],
  state: RecordState = "current",
): readonly string[] {
  const names = [...columns, ...utcDateColumns(shape)].map(({ name }) => name);
  return [...names, "synced_at", ...(state === "removed" ? ["removed_at"] : []), rowIdColumn(shape)];
}

/** Returns the columns that are computed from the main date: its day, month and time in UTC. */
export function utcDateColumns(shape: TableShape): { name: string; type: ScalarType }[] {
  const date = mainDateColumn(shape);
  if (!date) return [];
  return [
    { name: "day", type: "date" },
    { name: "month", type: "text" },
    { name: `${date.name}_utc`, type: "timestamp" },
  ];
}

/** Returns the timestamp column that `--since` and `--until` apply to; undefined if the table has none. */
export function mainDateColumn({ resource, list, columns }: TableShape): Column | undefined {
  if (list) return undefined;
  return columns.find(({ name, type }) => name === resource.date && type === "timestamp");
}

export function rowIdColumn({ list }: Pick<TableShape, "list">): "record_id" | "row_id" {
  return list ? "row_id" : "record_id";
}

/**
 * The `row_id` of a child row is the ID of its record times this number, plus its position in the list. The
 * child rows of a record are thus a range of integers, which is faster to replace than rows with text keys.
 */
export const positionsPerRecord = 2 ** 20;

export function createIndexSql(shape: TableShape): readonly string[] {
  return recordStates.flatMap((state) => {
    const table = quote(tableName(shape, state));
    return shape.indexes.map((columns) => {
      const name = quote(indexName(shape, state, columns));
      return `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (${columns.map(quote).join(", ")})`;
    });
  });
}

export function indexNames(shape: TableShape): readonly string[] {
  return recordStates.flatMap((state) => shape.indexes.map((columns) => indexName(shape, state, columns)));
}

function indexName(shape: TableShape, state: RecordState, columns: readonly string[]): string {
  return `${tableName(shape, state)}_by_${columns.join("_")}`;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

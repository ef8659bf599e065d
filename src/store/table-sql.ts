import type { ScalarType } from "../resources/fields.js";
import type { Column, TableShape } from "../resources/table-shape.js";

const sqlTypes: Record<ScalarType, string> = {
  text: " TEXT",
  timestamp: " TEXT",
  date: " TEXT",
  integer: " INTEGER",
  number: " REAL",
  boolean: " INTEGER",
  json: " TEXT",
};

/** A column of a typed table. Discovered columns have no declared type, so their values keep their types. */
export interface TableColumn extends Column {
  isDiscovered: boolean;
}

/** `main` is the mirror file. Tables in `temp` exist only on one connection and hide tables with the same name. */
export type SchemaName = "main" | "temp";

/**
 * The state of a record. The rows for current records are in the table `NAME`. The rows for removed records are in
 * `NAME_removed`, which has the same columns plus `removed_at`. Child tables are split in the same way.
 */
export type RecordState = "current" | "removed";
export const recordStates: readonly RecordState[] = ["current", "removed"];

export function tableName({ name }: Pick<TableShape, "name">, state: RecordState = "current"): string {
  return state === "current" ? name : `${name}_removed`;
}

export function createTableSql(
  shape: TableShape,
  columns: readonly TableColumn[],
  { state = "current", schema = "main" }: { state?: RecordState; schema?: SchemaName } = {},
): string {
  const create = schema === "temp" ? "CREATE TEMP TABLE" : "CREATE TABLE";
  const definitions = [
    ...columns.map(({ isDiscovered, name, type }) => `${quote(name)}${isDiscovered ? "" : sqlTypes[type]}`),
    ...addedColumns(shape, state).map(({ definition }) => definition),
  ];
  return `${create} ${quote(tableName(shape, state))} (${definitions.join(", ")})`;
}

/** Returns a table's column names, in the order of `createTableSql`. */
export function columnNames(
  shape: TableShape,
  columns: readonly TableColumn[],
  state: RecordState,
): readonly string[] {
  return [...columns, ...addedColumns(shape, state)].map(({ name }) => name);
}

/** Returns the columns that the mirror adds to a table. The last column is the integer key. */
function addedColumns(shape: TableShape, state: RecordState): { name: string; definition: string }[] {
  const rowId = rowIdColumn(shape);
  return [
    ...utcDateColumns(shape).map(({ name }) => ({ name, definition: `${quote(name)} TEXT` })),
    { name: "synced_at", definition: "synced_at TEXT NOT NULL" },
    ...(state === "removed" ? [{ name: "removed_at", definition: "removed_at TEXT NOT NULL" }] : []),
    { name: rowId, definition: `${rowId} INTEGER PRIMARY KEY` },
  ];
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

/** Returns the timestamp column that `--since` and `--until` apply to, or undefined if the table has none. */
export function mainDateColumn({ resource, list, columns }: TableShape): Column | undefined {
  if (list) return undefined;
  return columns.find(({ name, type }) => name === resource.date && type === "timestamp");
}

export function rowIdColumn({ list }: Pick<TableShape, "list">): "record_id" | "row_id" {
  return list ? "row_id" : "record_id";
}

/**
 * The `row_id` of a child row is the record's ID times this number, plus the row's position in the list. A record's
 * child rows are therefore a range of integers, which is faster to replace than rows with text keys.
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

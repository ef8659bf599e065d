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

/** A column of a typed table. A discovered column has no declared type, so its values keep their own types. */
export interface TableColumn extends Column {
  isDiscovered: boolean;
}

/**
 * `main` is the mirror file. Tables in `temp` exist on one connection only and hide tables in `main` that have the same
 * name.
 */
export type SchemaName = "main" | "temp";

/**
 * Current records are in the table `NAME`, and removed records in `NAME_removed`, which has an additional column
 * `removed_at`. Child tables are split in the same way.
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

export function columnNames(
  shape: TableShape,
  columns: readonly TableColumn[],
  state: RecordState,
): readonly string[] {
  return [...columns, ...addedColumns(shape, state)].map(({ name }) => name);
}

function addedColumns(shape: TableShape, state: RecordState): { name: string; definition: string }[] {
  const rowId = rowIdColumn(shape);
  return [
    ...utcDateColumns(shape).map(({ name }) => ({ name, definition: `${quote(name)} TEXT` })),
    { name: "synced_at", definition: "synced_at TEXT NOT NULL" },
    ...(state === "removed" ? [{ name: "removed_at", definition: "removed_at TEXT NOT NULL" }] : []),
    { name: rowId, definition: `${rowId} INTEGER PRIMARY KEY` },
  ];
}

/** Returns the columns for the main date in UTC: the day, the month and the time. */
export function utcDateColumns(shape: TableShape): { name: string; type: ScalarType }[] {
  const date = mainDateColumn(shape);
  if (!date) return [];
  return [
    { name: "day", type: "date" },
    { name: "month", type: "text" },
    { name: `${date.name}_utc`, type: "timestamp" },
  ];
}

/** Returns the timestamp column to which `--since` and `--until` apply, or undefined if the table has none. */
export function mainDateColumn({ resource, list, columns }: TableShape): Column | undefined {
  if (list) return undefined;
  return columns.find(({ name, type }) => name === resource.date && type === "timestamp");
}

export function rowIdColumn({ list }: Pick<TableShape, "list">): "record_id" | "row_id" {
  return list ? "row_id" : "record_id";
}

/**
 * A child row's `row_id` is the record's ID times this number, plus the position in the list. A record's child rows are
 * therefore a contiguous range of integer keys, which is faster to replace than rows with text keys.
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

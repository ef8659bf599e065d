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

/** A column of a typed table. `open`: it was discovered, not declared, and its values keep their own types. */
export interface TableColumn extends Column {
  isDiscovered: boolean;
}

/** `main`: in the mirror's file. `temp`: for one connection only, over the table of the same name. */
export type SchemaName = "main" | "temp";

/**
 * The two tables of a shape. `current`: the records that the brand has now. `removed`: the twin table `NAME_removed`, with
 * the same columns and `removed_at`. A record's rows, and those of its child tables, are in one of them.
 */
export type RecordState = "current" | "removed";
export const recordStates: readonly RecordState[] = ["current", "removed"];

export function tableName({ name }: Pick<TableShape, "name">, part: RecordState = "current"): string {
  return part === "current" ? name : `${name}_removed`;
}

/** Returns the statement that creates a typed table. Technical columns come last, so that people see data first. */
export function createTableSql(
  shape: TableShape,
  columns: readonly TableColumn[],
  { part = "current", schema = "main" }: { part?: RecordState; schema?: SchemaName } = {},
): string {
  const own = columns.map(
    (column) => `${quote(column.name)}${column.isDiscovered ? "" : sqlTypes[column.type]}`,
  );
  const technical = [
    "synced_at TEXT NOT NULL",
    ...(part === "removed" ? ["removed_at TEXT NOT NULL"] : []),
    `${rowIdColumn(shape)} INTEGER PRIMARY KEY`,
  ];
  const create = schema === "temp" ? "CREATE TEMP TABLE" : "CREATE TABLE";
  const dates = utcDateColumns(shape).map(({ name }) => `${quote(name)} TEXT`);
  return `${create} ${quote(tableName(shape, part))} (${[...own, ...dates, ...technical].join(", ")})`;
}

/** Returns the columns that are computed from a record's main date: its day, its month and its time, all in UTC. */
export function utcDateColumns(shape: TableShape): { name: string; type: ScalarType }[] {
  const date = mainDateColumn(shape);
  if (!date) return [];
  return [
    { name: "day", type: "date" },
    { name: "month", type: "text" },
    { name: `${date.name}_utc`, type: "timestamp" },
  ];
}

/** Returns the column of a main table that `--since` and `--until` filter by, if it is a timestamp. */
export function mainDateColumn({ resource, list, columns }: TableShape): Column | undefined {
  if (list) return undefined;
  return columns.find(({ name, type }) => name === resource.date && type === "timestamp");
}

/** Returns the names of a typed table's columns, in the order in which rows are written. */
export function columnNames(
  shape: TableShape,
  columns: readonly TableColumn[],
  part: RecordState = "current",
): readonly string[] {
  const technical = ["synced_at", ...(part === "removed" ? ["removed_at"] : []), rowIdColumn(shape)];
  return [...columns, ...utcDateColumns(shape)].map(({ name }) => name).concat(technical);
}

/** Returns the integer that orders the rows of a table. */
export function rowIdColumn({ list }: TableShape): "record_id" | "row_id" {
  return list ? "row_id" : "record_id";
}

/** Returns the statements that create the indexes of a shape's tables if they are missing. */
export function createIndexSql(shape: TableShape): readonly string[] {
  return recordStates.flatMap((part) => {
    const table = quote(tableName(shape, part));
    return shape.indexes.map((columns) => {
      const name = quote(indexName(shape, part, columns));
      return `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (${columns.map(quote).join(", ")})`;
    });
  });
}

/** Returns the names of all indexes of a shape's tables. */
export function indexNames(shape: TableShape): readonly string[] {
  return recordStates.flatMap((part) => shape.indexes.map((columns) => indexName(shape, part, columns)));
}

function indexName(shape: TableShape, part: RecordState, columns: readonly string[]): string {
  return `${tableName(shape, part)}_by_${columns.join("_")}`;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * A child row's id: its record's id and its place in the list. A list is so replaced by one range delete on an
 * integer key; random text keys would cost more than everything else together.
 */
export const positionsPerRecord = 2 ** 20;

import type { ScalarType } from "../resources/fields.js";
import type { Column, TableShape } from "../resources/shape.js";

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
export interface StoredColumn extends Column {
  open: boolean;
}

/** `main`: in the mirror's file. `temp`: for one connection only, over the table of the same name. */
export type Schema = "main" | "temp";

/** Returns the statement that creates a typed table. Technical columns come last, so that people see data first. */
export function createTable(
  shape: TableShape,
  columns: readonly StoredColumn[],
  schema: Schema = "main",
): string {
  const own = columns.map((column) => `${quote(column.name)}${column.open ? "" : sqlTypes[column.type]}`);
  const technical = shape.list
    ? ["synced_at TEXT NOT NULL", "row_id INTEGER PRIMARY KEY"]
    : ["synced_at TEXT NOT NULL", "removed_at TEXT", "record_id INTEGER PRIMARY KEY"];
  const create = schema === "temp" ? "CREATE TEMP TABLE" : "CREATE TABLE";
  const dates = dateColumns(shape).map(({ name }) => `${quote(name)} TEXT`);
  return `${create} ${quote(shape.name)} (${[...own, ...dates, ...technical].join(", ")})`;
}

/** Returns the columns that are computed from a record's main date: its day, its month and its time, all in UTC. */
export function dateColumns(shape: TableShape): { name: string; type: ScalarType }[] {
  const date = mainTimestamp(shape);
  if (!date) return [];
  return [
    { name: "day", type: "date" },
    { name: "month", type: "text" },
    { name: `${date.name}_utc`, type: "timestamp" },
  ];
}

/** Returns the column of a main table that `--since` and `--until` filter by, if it is a timestamp. */
export function mainTimestamp({ resource, list, columns }: TableShape): Column | undefined {
  if (list) return undefined;
  return columns.find(({ name, type }) => name === resource.date && type === "timestamp");
}

/** Returns the names of a typed table's columns, in the order in which rows are written. */
export function columnNames(shape: TableShape, columns: readonly StoredColumn[]): readonly string[] {
  const technical = shape.list ? ["synced_at", "row_id"] : ["synced_at", "removed_at", "record_id"];
  return [...columns, ...dateColumns(shape)].map(({ name }) => name).concat(technical);
}

/** Returns the statements that create a typed table's indexes if they are missing. */
export function createIndexes(shape: TableShape): readonly string[] {
  return shape.indexes.map((columns) => {
    const name = quote(`${shape.name}_by_${columns.join("_")}`);
    return `CREATE INDEX IF NOT EXISTS ${name} ON ${quote(shape.name)} (${columns.map(quote).join(", ")})`;
  });
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * A child row's id: its record's id and its place in the list. A list is so replaced by one range delete on an
 * integer key; random text keys would cost more than everything else together.
 */
export const positionsPerRecord = 2 ** 20;

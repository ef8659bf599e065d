import type { ScalarType } from "../resources/fields.js";
import type { Column, ShapeColumn, TableShape } from "../resources/table-shape.js";
import type { ParsedRecord } from "./records.js";

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
 * `main` is the mirror file. Tables in `temp` exist only on one connection and hide tables in `main` that have the same
 * name.
 */
export type SchemaName = "main" | "temp";

/**
 * Current records are in the `NAME` table, and removed records are in `NAME_removed`, which has an additional
 * `removed_at` column. Child tables are split in the same way.
 */
export type RecordState = "current" | "removed";
export const recordStates: readonly RecordState[] = ["current", "removed"];

export function tableName({ name }: Pick<TableShape, "name">, state: RecordState = "current"): string {
  return state === "current" ? name : `${name}_removed`;
}

export function createTableSql(
  shape: TableShape,
  columns: readonly ShapeColumn[],
  state: RecordState,
  schema: SchemaName = "main",
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
  columns: readonly ShapeColumn[],
  state: RecordState,
): readonly string[] {
  return [...columns, ...addedColumns(shape, state)].map(({ name }) => name);
}

/** The record that a row comes from and, in a child table, the position of the row's list item. */
interface RowOrigin {
  record: ParsedRecord;
  position: number;
  /** The record's main date as formatted by `formatUtc`, or null if it is missing or unreadable. */
  utcTime: string | null;
}

/** A column that the mirror adds to the API's columns. */
export interface AddedColumn extends Column {
  /** The column's definition in SQL. */
  definition: string;
  value(origin: RowOrigin): string | number | null;
}

/** Returns the columns that follow the API's columns in each table. */
export function addedColumns(shape: TableShape, state: RecordState): AddedColumn[] {
  const key = keyColumns[rowIdColumn(shape)];
  return [
    ...utcDateColumns(shape),
    syncedAtColumn,
    ...(state === "removed" ? [removedAtColumn] : []),
    {
      ...key,
      definition: `${key.name} INTEGER PRIMARY KEY`,
      value: ({ position, record }) => rowId(shape, record.recordId, position),
    },
  ];
}

/** Returns the columns that contain the UTC day, month and time of a table's main date. */
function utcDateColumns(shape: TableShape): AddedColumn[] {
  const date = mainDateColumn(shape);
  if (!date) return [];
  const create = (name: string, type: ScalarType, length?: number): AddedColumn => ({
    name,
    type,
    about: `${date.name} in UTC`,
    isOmittedByDefault: true,
    definition: `${quote(name)} TEXT`,
    value: ({ utcTime }) => utcTime?.slice(0, length) ?? null,
  });
  return [
    create("day", "date", "2026-10-31".length),
    create("month", "text", "2026-10".length),
    create(`${date.name}_utc`, "timestamp"),
  ];
}

const syncedAtColumn: AddedColumn = {
  name: "synced_at",
  type: "timestamp",
  about: "the time at which the current version was first read",
  definition: "synced_at TEXT NOT NULL",
  value: ({ record }) => record.sinceAt,
};

export const removedAtColumn: AddedColumn = {
  name: "removed_at",
  type: "timestamp",
  about: "the time of the first complete read that no longer returned the record",
  definition: "removed_at TEXT NOT NULL",
  value: ({ record }) => record.removedAt,
};

/** Returns the timestamp column to which `--since` and `--until` apply, or null if the table has none. */
export function mainDateColumn({ resource, list, columns }: TableShape): ShapeColumn | null {
  if (list) return null;
  return columns.find(({ name, type }) => name === resource.dateColumn && type === "timestamp") ?? null;
}

/**
 * A child row's `row_id` is the `record_id` times this number, plus the row's position in the list. A record's child
 * rows therefore have contiguous integer keys, and are faster to replace than rows with text keys.
 */
export const positionsPerRecord = 2 ** 20;

/** The columns that contain a row's integer key: `record_id` in main tables, `row_id` in child tables. */
export const keyColumns: Readonly<Record<"record_id" | "row_id", Column>> = {
  record_id: {
    name: "record_id",
    type: "integer",
    about: "the record's internal ID in this mirror, as in the `records` table",
    isOmittedByDefault: true,
  },
  row_id: {
    name: "row_id",
    type: "integer",
    about: `the record's internal ID times ${positionsPerRecord}, plus the row's position in the list`,
    isOmittedByDefault: true,
  },
};

export function rowIdColumn({ list }: Pick<TableShape, "list">): keyof typeof keyColumns {
  return list ? "row_id" : "record_id";
}

function rowId({ list }: Pick<TableShape, "list">, recordId: number, position: number): number {
  return list ? recordId * positionsPerRecord + position : recordId;
}

/** Returns the lowest and the highest ID that the rows of a record can have. */
export function rowIdRange(shape: Pick<TableShape, "list">, recordId: number): [number, number] {
  return [rowId(shape, recordId, 0), rowId(shape, recordId, positionsPerRecord - 1)];
}

/**
 * Returns an SQL expression for the ID of the record that a row belongs to.
 * @param rowIdSql an SQL expression for the row's ID
 */
export function recordIdSql({ list }: Pick<TableShape, "list">, rowIdSql: string): string {
  return list ? `${rowIdSql} / ${positionsPerRecord}` : rowIdSql;
}

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

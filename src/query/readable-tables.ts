import type { ScalarType } from "../resources/fields.js";
import { allResources } from "../resources/registry.js";
import { listTableShapes, type TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { systemTables } from "../store/schema.js";
import {
  type AddedColumn,
  addedColumns,
  mainDateColumn,
  positionsPerRecord,
  quote,
  type RecordState,
  readDiscovered,
  recordIdSql,
  recordStates,
  rowIdColumn,
  tableName,
} from "../store/table-sql.js";
import { views } from "../views/all-views.js";
import { isUtcTime, type View } from "../views/view.js";

/** Returns the declarations of all typed tables, which are built from the API's records. */
export function typedTables(): readonly TableShape[] {
  return allResources.flatMap((resource) => listTableShapes(resource));
}

/** Returns the names of the tables that a view reads. For a table, returns only the table's name. */
export function tablesReadBy(name: string): readonly string[] {
  return views.find((view) => view.name === name)?.reads ?? [name];
}

/** Returns the declarations of the typed tables that a table or view reads. */
export function findTypedTables(name: string): TableShape[] {
  const stored = tablesReadBy(name);
  return typedTables().filter((shape) =>
    recordStates.some((state) => stored.includes(tableName(shape, state))),
  );
}

/** A table or view that commands can read. */
export type CatalogTable =
  /** A table that is built from the API's records. */
  | { kind: RecordState; columns: readonly DeclaredColumn[]; shape: TableShape }
  | { kind: "view"; columns: readonly DeclaredColumn[]; view: View }
  | SystemTable;

interface DeclaredColumn {
  name: string;
  type: ScalarType;
}

interface SystemTable {
  kind: "system";
  name: keyof typeof systemTables;
  /** Always empty, because the columns of a system table are read from the mirror. */
  columns: readonly [];
  /** The column that `--since` and `--until` filter by. */
  dateColumn: string;
  key: readonly string[];
}

/** All tables and views that commands can read, keyed by name. */
export const catalog: ReadonlyMap<string, CatalogTable> = new Map<string, CatalogTable>([
  ...typedTableEntries("current"),
  systemTableEntry("changes", "seen_changed_at", ["change_id"]),
  systemTableEntry("sync_runs", "started_at", ["run_id"]),
  systemTableEntry("content_downloads", "downloaded_at", ["source", "id"]),
  ...views.map((view) => [view.name, { kind: "view", columns: view.columns, view }] as const),
  ...typedTableEntries("removed"),
]);

export const tableNames: readonly string[] = [...catalog.keys()];

/** All tables and views except for helper views and tables for removed records. */
export const mainTableNames: readonly string[] = [...catalog]
  .filter(([_, table]) => table.kind !== "removed" && !(table.kind === "view" && table.view.isHelper))
  .map(([name]) => name);

function typedTableEntries(state: RecordState): [string, CatalogTable][] {
  return typedTables().map((shape) => [
    tableName(shape, state),
    { kind: state, columns: shape.columns, shape },
  ]);
}

function systemTableEntry(
  name: SystemTable["name"],
  dateColumn: string,
  key: readonly string[],
): [string, SystemTable] {
  return [name, { kind: "system", name, columns: [], dateColumn, key }];
}

export interface ReadableColumn {
  name: string;
  /** The column's type. `any` means that its values can have different types. */
  type: ScalarType | "any";
  about: string;
  isAmount?: true | undefined;
  /** True for a column that the API does not document. Its values can have a different type in each row. */
  isDiscovered?: boolean;
  /** True for a technical column. It is exported only if `--columns` names it. */
  isComputed?: true;
}

/** The date that `--since` and `--until` filter by. */
export interface DateColumn {
  /** An SQL expression for a row's date. A row in a child table has its parent record's date. */
  sql: string;
  /** The format of the dates: `utc` as written by `formatUtc`, `iso` as written by `formatInstant`. */
  form: "month" | "day" | "utc" | "iso";
}

/** The description of a table or view in the mirror, for commands that read it. */
export interface ReadableTable {
  name: string;
  about: string;
  columns: readonly ReadableColumn[];
  /** The columns to sort by, or an empty list for a view that is already sorted. */
  orderBy: readonly string[];
  /** The declaration of a typed table, or null for views and system tables. */
  shape: TableShape | null;
  /** The date that `--since` and `--until` filter by, or null if rows have no date. */
  date: DateColumn | null;
  /**
   * The tables to select from, as SQL: the table itself and, if removed records are included, the table that contains
   * them.
   */
  fromClauses: readonly [string, ...string[]];
}

/**
 * Describes a table or view.
 * @param name one of `tableNames`
 */
export function describeTable(mirror: Mirror, name: string): ReadableTable {
  const table = catalog.get(name);
  if (!table) throw new Error(`the mirror has no table named ${name}`);
  switch (table.kind) {
    case "current":
    case "removed":
      return describeTypedTable(mirror, table.shape, table.kind);
    case "view":
      return describeView(table.view);
    case "system":
      return describeSystemTable(mirror, table);
  }
}

function describeTypedTable(mirror: Mirror, shape: TableShape, state: RecordState): ReadableTable {
  const name = tableName(shape, state);
  const rowId = rowIdColumn(shape);
  return {
    name,
    about: state === "removed" ? `removed records: ${shape.about}` : shape.about,
    columns: [
      ...shape.columns,
      ...(shape.discoversColumns ? readDiscovered(mirror, shape.name) : []),
      ...addedColumns(shape, state).map((column) => describeAddedColumn(shape, column)),
    ],
    orderBy: [rowId],
    shape,
    date: findTableDate(shape),
    fromClauses: [quote(name)],
  };
}

/**
 * Includes removed records in a table, after the current ones. Returns a table or view without removed records
 * unchanged.
 */
export function withRemovedRecords(table: ReadableTable): ReadableTable {
  const { columns, name, shape } = table;
  if (name !== shape?.name) return table;
  const currentRecords = `(SELECT *, NULL AS removed_at FROM ${quote(name)})`;
  return {
    ...table,
    columns: [...columns, removedAt],
    fromClauses: [currentRecords, quote(tableName(shape, "removed"))],
  };
}

const syncedAt: ReadableColumn = {
  name: "synced_at",
  type: "timestamp",
  about: "the time at which the current version was first read",
};

const removedAt: ReadableColumn = {
  name: "removed_at",
  type: "timestamp",
  about: "the time of the first complete read that no longer returned the record",
};

function describeAddedColumn(shape: TableShape, { name, type }: AddedColumn): ReadableColumn {
  if (name === syncedAt.name) return syncedAt;
  if (name === removedAt.name) return removedAt;
  if (name === rowIdColumn(shape)) return describeRowId(name);
  return { name, type, about: `${shape.resource.dateColumn} in UTC`, isComputed: true };
}

/** Returns the description of a table's or view's integer key. */
function describeRowId(name: string): ReadableColumn {
  const about =
    name === "row_id"
      ? `the record's number times ${positionsPerRecord}, plus the row's position in the list`
      : "the record's number in this mirror, as in the table `records`";
  return { name, type: "integer", about, isComputed: true };
}

function describeView(view: View): ReadableTable {
  const { name, about, columns, rowId } = view;
  return {
    name,
    about,
    columns: rowId === undefined ? columns : [...columns, describeRowId(rowId)],
    orderBy: rowId === undefined ? [] : [rowId],
    shape: null,
    date: findDateColumn(columns, view.date),
    fromClauses: [quote(name)],
  };
}

function describeSystemTable(mirror: Mirror, { dateColumn, key, name }: SystemTable): ReadableTable {
  const info = mirror.db.pragma(`table_info(${quote(name)})`) as { name: string; type: string }[];
  return {
    name,
    about: systemTables[name],
    columns: info.map((column) => ({ name: column.name, type: typeOf(column), about: "" })),
    orderBy: key,
    shape: null,
    date: { sql: quote(dateColumn), form: "iso" },
    fromClauses: [quote(name)],
  };
}

function typeOf({ name, type }: { name: string; type: string }): ScalarType {
  if (name === "verified") return "boolean";
  return type.startsWith("INT") ? "integer" : "text";
}

/** Returns the date of a typed table, or null if its rows have none. List items without a date use their record's date. */
function findTableDate(shape: TableShape): DateColumn | null {
  const { list, resource } = shape;
  if (!list) return findRecordDate(shape);
  const itemDate = findDateColumn(shape.columns, "date");
  if (itemDate) return itemDate;
  const [main = shape] = listTableShapes(resource);
  const date = findRecordDate(main);
  if (!date) return null;
  const recordId = recordIdSql(shape, rowIdColumn(shape));
  const fromRecord = recordStates.map((state) => {
    const table = quote(tableName(main, state));
    return `(SELECT ${date.sql} FROM ${table} WHERE record_id = ${recordId})`;
  });
  return { ...date, sql: `coalesce(${fromRecord.join(", ")})` };
}

function findRecordDate(main: TableShape): DateColumn | null {
  const timestamp = mainDateColumn(main);
  if (timestamp) return { sql: quote(`${timestamp.name}_utc`), form: "utc" };
  return findDateColumn(main.columns, main.resource.dateColumn);
}

/** Returns the date column with the given name, or null if there is no such column. */
function findDateColumn(
  columns: readonly DeclaredColumn[],
  name: string | null | undefined,
): DateColumn | null {
  const type = columns.find((column) => column.name === name)?.type;
  if (!name || !type) return null;
  if (name === "month") return { sql: quote(name), form: "month" };
  if (type === "date") return { sql: quote(name), form: "day" };
  return { sql: quote(name), form: isUtcTime(name) ? "utc" : "iso" };
}

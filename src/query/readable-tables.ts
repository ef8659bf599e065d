import type { ScalarType } from "../resources/fields.js";
import { allResources } from "../resources/registry.js";
import { listTableShapes, type TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { systemTables } from "../store/schema.js";
import {
  positionsPerRecord,
  quote,
  type RecordState,
  readDiscovered,
  recordStates,
  rowIdColumn,
  tableName,
  utcDateColumns,
} from "../store/table-sql.js";
import { views } from "../views/all-views.js";
import type { View } from "../views/view.js";
import { type DateColumn, findDateColumn, findTableDate } from "./date-filter.js";

interface SystemTable {
  name: keyof typeof systemTables;
  date: string;
  key: readonly string[];
}

const exportedSystemTables: readonly SystemTable[] = [
  { name: "changes", date: "seen_changed_at", key: ["change_id"] },
  { name: "sync_runs", date: "started_at", key: ["run_id"] },
  { name: "content_downloads", date: "downloaded_at", key: ["source", "id"] },
];

/** Returns the declarations of all typed tables, which are built from the API's records. */
export function typedTables(): readonly TableShape[] {
  return allResources.flatMap((resource) => listTableShapes(resource));
}

/** Returns the names of the tables that a view reads. For a table, returns only the table's name. */
export function storedTables(name: string): readonly string[] {
  return views.find((view) => view.name === name)?.reads ?? [name];
}

/** Returns the declarations of the typed tables that a table or view reads. */
export function findTypedTables(name: string): TableShape[] {
  const stored = storedTables(name);
  return typedTables().filter((shape) =>
    recordStates.some((state) => stored.includes(tableName(shape, state))),
  );
}

export function removedTableNames(): readonly string[] {
  return typedTables().map((shape) => tableName(shape, "removed"));
}

export function knownTableNames(): readonly string[] {
  return [
    ...[...typedTables(), ...exportedSystemTables, ...views].map(({ name }) => name),
    ...removedTableNames(),
  ];
}

/** Returns the names of all tables and views, except for helper views and tables for removed records. */
export function mainTableNames(): readonly string[] {
  const helpers = views.filter(({ isHelper }) => isHelper).map(({ name }) => name);
  const others = new Set([...helpers, ...removedTableNames()]);
  return knownTableNames().filter((name) => !others.has(name));
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
  sources: readonly [string, ...string[]];
}

/**
 * Describes a table or view.
 * @param name one of `knownTableNames`
 */
export function describeTable(mirror: Mirror, name: string): ReadableTable {
  const isNamed = (table: { name: string }) => table.name === name;
  const view = views.find(isNamed);
  if (view) return describeView(view);
  const systemTable = exportedSystemTables.find(isNamed);
  if (systemTable) return describeSystemTable(mirror, systemTable);
  const shapes = typedTables();
  const current = shapes.find(isNamed);
  if (current) return describeTypedTable(mirror, current, "current");
  const removed = shapes.find((shape) => tableName(shape, "removed") === name);
  if (removed) return describeTypedTable(mirror, removed, "removed");
  throw new Error(`the mirror has no table named ${name}`);
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
      ...utcColumns(shape),
      syncedAt,
      ...(state === "removed" ? [removedAt] : []),
      describeRowId(rowId),
    ],
    orderBy: [rowId],
    shape,
    date: findTableDate(shape),
    sources: [quote(name)],
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
    sources: [currentRecords, quote(tableName(shape, "removed"))],
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

function utcColumns(shape: TableShape): ReadableColumn[] {
  const about = `${shape.resource.dateColumn} in UTC`;
  return utcDateColumns(shape).map(({ name, type }) => ({ name, type, about, isComputed: true }));
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
    sources: [quote(name)],
  };
}

function describeSystemTable(mirror: Mirror, { name, date, key }: SystemTable): ReadableTable {
  const info = mirror.db.pragma(`table_info(${quote(name)})`) as { name: string; type: string }[];
  return {
    name,
    about: systemTables[name],
    columns: info.map((column) => ({ name: column.name, type: typeOf(column), about: "" })),
    orderBy: key,
    shape: null,
    date: { sql: quote(date), form: "iso" },
    sources: [quote(name)],
  };
}

function typeOf({ name, type }: { name: string; type: string }): ScalarType {
  if (name === "verified") return "boolean";
  return type.startsWith("INT") ? "integer" : "text";
}

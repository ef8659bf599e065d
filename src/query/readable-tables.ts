import type { ScalarType } from "../resources/fields.js";
import { detailResources, resources } from "../resources/registry.js";
import { detailsResource, type Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { hasCompletedSync, wasRead } from "../store/runs.js";
import { systemTables } from "../store/schema.js";
import {
  mainDateColumn,
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
import { isUtcTime, type View } from "../views/view.js";

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

export function typedTables(): readonly TableShape[] {
  return [...resources, ...detailResources].flatMap((resource) => tablesOf(resource));
}

/** Returns the names of the tables that a view reads. For a table, returns its own name. */
export function storedTables(name: string): readonly string[] {
  return views.find((view) => view.name === name)?.reads ?? [name];
}

/** Returns the declarations of the record tables that a table or view reads. */
export function findTypedTables(name: string): TableShape[] {
  const stored = storedTables(name);
  return typedTables().filter((shape) =>
    recordStates.some((state) => stored.includes(tableName(shape, state))),
  );
}

/** Returns the resource whose sync reads the given resource. Details are read by the sync of their list. */
export function syncingResource(resource: Resource): Resource {
  return resources.find((one) => detailsResource(one) === resource) ?? resource;
}

export function wasResourceRead(mirror: Mirror, resource: Resource): boolean {
  return wasRead(mirror, resource.name, syncingResource(resource).name);
}

export function wasResourceSynced(mirror: Mirror, resource: Resource): boolean {
  return hasCompletedSync(mirror, resource.name, syncingResource(resource).name);
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

/** Returns the names of all tables and views, without helper views and tables for removed records. */
export function mainTableNames(): readonly string[] {
  const helpers = views.filter(({ isHelper }) => isHelper).map(({ name }) => name);
  const others = new Set([...helpers, ...removedTableNames()]);
  return knownTableNames().filter((name) => !others.has(name));
}

export interface ReadableColumn {
  name: string;
  /** `any` means that the column can contain values of different types. */
  type: ScalarType | "any";
  about: string;
  isAmount?: true | undefined;
  /** True for a column that the API does not document. Its values can have a different type in each row. */
  isDiscovered?: boolean;
  /** True for a technical column. It is exported only if `--columns` names it. */
  isComputed?: true;
}

export interface ReadableTable {
  name: string;
  about: string;
  columns: readonly ReadableColumn[];
  /** The columns to sort by, or an empty list for a view that is already sorted. */
  orderBy: readonly string[];
  /** The declaration of a record table, or null for views and system tables. */
  shape: TableShape | null;
  /** The date that `--since` and `--until` filter by, or null if rows have no date. */
  date: DateColumn | null;
  /** The tables to select from: the table or view itself, and the table for removed records if it is included. */
  sources: readonly [string, ...string[]];
}

export interface DateColumn {
  /** An SQL expression for a row's date. Rows in child tables use their parent record's date. */
  sql: string;
  /** The date format: `utc` is written by `formatUtc`, and `iso` by `formatInstant`. */
  form: "month" | "day" | "utc" | "iso";
}

/**
 * Describes a table or view.
 * @param name one of `knownTableNames`
 * @param includeRemoved true to include the table for removed records
 */
export function describeTable(
  mirror: Mirror,
  name: string,
  { includeRemoved = false }: { includeRemoved?: boolean } = {},
): ReadableTable {
  const isNamed = (table: { name: string }) => table.name === name;
  const view = views.find(isNamed);
  if (view) return describeView(view);
  const systemTable = exportedSystemTables.find(isNamed);
  if (systemTable) return describeSystemTable(mirror, systemTable);
  for (const shape of typedTables()) {
    if (name === shape.name) return describeTypedTable(mirror, shape, includeRemoved ? "all" : "current");
    if (name === tableName(shape, "removed")) return describeTypedTable(mirror, shape, "removed");
  }
  throw new Error(`the mirror has no table named ${name}`);
}

function describeTypedTable(mirror: Mirror, shape: TableShape, records: RecordState | "all"): ReadableTable {
  const discovered = shape.discoversColumns ? readDiscovered(mirror, shape.name) : [];
  const rowId = rowIdColumn(shape);
  const withRemovedAt = `(SELECT *, NULL AS removed_at FROM ${quote(shape.name)})`;
  const columns: ReadableColumn[] = [
    ...shape.columns,
    ...discovered,
    ...utcColumns(shape),
    syncedAt,
    ...(records === "current" ? [] : [removedAt]),
    rowIdOf(rowId),
  ];
  return {
    name: records === "removed" ? tableName(shape, "removed") : shape.name,
    about: records === "removed" ? `removed records: ${shape.about}` : shape.about,
    columns,
    orderBy: [rowId],
    shape,
    date: dateColumnOf(shape),
    sources:
      records === "all"
        ? [withRemovedAt, quote(tableName(shape, "removed"))]
        : [quote(tableName(shape, records))],
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
  const about = `${shape.resource.date} in UTC`;
  return utcDateColumns(shape).map(({ name, type }) => ({ name, type, about, isComputed: true }));
}

/** Describes the integer key of a table or view. */
function rowIdOf(name: string): ReadableColumn {
  const about =
    name === "row_id"
      ? `the record's number times ${positionsPerRecord}, plus the row's position in the list`
      : "the record's number in this mirror, as in the table `records`";
  return { name, type: "integer", about, isComputed: true };
}

/** Returns a table's date column. List items without a date use the date of their record. */
function dateColumnOf(shape: TableShape): DateColumn | null {
  const { list, resource } = shape;
  if (!list) return recordDateColumn(shape);
  const itemDate = dateIn(shape, "date");
  if (itemDate) return itemDate;
  const [main = shape] = tablesOf(resource);
  const date = recordDateColumn(main);
  if (!date) return null;
  const fromRecord = recordStates.map((state) => {
    const table = quote(tableName(main, state));
    return `(SELECT ${date.sql} FROM ${table} WHERE record_id = row_id / ${positionsPerRecord})`;
  });
  return { ...date, sql: `coalesce(${fromRecord.join(", ")})` };
}

function recordDateColumn(main: TableShape): DateColumn | null {
  const timestamp = mainDateColumn(main);
  if (timestamp) return { sql: quote(`${timestamp.name}_utc`), form: "utc" };
  return dateIn(main, main.resource.date);
}

function dateIn({ columns }: Pick<View, "columns">, name: string | null | undefined): DateColumn | null {
  const type = columns.find((column) => column.name === name)?.type;
  if (!name || !type) return null;
  if (name === "month") return { sql: quote(name), form: "month" };
  if (type === "date") return { sql: quote(name), form: "day" };
  return { sql: quote(name), form: isUtcTime(name) ? "utc" : "iso" };
}

function describeView(view: View): ReadableTable {
  const { name, about, columns, rowId } = view;
  return {
    name,
    about,
    columns: rowId === undefined ? columns : [...columns, rowIdOf(rowId)],
    orderBy: rowId === undefined ? [] : [rowId],
    shape: null,
    date: dateIn(view, view.date),
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

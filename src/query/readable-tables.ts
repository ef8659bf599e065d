import type { ScalarType } from "../resources/fields.js";
import { details, resources } from "../resources/registry.js";
import { detailsResource, type Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import type { Mirror } from "../store/mirror/database.js";
import { readDiscovered } from "../store/tables/table-columns.js";
import {
  mainDateColumn,
  positionsPerRecord,
  quote,
  type RecordState,
  recordStates,
  rowIdColumn,
  type TableColumn,
  tableName,
  utcDateColumns,
} from "../store/tables/table-sql.js";
import { views } from "../store/views/all-views.js";
import { isUtcTime, type View } from "../store/views/view.js";

/** System tables that users may query. `date` is the main date of a row; `batchKey` see `ReadableTable`. */
export const systemTables = [
  {
    name: "changes",
    about: "changes of records that were already in the mirror",
    date: "seen_changed_at",
    key: ["change_id"],
    batchKey: "change_id",
  },
  {
    name: "sync_runs",
    about: "every sync, verification and `forget`",
    date: "started_at",
    key: ["run_id"],
    batchKey: "run_id",
  },
  {
    name: "content_downloads",
    about: "downloaded library files",
    date: "downloaded_at",
    key: ["source", "id"],
    batchKey: null,
  },
];

export type SystemTable = (typeof systemTables)[number];

/** Returns the tables of the API's records, in the registry's order. */
export function typedTables(): readonly TableShape[] {
  return [...resources, ...details].flatMap((resource) => tablesOf(resource));
}

/** Returns the resource to sync for the records of another one. Only details are read by a different resource. */
export function syncingResource(resource: Resource): Resource {
  return resources.find((one) => detailsResource(one) === resource) ?? resource;
}

/** Returns the names of the tables of removed records. */
export function removedTableNames(): readonly string[] {
  return typedTables().map((shape) => tableName(shape, "removed"));
}

/** Returns the names of all tables and views. */
export function knownTableNames(): readonly string[] {
  return [...[...typedTables(), ...systemTables, ...views].map(({ name }) => name), ...removedTableNames()];
}

/** A column of a table or view. */
export interface ReadableColumn {
  name: string;
  /** `any`: values of different types. */
  type: ScalarType | "any";
  about: string;
  /** The path of the value in the record; null for columns that the mirror adds. */
  stored: TableColumn | null;
  /** True for an amount of money. */
  isAmount?: true | undefined;
  /** True for a technical column, which exports omit unless `--columns` includes it. */
  isComputed?: true;
}

/** A table or view of the mirror, described for commands that read it. */
export interface ReadableTable {
  name: string;
  about: string;
  columns: readonly ReadableColumn[];
  /** The columns that order the rows; none for a view with its own order. */
  orderBy: readonly string[];
  /** The only column of `orderBy`, if it is a unique integer: rows can be read in batches of its values. */
  batchKey: string | null;
  /** Null for views and system tables. */
  shape: TableShape | null;
  /** The date that `--since` and `--until` filter by; null if rows have none. */
  date: DateColumn | null;
  /** The table or view in SQL, for `FROM`. */
  source: string;
  /** The removed records in SQL, to read after `source`; null unless they are included. */
  removedSource: string | null;
}

/** The records to read: the current ones, the removed ones, or both. */
type SelectedRecords = RecordState | "all";

export interface DateColumn {
  /** SQL expression for the date of a row, or of the parent of a row in a child table. */
  sql: string;
  /** The text format: `utc` of `formatUtc`, `iso` of `formatInstant`. */
  form: "month" | "day" | "utc" | "iso";
}

/**
 * Describes a table or view.
 * @param name one of `knownTableNames`
 * @param includeRemoved adds the removed records to a table of records
 */
export function describeTable(
  mirror: Mirror,
  name: string,
  { includeRemoved = false }: { includeRemoved?: boolean } = {},
): ReadableTable {
  const isNamed = (table: { name: string }) => table.name === name;
  for (const shape of typedTables())
    for (const state of recordStates)
      if (tableName(shape, state) === name)
        return describeTypedTable(mirror, shape, includeRemoved && state === "current" ? "all" : state);
  const view = views.find(isNamed);
  if (view) return describeView(view);
  const systemTable = systemTables.find(isNamed);
  if (systemTable) return describeSystemTable(mirror, systemTable);
  throw new Error(`no table of this mirror: ${name}`);
}

function describeTypedTable(mirror: Mirror, shape: TableShape, selected: SelectedRecords): ReadableTable {
  const declared = shape.columns.map((column): TableColumn => ({ ...column, isDiscovered: false }));
  const discovered = shape.discoversColumns ? readDiscovered(mirror, shape.name) : [];
  const fromRecord = [...declared, ...discovered].map((stored) => {
    const { name, type, about, isAmount } = stored;
    return { name, type, about, stored, isAmount };
  });
  const columns = [...fromRecord, ...utcColumns(shape), syncedAt];
  const rowId = rowIdOf(rowIdColumn(shape));
  return {
    name: tableName(shape, selected === "removed" ? "removed" : "current"),
    about: selected === "removed" ? `removed records: ${shape.about}` : shape.about,
    columns: selected === "current" ? [...columns, rowId] : [...columns, removedAt, rowId],
    orderBy: [rowIdColumn(shape)],
    batchKey: rowIdColumn(shape),
    shape,
    date: dateOf(shape, selected),
    ...sourcesOf(shape, selected),
  };
}

const syncedAt: ReadableColumn = {
  name: "synced_at",
  type: "timestamp",
  about: "when the current version was first read",
  stored: null,
};

const removedAt: ReadableColumn = {
  name: "removed_at",
  type: "timestamp",
  about: "when a complete read no longer found the record",
  stored: null,
};

/** Describes the main date in the formats that SQLite compares. */
function utcColumns(shape: TableShape): ReadableColumn[] {
  const about = `${shape.resource.date} in UTC`;
  return utcDateColumns(shape).map(({ name, type }) => ({
    name,
    type,
    about,
    stored: null,
    isComputed: true,
  }));
}

/** Describes the integer key of a table's rows, or of a view with one row per row of a table. */
function rowIdOf(name: string): ReadableColumn {
  const about =
    name === "row_id"
      ? `the row's number: that of its record times ${positionsPerRecord}, plus its position`
      : "the record's number in this mirror, as in the table `records`";
  return { name, type: "integer", about, stored: null, isComputed: true };
}

function sourcesOf(
  shape: TableShape,
  selected: SelectedRecords,
): Pick<ReadableTable, "source" | "removedSource"> {
  if (selected !== "all") return { source: quote(tableName(shape, selected)), removedSource: null };
  const current = `(SELECT *, NULL AS removed_at FROM ${quote(tableName(shape, "current"))})`;
  return { source: current, removedSource: quote(tableName(shape, "removed")) };
}

/** Rows of a child table have the date of their parent, except points of a time series. */
function dateOf(shape: TableShape, selected: SelectedRecords): DateColumn | null {
  const [main = shape] = tablesOf(shape.resource);
  const mainDate = mainDateColumn(main);
  const ofRecord: DateColumn | null = mainDate
    ? { sql: quote(`${mainDate.name}_utc`), form: "utc" }
    : dateIn(main, shape.resource.date);
  const ofItem = shape.list && dateIn(shape, "date");
  return ofItem ?? (ofRecord && { ...ofRecord, sql: inParent(shape, selected, ofRecord.sql) });
}

/** For a child table, returns an expression that reads a column of the parent row; otherwise the expression itself. */
function inParent({ resource, list }: TableShape, selected: SelectedRecords, sql: string): string {
  if (!list) return sql;
  const inTable = (state: RecordState) => {
    const parent = quote(tableName({ name: resource.table }, state));
    return `(SELECT ${sql} FROM ${parent} WHERE record_id = row_id / ${positionsPerRecord})`;
  };
  return selected === "all" ? `coalesce(${recordStates.map(inTable).join(", ")})` : inTable(selected);
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
    columns: [
      ...columns.map((column) => ({ ...column, stored: null })),
      ...(rowId === undefined ? [] : [rowIdOf(rowId)]),
    ],
    orderBy: rowId === undefined ? [] : [rowId],
    batchKey: rowId ?? null,
    shape: null,
    date: dateIn(view, view.date),
    source: quote(name),
    removedSource: null,
  };
}

function describeSystemTable(
  mirror: Mirror,
  { name, about, date, key, batchKey }: SystemTable,
): ReadableTable {
  const info = mirror.db.pragma(`table_info(${quote(name)})`) as { name: string; type: string }[];
  return {
    name,
    about,
    columns: info.map((column) => ({ name: column.name, type: typeOf(column), about: "", stored: null })),
    orderBy: key,
    batchKey,
    shape: null,
    date: { sql: quote(date), form: "iso" },
    source: quote(name),
    removedSource: null,
  };
}

function typeOf({ name, type }: { name: string; type: string }): ScalarType {
  if (name === "verified") return "boolean";
  return type.startsWith("INT") ? "integer" : "text";
}

import type { ScalarType } from "../resources/fields.js";
import { detailResources, resources } from "../resources/registry.js";
import { detailsResource, type Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { readDiscovered } from "../store/table-columns.js";
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
} from "../store/table-sql.js";
import { views } from "../views/all-views.js";
import { isUtcTime, type View } from "../views/view.js";

/** The system tables that users can query. `date` is a row's main date. */
const systemTables = [
  {
    name: "changes",
    about: "changes to mirrored records, one row per field",
    date: "seen_changed_at",
    key: ["change_id"],
    batchKey: "change_id",
  },
  {
    name: "sync_runs",
    about: "every run of `sync`, `verify` and `forget`",
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

type SystemTable = (typeof systemTables)[number];

/** Returns the record tables, in the same order as in the registry. */
export function typedTables(): readonly TableShape[] {
  return [...resources, ...detailResources].flatMap((resource) => tablesOf(resource));
}

/** Returns the resource that must be synced so that a given resource is read. The two differ only for details. */
export function syncingResource(resource: Resource): Resource {
  return resources.find((one) => detailsResource(one) === resource) ?? resource;
}

export function removedTableNames(): readonly string[] {
  return typedTables().map((shape) => tableName(shape, "removed"));
}

/** Returns the names of all tables and views that are available to users. */
export function knownTableNames(): readonly string[] {
  return [...[...typedTables(), ...systemTables, ...views].map(({ name }) => name), ...removedTableNames()];
}

export interface ReadableColumn {
  name: string;
  /** `any` means that the values can have different types. */
  type: ScalarType | "any";
  about: string;
  /** The declaration of a column whose values come from the record, or null for other columns. */
  stored: TableColumn | null;
  isAmount?: true | undefined;
  /** True for technical columns. Exports include them only if `--columns` lists them. */
  isComputed?: true;
}

export interface ReadableTable {
  name: string;
  about: string;
  columns: readonly ReadableColumn[];
  /** The columns that order the rows. The list is empty for a view that orders its own rows. */
  orderBy: readonly string[];
  /** A unique integer column that orders the rows, so that they can be read in batches, or null if there is none. */
  batchKey: string | null;
  /** The declaration of a typed table, or null for views and system tables. */
  shape: TableShape | null;
  /** The date that `--since` and `--until` apply to, or null if rows have no date. */
  date: DateColumn | null;
  /** The table or view, written as SQL for a FROM clause. */
  source: string;
  /** The table for removed records, written as SQL for a FROM clause, or null to read only current records. */
  removedSource: string | null;
}

type SelectedRecords = RecordState | "all";

export interface DateColumn {
  /** An SQL expression for the date of a row, or for the date of a child row's record. */
  sql: string;
  /** The format of the date. `utc` is the format of `formatUtc`, and `iso` is the format of `formatInstant`. */
  form: "month" | "day" | "utc" | "iso";
}

/**
 * Describes a table or view.
 * @param name one of `knownTableNames`
 * @param includeRemoved true to also read removed records
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
  throw new Error(`the mirror has no table named ${name}`);
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
  about: "the time at which the current version was first read",
  stored: null,
};

const removedAt: ReadableColumn = {
  name: "removed_at",
  type: "timestamp",
  about: "the time of the first complete read that no longer returned the record",
  stored: null,
};

/** Describes the columns with the main date in UTC. */
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

/** Describes the integer key of a table or view. */
function rowIdOf(name: string): ReadableColumn {
  const about =
    name === "row_id"
      ? `the record's number times ${positionsPerRecord}, plus the row's position in the list`
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

/** A child row has the same date as its record, except that a point in a time series has its own date. */
function dateOf(shape: TableShape, selected: SelectedRecords): DateColumn | null {
  const [main = shape] = tablesOf(shape.resource);
  const mainDate = mainDateColumn(main);
  const ofRecord: DateColumn | null = mainDate
    ? { sql: quote(`${mainDate.name}_utc`), form: "utc" }
    : dateIn(main, shape.resource.date);
  const ofItem = shape.list && dateIn(shape, "date");
  return ofItem ?? (ofRecord && { ...ofRecord, sql: inParent(shape, selected, ofRecord.sql) });
}

/** Returns SQL that evaluates an expression in the main table. For a main table, it returns the expression itself. */
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

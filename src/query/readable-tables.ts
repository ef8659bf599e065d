import type { ScalarType } from "../resources/fields.js";
import { details, resources } from "../resources/registry.js";
import { detailsResource, type Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import { readDiscovered } from "../store/columns.js";
import type { Mirror } from "../store/database.js";
import { wasRead } from "../store/runs.js";
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
import { views } from "../store/views/all-views.js";
import { isUtcTime, type View } from "../store/views/view.js";
import { findTypedTables } from "./as-of.js";
import { selectStatement } from "./select.js";

/** The tables that the program writes for itself and people read, too. `date`: the time that a row is of. */
export const systemTables = [
  { name: "changes", about: "what changed in known records", date: "seen_changed_at", key: ["change_id"] },
  { name: "sync_runs", about: "every sync, proof and `forget`", date: "started_at", key: ["run_id"] },
  { name: "content_downloads", about: "fetched library files", date: "downloaded_at", key: ["source", "id"] },
];

export type SystemTable = (typeof systemTables)[number];

/** The typed tables, in the registry's order. */
export function typedTables(): readonly TableShape[] {
  return [...resources, ...details].flatMap((resource) => tablesOf(resource));
}

/** The resource whose sync reads this one: itself, or the one whose details it holds. */
export function syncingResource(resource: Resource): Resource {
  return resources.find((one) => detailsResource(one) === resource) ?? resource;
}

/** Returns the names of the tables that hold removed records. */
export function removedTableNames(): readonly string[] {
  return typedTables().map((shape) => tableName(shape, "removed"));
}

/** The names of all tables and views. */
export function knownTableNames(): readonly string[] {
  return [...[...typedTables(), ...systemTables, ...views].map(({ name }) => name), ...removedTableNames()];
}

/** A column of a table or view. */
export interface ReadableColumn {
  name: string;
  /** `any`: each value says what it is. */
  type: ScalarType | "any";
  about: string;
  /** The value's place in the record; null for columns that the mirror adds. */
  stored: TableColumn | null;
  /** True if it is an amount of money. */
  isAmount?: true | undefined;
  /** True if it follows from another column, or is the mirror's own key: exports have it only if it is named. */
  isComputed?: true;
}

/** A table or view of the mirror that people read. */
export interface ReadableTable {
  name: string;
  about: string;
  columns: readonly ReadableColumn[];
  /** The columns that order its rows: one integer that never changes, or several; none if a view has its own order. */
  orderBy: readonly string[];
  /** The shape of its resource; null for the program's own tables and views. */
  shape: TableShape | null;
  /** The column that `--since` and `--until` go by; null if there is none. */
  date: DateColumn | null;
  /** What to select from, one after the other: the quoted name, or a table and its removed records. */
  sources: readonly [string, ...string[]];
}

/** Which records of a table to read: the plain table, its twin with the removed ones, or both. */
type SelectedPart = RecordState | "all";

export interface DateColumn {
  /** An expression for the row's date; for a row of a child table, the date of its parent. */
  sql: string;
  /** `utc`: as `utcText` writes it. `iso`: as `formatInstant` writes it. */
  form: "month" | "day" | "utc" | "iso";
}

/**
 * Describes a table or view that `knownTableNames` has.
 * @param includeRemoved whether a table of records also has the removed ones; views and the program's own tables have none
 */
export function describeTable(
  mirror: Mirror,
  name: string,
  { includeRemoved = false }: { includeRemoved?: boolean } = {},
): ReadableTable {
  const isNamed = (one: { name: string }) => one.name === name;
  for (const shape of typedTables())
    for (const part of recordStates)
      if (tableName(shape, part) === name)
        return describeTypedTable(mirror, shape, includeRemoved && part === "current" ? "all" : part);
  const view = views.find(isNamed);
  if (view) return describeView(view);
  const own = systemTables.find(isNamed);
  if (own) return describeSystemTable(mirror, own);
  throw new Error(`no table of this mirror: ${name}`);
}

function describeTypedTable(mirror: Mirror, shape: TableShape, selected: SelectedPart): ReadableTable {
  const declared = shape.columns.map((column): TableColumn => ({ ...column, isDiscovered: false }));
  const discovered = shape.discoversColumns ? readDiscovered(mirror, shape.name) : [];
  const own = [...declared, ...discovered].map((stored) => {
    const { name, type, about, isAmount } = stored;
    return { name, type, about, stored, isAmount };
  });
  const computed = utcDateColumns(shape).map(({ name, type }) => {
    const about = `${shape.resource.date} in UTC`;
    return { name, type, about, stored: null, isComputed: true } as const;
  });
  const columns = [...own, ...computed, timestampColumn("synced_at", "when this form of it was first read")];
  const removedAt = timestampColumn("removed_at", "when a complete read no longer found the record");
  const rowId = rowIdOf(rowIdColumn(shape));
  return {
    name: tableName(shape, selected === "removed" ? "removed" : "current"),
    about: selected === "removed" ? `removed records: ${shape.about}` : shape.about,
    columns: selected === "current" ? [...columns, rowId] : [...columns, removedAt, rowId],
    orderBy: [rowIdColumn(shape)],
    shape,
    date: dateOf(shape, selected),
    sources: sourcesFor(shape, selected),
  };
}

function sourcesFor(shape: TableShape, selected: SelectedPart): ReadableTable["sources"] {
  const nameOf = (part: RecordState) => quote(tableName(shape, part));
  if (selected !== "all") return [nameOf(selected)];
  return [`(SELECT *, NULL AS removed_at FROM ${nameOf("current")})`, nameOf("removed")];
}

/** Describes the integer key of a table's rows, or of a view with one row per row of a table. */
function rowIdOf(name: string): ReadableColumn {
  const about =
    name === "row_id"
      ? `the row's number: that of its record times ${positionsPerRecord}, plus its position`
      : "the record's number in this mirror, as in the table `records`";
  return { name, type: "integer", about, stored: null, isComputed: true };
}

function timestampColumn(name: string, about: string): ReadableColumn {
  return { name, type: "timestamp", about, stored: null };
}

/** The rows of a child table have the date of their parent, unless they are points in time. */
function dateOf(shape: TableShape, selected: SelectedPart): DateColumn | null {
  const [main = shape] = tablesOf(shape.resource);
  const timestamp = mainDateColumn(main);
  const ofRecord: DateColumn | null = timestamp
    ? { sql: quote(`${timestamp.name}_utc`), form: "utc" }
    : dateIn(main, shape.resource.date);
  const own = shape.list && dateIn(shape, "date");
  return own ?? (ofRecord && { ...ofRecord, sql: inRecord(shape, selected, ofRecord.sql) });
}

/** Returns an expression on the columns of a row's record, which of a child row is its parent's. */
function inRecord({ resource, list }: TableShape, selected: SelectedPart, sql: string): string {
  if (!list) return sql;
  const inPart = (part: RecordState) => {
    const parent = quote(tableName({ name: resource.table }, part));
    return `(SELECT ${sql} FROM ${parent} WHERE record_id = row_id / ${positionsPerRecord})`;
  };
  return selected === "all" ? `coalesce(${recordStates.map(inPart).join(", ")})` : inPart(selected);
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
    shape: null,
    date: dateIn(view, view.date),
    sources: [quote(name)],
  };
}

function describeSystemTable(mirror: Mirror, { name, about, date, key }: SystemTable): ReadableTable {
  const info = mirror.db.pragma(`table_info(${quote(name)})`) as { name: string; type: string }[];
  return {
    name,
    about,
    columns: info.map((one) => ({ name: one.name, type: typeOf(one), about: "", stored: null })),
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

/** A table or view, as `tables` shows it. */
export interface TableFacts {
  name: string;
  kind: "table" | "view";
  /** One row's meaning. */
  about: string;
  /** Rows that an export would give; null if its resource was never read, or for a view in the list. */
  rows: number | null;
  columns: ColumnFacts[];
  /** A query to begin with. */
  example: string;
}

export interface ColumnFacts extends Pick<ReadableColumn, "name" | "type" | "about"> {
  /** Rows in which the column is not null; left out if the rows were not counted. */
  rows_with_value?: number | undefined;
}

/** Queries to begin with, of tables that hold more than what counts; by default the first five rows. */
const exampleQueries: Readonly<Record<string, string>> = {
  orders: `SELECT month, currency, count(*) AS orders, round(sum(total_amount), 2) AS gross
FROM orders WHERE is_cancelled IS NOT 1 GROUP BY month, currency ORDER BY month DESC`,
  order_line_items: `SELECT i.sku, i.title, o.currency, sum(i.quantity) AS sold, sum(i.quantity * i.price) AS worth
FROM order_line_items i JOIN orders o ON o.id = i.order_id
WHERE o.is_cancelled IS NOT 1
GROUP BY i.sku, i.title, o.currency ORDER BY sold DESC LIMIT 10`,
};

/** Returns the tables and views; with `all` also helper views and the tables of removed records. The rows of a view are not counted, because some take long. */
export function listFacts(mirror: Mirror, { all }: { all: boolean }): TableFacts[] {
  const isHelper = (name: string) =>
    removedTableNames().includes(name) || views.some((view) => view.name === name && view.isHelper);
  const names = knownTableNames().filter((name) => all || !isHelper(name));
  const isView = (name: string) => views.some((view) => view.name === name);
  return names.map((name) => readFacts(mirror, name, isView(name) ? "nothing" : "rows"));
}

/** Returns one table or view; by default its rows, and the values in each column, are counted. */
export function readFacts(
  mirror: Mirror,
  name: string,
  counted: "values" | "rows" | "nothing" = "values",
): TableFacts {
  const table = describeTable(mirror, name);
  const view = views.find((one) => one.name === name);
  const isRead = table.shape === null || wasSynced(mirror, table.shape.resource);
  const columns = table.columns.map((column) => ({ ...column, about: columnAbout(column) }));
  const counts =
    isRead && counted !== "nothing" ? countValues(mirror, table, counted === "values") : undefined;
  return {
    name,
    kind: view ? "view" : "table",
    about: table.about,
    rows: counts?.rows ?? null,
    columns: columns.map(({ name: column, type, about }, index) => ({
      name: column,
      type,
      about,
      rows_with_value: counts?.values[index],
    })),
    example: view?.example ?? exampleQueries[name] ?? `SELECT * FROM ${name} LIMIT 5`,
  };
}

function columnAbout({ type, about }: ReadableColumn): string {
  return [about, ...(type === "boolean" ? ["0 or 1"] : [])].filter((text) => text !== "").join("; ");
}

/** Counts the rows of a table or view, and the rows in which each column has a value. */
function countValues(mirror: Mirror, table: ReadableTable, withValues: boolean) {
  const columns = withValues ? table.columns.map(({ name }) => `t.${quote(name)}`) : [];
  const counts = ["*", ...columns].map((value) => `count(${value})`).join(", ");
  const row = mirror.db
    .prepare(`SELECT ${counts} ${selectStatement({ table }).from}`)
    .raw()
    .get();
  const [rows = 0, ...values] = row as number[];
  return { rows, values };
}

/** True if a resource was ever read, if only in part, by itself or with the one that it is the details of. */
export function wasSynced(mirror: Mirror, resource: Resource): boolean {
  return wasRead(mirror, resource.name, syncingResource(resource).name);
}

/** Returns those of these tables that were never read, and the resource to sync; a view if all its tables are. */
export function findUnreadTables(
  mirror: Mirror,
  names: readonly string[],
): { name: string; resource: string }[] {
  const isUnread = (shape: TableShape) => !wasSynced(mirror, shape.resource);
  return names.flatMap((name) => {
    const shapes = findTypedTables(mirror, name);
    const [first] = shapes;
    return first && shapes.every(isUnread) ? [{ name, resource: syncingResource(first.resource).name }] : [];
  });
}

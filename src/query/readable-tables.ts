import type { ScalarType } from "../resources/fields.js";
import { allResources } from "../resources/registry.js";
import { type Column, listTableShapes, type TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { readColumns } from "../store/discovered-columns.js";
import { systemTables } from "../store/schema.js";
import {
  addedColumns,
  keyColumns,
  quote,
  type RecordState,
  recordStates,
  removedAtColumn,
  rowIdColumn,
  tableName,
} from "../store/table-sql.js";
import { views } from "../views/all-views.js";
import type { View } from "../views/view.js";
import { type DateColumn, findDateColumn, findTableDate } from "./date-filter.js";

/** A table or view that commands can read. */
export interface ReadableTable {
  name: string;
  /** `current` and `removed` tables are built from the API's records. `system` tables are brandapi's own. */
  kind: RecordState | "view" | "system";
  about: string;
  columns: readonly ReadableColumn[];
  /** The columns to sort by, or an empty list for a view that is already sorted. */
  orderBy: readonly string[];
  /** The declaration of a table that is built from the API's records; otherwise, null. */
  shape: TableShape | null;
  /** The date that `--since` and `--until` filter by, or null if rows have no date. */
  date: DateColumn | null;
  /** SQL for the table to select from, followed by the table for removed records if they are included. */
  fromClauses: readonly [string, ...string[]];
}

export interface ReadableColumn extends Omit<Column, "type"> {
  /** `any` means that the values can have different types, as in a query result. */
  type: ScalarType | "any";
}

/** Returns the declarations of all typed tables, which are built from the API's records. */
export function typedTables(): readonly TableShape[] {
  return allResources.flatMap((resource) => listTableShapes(resource));
}

/** The typed tables by name. Each declaration has one table for current records and one for removed records. */
const typedTablesByName: ReadonlyMap<string, { shape: TableShape; state: RecordState }> = new Map(
  recordStates.flatMap((state) =>
    typedTables().map((shape) => [tableName(shape, state), { shape, state }] as const),
  ),
);

const viewsByName: ReadonlyMap<string, View> = new Map(views.map((view) => [view.name, view]));

/** The system tables that can be exported, with the date that `--since` and `--until` filter by and the primary key. */
const exportedSystemTables: ReadonlyMap<string, { about: string; date: string; key: readonly string[] }> =
  new Map([
    ["changes", { about: systemTables.changes, date: "seen_changed_at", key: ["change_id"] }],
    ["sync_runs", { about: systemTables.sync_runs, date: "started_at", key: ["run_id"] }],
    [
      "content_downloads",
      { about: systemTables.content_downloads, date: "downloaded_at", key: ["source", "id"] },
    ],
  ]);

/** The names of all tables and views that commands can read. */
export const tableNames: readonly string[] = [
  ...typedTables().map((shape) => tableName(shape, "current")),
  ...exportedSystemTables.keys(),
  ...viewsByName.keys(),
  ...typedTables().map((shape) => tableName(shape, "removed")),
];

/** All tables and views except for helper views and tables for removed records. */
export const mainTableNames: readonly string[] = tableNames.filter(
  (name) => typedTablesByName.get(name)?.state !== "removed" && !viewsByName.get(name)?.isHelper,
);

/**
 * Returns the columns that a table or view has in every mirror. A typed table can have more columns in some mirrors, and
 * the columns of system tables are known only to SQLite.
 */
export function declaredColumns(name: string): readonly ReadableColumn[] {
  const typed = typedTablesByName.get(name);
  if (typed) return [...typed.shape.columns, ...addedColumns(typed.shape, typed.state)];
  const view = viewsByName.get(name);
  return view ? viewColumns(view) : [];
}

/**
 * Describes a table or view in a mirror.
 * @param name one of `tableNames`
 */
export function describeTable(mirror: Mirror, name: string): ReadableTable {
  const typed = typedTablesByName.get(name);
  if (typed) return describeTypedTable(mirror, typed.shape, typed.state);
  const view = viewsByName.get(name);
  if (view) return describeView(view);
  return describeSystemTable(mirror, name);
}

function describeTypedTable(mirror: Mirror, shape: TableShape, state: RecordState): ReadableTable {
  const name = tableName(shape, state);
  return {
    name,
    kind: state,
    about: state === "removed" ? `removed records: ${shape.about}` : shape.about,
    columns: [...readColumns(mirror, shape), ...addedColumns(shape, state)],
    orderBy: [rowIdColumn(shape)],
    shape,
    date: findTableDate(shape),
    fromClauses: [quote(name)],
  };
}

function describeView(view: View): ReadableTable {
  const { about, columns, date, name, rowId } = view;
  return {
    name,
    kind: "view",
    about,
    columns: viewColumns(view),
    orderBy: rowId === undefined ? [] : [rowId],
    shape: null,
    date: findDateColumn(columns, date),
    fromClauses: [quote(name)],
  };
}

function viewColumns({ columns, rowId }: View): readonly Column[] {
  return rowId === undefined ? columns : [...columns, keyColumns[rowId]];
}

function describeSystemTable(mirror: Mirror, name: string): ReadableTable {
  const table = exportedSystemTables.get(name);
  if (!table) throw new Error(`the mirror has no table named ${name}`);
  return {
    name,
    kind: "system",
    about: table.about,
    columns: readSystemColumns(mirror, name),
    orderBy: table.key,
    shape: null,
    date: { sql: quote(table.date), form: "iso" },
    fromClauses: [quote(name)],
  };
}

function readSystemColumns({ db }: Mirror, table: string): ReadableColumn[] {
  const info = db.pragma(`table_info(${quote(table)})`) as { name: string; type: string }[];
  return info.map(({ name, type }) => {
    const isInteger = type.startsWith("INT");
    return { name, type: name === "verified" ? "boolean" : isInteger ? "integer" : "text", about: "" };
  });
}

/** Adds the removed records to a table of the kind `current`. Exports contain them after the current records. */
export function withRemovedRecords(table: ReadableTable): ReadableTable {
  const currentRecords = `(SELECT *, NULL AS removed_at FROM ${quote(table.name)})`;
  return {
    ...table,
    columns: [...table.columns, removedAtColumn],
    fromClauses: [currentRecords, quote(tableName(table, "removed"))],
  };
}

/** Returns the names of the tables that a view reads. For a table, returns only the table's name. */
export function tablesReadBy(name: string): readonly string[] {
  return viewsByName.get(name)?.reads ?? [name];
}

/** Returns the declarations of the typed tables that a table or view reads. */
export function findTypedTables(name: string): TableShape[] {
  const stored = tablesReadBy(name);
  return typedTables().filter((shape) =>
    recordStates.some((state) => stored.includes(tableName(shape, state))),
  );
}

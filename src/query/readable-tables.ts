import { allResources } from "../resources/registry.js";
import { type Column, listTableShapes, type TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { loadColumns } from "../store/discovered-columns.js";
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
  /** All columns, even those that exports omit by default (`isOmittedByDefault`). */
  columns: readonly Column[];
  /** The columns to sort by, or an empty array for a view that is already sorted. */
  orderBy: readonly string[];
  /** The declaration of a table that is built from the API's records; otherwise, null. */
  shape: TableShape | null;
  /** The date that `--since` and `--until` filter by, or null if rows have no date. */
  date: DateColumn | null;
  /** The table or subquery to select from, as SQL. */
  tableSql: string;
  /**
   * The table of removed records, as SQL. It is read after `tableSql`. Null if removed records are not included.
   */
  removedTableSql: string | null;
}

/** The declarations of all typed tables, which are built from the API's records. */
export const allTableShapes: readonly TableShape[] = allResources.flatMap((resource) =>
  listTableShapes(resource),
);

/** A table that brandapi maintains itself, such as the log of changes. */
interface SystemTable {
  about: string;
  /** The column that `--since` and `--until` filter by. */
  date: string;
  /** The primary key. */
  key: readonly string[];
  /** The boolean columns, which contain 0 or 1 because SQLite has no boolean type. */
  booleans?: readonly string[];
}

/** The system tables that can be exported. */
const exportedSystemTables: Readonly<Record<string, SystemTable>> = {
  changes: { about: systemTables.changes, date: "seen_changed_at", key: ["change_id"] },
  sync_runs: { about: systemTables.sync_runs, date: "started_at", key: ["run_id"], booleans: ["verified"] },
  content_downloads: {
    about: systemTables.content_downloads,
    date: "downloaded_at",
    key: ["source", "id"],
  },
};

type Declaration =
  | { kind: RecordState; shape: TableShape }
  | { kind: "view"; view: View }
  | { kind: "system"; table: SystemTable };

function declareTypedTables(state: RecordState): [name: string, Declaration][] {
  return allTableShapes.map((shape) => [tableName(shape, state), { kind: state, shape }]);
}

/**
 * The declarations of all tables and views that commands can read, keyed by name. The map's order is the order in which
 * `brandapi tables` lists them.
 */
const declarations: ReadonlyMap<string, Declaration> = new Map([
  ...declareTypedTables("current"),
  ...Object.entries(exportedSystemTables).map(([name, table]): [string, Declaration] => [
    name,
    { kind: "system", table },
  ]),
  ...views.map((view): [string, Declaration] => [view.name, { kind: "view", view }]),
  ...declareTypedTables("removed"),
]);

/** The names of all tables and views that commands can read. */
export const tableNames: readonly string[] = [...declarations.keys()];

/** All tables and views except for helper views and tables for removed records. */
export const mainTableNames: readonly string[] = Array.from(declarations).flatMap(([name, declaration]) => {
  const { kind } = declaration;
  return kind === "removed" || (kind === "view" && declaration.view.isHelper) ? [] : name;
});

/**
 * Returns the columns that a table or view has in every mirror. A typed table can have more columns in some mirrors.
 * For a system table, returns an empty array, because only SQLite knows its columns.
 */
export function declaredColumns(name: string): readonly Column[] {
  const declaration = declarations.get(name);
  if (!declaration || declaration.kind === "system") return [];
  if (declaration.kind === "view") return viewColumns(declaration.view);
  const { kind, shape } = declaration;
  return [...shape.columns, ...addedColumns(shape, kind)];
}

/**
 * Returns a table or view of a mirror.
 * @param name one of `tableNames`
 */
export function resolveTable(mirror: Mirror, name: string): ReadableTable {
  const declaration = declarations.get(name);
  if (!declaration) throw new Error(`the mirror has no table named ${name}`);
  if (declaration.kind === "view") return toReadableTable(declaration.view);
  if (declaration.kind === "system") return loadSystemTable(mirror, name, declaration.table);
  return loadTypedTable(mirror, declaration.shape, declaration.kind);
}

function loadTypedTable(mirror: Mirror, shape: TableShape, state: RecordState): ReadableTable {
  const name = tableName(shape, state);
  return {
    name,
    kind: state,
    about: state === "removed" ? `removed records: ${shape.about}` : shape.about,
    columns: [...loadColumns(mirror, shape), ...addedColumns(shape, state)],
    orderBy: [rowIdColumn(shape)],
    shape,
    date: findTableDate(shape),
    tableSql: quote(name),
    removedTableSql: null,
  };
}

function toReadableTable(view: View): ReadableTable {
  const { about, columns, date, name, rowId } = view;
  return {
    name,
    kind: "view",
    about,
    columns: viewColumns(view),
    orderBy: rowId === undefined ? [] : [rowId],
    shape: null,
    date: findDateColumn(columns, date),
    tableSql: quote(name),
    removedTableSql: null,
  };
}

function viewColumns({ columns, rowId }: View): readonly Column[] {
  return rowId === undefined ? columns : [...columns, keyColumns[rowId]];
}

function loadSystemTable(
  mirror: Mirror,
  name: string,
  { about, booleans = [], date, key }: SystemTable,
): ReadableTable {
  return {
    name,
    kind: "system",
    about,
    columns: loadSystemColumns(mirror, name, booleans),
    orderBy: key,
    shape: null,
    date: { sql: quote(date), form: "iso" },
    tableSql: quote(name),
    removedTableSql: null,
  };
}

function loadSystemColumns({ db }: Mirror, table: string, booleans: readonly string[]): Column[] {
  const info = db.pragma(`table_info(${quote(table)})`) as { name: string; type: string }[];
  return info.map(({ name, type }) => {
    const storedType = type.startsWith("INT") ? "integer" : "text";
    return { name, type: booleans.includes(name) ? "boolean" : storedType, about: "" };
  });
}

/** Adds the removed records to a `current` table. In exports, they follow the current records. */
export function withRemovedRecords(table: ReadableTable): ReadableTable {
  return {
    ...table,
    columns: [...table.columns, removedAtColumn],
    tableSql: `(SELECT *, NULL AS removed_at FROM ${quote(table.name)})`,
    removedTableSql: quote(tableName(table, "removed")),
  };
}

/** Returns the names of the tables that a view reads. For a table, returns only the table's name. */
export function tablesReadBy(name: string): readonly string[] {
  const declaration = declarations.get(name);
  return declaration?.kind === "view" ? declaration.view.reads : [name];
}

/** Returns the shapes of the typed tables that a table or view reads. */
export function shapesReadBy(name: string): TableShape[] {
  const stored = tablesReadBy(name);
  return allTableShapes.filter((shape) =>
    recordStates.some((state) => stored.includes(tableName(shape, state))),
  );
}

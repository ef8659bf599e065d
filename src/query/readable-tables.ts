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

/** The declaration of a table or view, which is available without a mirror. */
interface CatalogEntry {
  name: string;
  kind: ReadableTable["kind"];
  /** The declared columns. A mirror can contain additional columns, and system tables declare none. */
  declaredColumns: readonly ReadableColumn[];
  describe(mirror: Mirror): ReadableTable;
}

/** All tables and views that commands can read, keyed by name. */
export const catalog: ReadonlyMap<string, CatalogEntry> = new Map(
  [
    ...typedTables().map((shape) => typedTableEntry(shape, "current")),
    systemTableEntry("changes", "seen_changed_at", ["change_id"]),
    systemTableEntry("sync_runs", "started_at", ["run_id"]),
    systemTableEntry("content_downloads", "downloaded_at", ["source", "id"]),
    ...views.map(viewEntry),
    ...typedTables().map((shape) => typedTableEntry(shape, "removed")),
  ].map((entry) => [entry.name, entry]),
);

export const tableNames: readonly string[] = [...catalog.keys()];

/** All tables and views except for helper views and tables for removed records. */
export const mainTableNames: readonly string[] = tableNames.filter(
  (name) =>
    catalog.get(name)?.kind !== "removed" && !views.some((view) => view.isHelper && view.name === name),
);

/**
 * Describes a table or view in a mirror.
 * @param name one of `tableNames`
 */
export function describeTable(mirror: Mirror, name: string): ReadableTable {
  const entry = catalog.get(name);
  if (!entry) throw new Error(`the mirror has no table named ${name}`);
  return entry.describe(mirror);
}

function typedTableEntry(shape: TableShape, state: RecordState): CatalogEntry {
  const name = tableName(shape, state);
  const added = addedColumns(shape, state);
  return {
    name,
    kind: state,
    declaredColumns: [...shape.columns, ...added],
    describe: (mirror) => ({
      name,
      kind: state,
      about: state === "removed" ? `removed records: ${shape.about}` : shape.about,
      columns: [...readColumns(mirror, shape), ...added],
      orderBy: [rowIdColumn(shape)],
      shape,
      date: findTableDate(shape),
      fromClauses: [quote(name)],
    }),
  };
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

function viewEntry({ name, about, columns: declared, date, rowId }: View): CatalogEntry {
  const columns = rowId === undefined ? declared : [...declared, keyColumns[rowId]];
  return {
    name,
    kind: "view",
    declaredColumns: columns,
    describe: () => ({
      name,
      kind: "view",
      about,
      columns,
      orderBy: rowId === undefined ? [] : [rowId],
      shape: null,
      date: findDateColumn(declared, date),
      fromClauses: [quote(name)],
    }),
  };
}

/** @param dateColumn the column that `--since` and `--until` filter by */
function systemTableEntry(
  name: keyof typeof systemTables,
  dateColumn: string,
  key: readonly string[],
): CatalogEntry {
  return {
    name,
    kind: "system",
    declaredColumns: [],
    describe: (mirror) => ({
      name,
      kind: "system",
      about: systemTables[name],
      columns: readSystemColumns(mirror, name),
      orderBy: key,
      shape: null,
      date: { sql: quote(dateColumn), form: "iso" },
      fromClauses: [quote(name)],
    }),
  };
}

function readSystemColumns({ db }: Mirror, table: string): ReadableColumn[] {
  const info = db.pragma(`table_info(${quote(table)})`) as { name: string; type: string }[];
  return info.map(({ name, type }) => {
    const isInteger = type.startsWith("INT");
    return { name, type: name === "verified" ? "boolean" : isInteger ? "integer" : "text", about: "" };
  });
}

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

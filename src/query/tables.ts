import { dateColumns, type Mirror, quote, type StoredColumn } from "../mirror/index.js";
import { readDiscovered } from "../records/index.js";
import type { TableShape } from "../resources/shape.js";
import type { ScalarType } from "../resources/types.js";
import { knownTableNames, ownTables, typedTables } from "./names.js";
import { type View, views } from "./views/index.js";

/** A column of a table or view. */
export interface ReadableColumn {
  name: string;
  /** `any`: each value says what it is. */
  type: ScalarType | "any";
  about: string;
  /** The value's place in the record; null for columns that the mirror adds. */
  stored: StoredColumn | null;
  /** True if SQLite computes it from another column: exports have it only if it is named. */
  isComputed?: true;
}

/** A table or view of the mirror that people read. */
export interface ReadableTable {
  name: string;
  about: string;
  columns: readonly ReadableColumn[];
  /** The integer that orders its rows and never changes: `record_id`, `row_id` or a key; null if it has none. */
  rowId: string | null;
  /** The columns that order its rows if it has no such integer; none for a view, which has its own order. */
  orderBy: readonly string[];
  /** The shape of its resource; null for system tables and views. */
  shape: TableShape | null;
  /** True if every column has a declared type. */
  isTyped: boolean;
  /** The column that `--since` and `--until` go by, or null; the shape has it for typed tables. */
  date: string | null;
}

const inner = new Set([
  "mirror_info",
  "records",
  "record_versions",
  "coverage",
  "run_coverage",
  "sync_state",
  "missing",
  "open_columns",
  "notices",
  "day_figures",
]);

/** Returns the names of the tables and views that a mirror has now, the known ones first. */
export function listTables(mirror: Mirror): readonly string[] {
  const there = mirror.db
    .prepare(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^'",
    )
    .pluck()
    .all() as string[];
  const known = knownTableNames().filter((name) => there.includes(name));
  const others = there.filter((name) => !inner.has(name) && !known.includes(name)).sort();
  return [...known, ...others];
}

/** True if a view is there for other views, and people rarely need it. */
export function isHelper(name: string): boolean {
  return views.some((view) => view.name === name && view.isHelper);
}

/** Describes a table or view that `listTables` names. */
export function describeTable(mirror: Mirror, name: string): ReadableTable {
  const shape = typedTables().find((typed) => typed.name === name);
  if (shape) return describeTyped(mirror, shape);
  const view = views.find((one) => one.name === name);
  return view ? describeView(view) : describeOther(mirror, name);
}

function describeTyped(mirror: Mirror, shape: TableShape): ReadableTable {
  const declared = shape.columns.map((column): StoredColumn => ({ ...column, open: false }));
  const discovered = shape.open ? readDiscovered(mirror, shape.name) : [];
  const own = [...declared, ...discovered].map((stored) => ({
    name: stored.name,
    type: stored.type,
    about: stored.about,
    stored,
  }));
  const computed = dateColumns(shape).map(
    ({ name, type }) =>
      ({ name, type, about: `${shape.resource.date} in UTC`, stored: null, isComputed: true }) as const,
  );
  const removed = shape.list ? [] : [technical("removed_at", "when a complete read no longer found it")];
  return {
    name: shape.name,
    about: shape.about,
    columns: [...own, ...computed, technical("synced_at", "when this form of it was first read"), ...removed],
    rowId: shape.list ? "row_id" : "record_id",
    orderBy: [],
    shape,
    isTyped: !shape.open,
    date: null,
  };
}

function technical(name: string, about: string): ReadableColumn {
  return { name, type: "timestamp", about, stored: null };
}

function describeView(view: View): ReadableTable {
  const { name, about, columns, rowId = null, date = null } = view;
  return {
    name,
    about,
    columns: columns.map((column) => ({ ...column, stored: null })),
    rowId,
    orderBy: [],
    shape: null,
    isTyped: rowId !== null,
    date,
  };
}

/** Describes system tables, snapshots and a person's own tables as SQLite does. */
function describeOther(mirror: Mirror, name: string): ReadableTable {
  const info = mirror.db.pragma(`table_info(${quote(name)})`) as { name: string; type: string; pk: number }[];
  const keys = info.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const [first, second] = keys;
  const own = ownTables.find((table) => table.name === name);
  const rowId = first && !second && first.type === "INTEGER" ? first.name : null;
  const columns = info
    .filter((column) => column.name !== "row_id" && column.name !== "record_id")
    .map((column) => ({ name: column.name, type: typeOf(name, column), about: "", stored: null }));
  return {
    name,
    about: own?.about ?? "",
    columns,
    rowId,
    orderBy: rowId === null ? keys.map((column) => column.name) : [],
    shape: null,
    isTyped: false,
    date: own?.date ?? (columns.some((column) => column.name === "date") ? "date" : null),
  };
}

function typeOf(table: string, { name, type }: { name: string; type: string }): ScalarType {
  if (table === "sync_runs" && name === "verified") return "boolean";
  if (name === "date") return "date";
  if (type.startsWith("INT")) return "integer";
  return type === "REAL" || type === "NUM" ? "number" : "text";
}

import {
  dateColumns,
  type Mirror,
  mainTimestamp,
  positionsPerRecord,
  quote,
  type StoredColumn,
} from "../mirror/index.js";
import { readDiscovered } from "../records/index.js";
import type { ScalarType } from "../resources/fields.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import { type OwnTable, ownTables, typedTables } from "./names.js";
import { type View, views } from "./views/index.js";

/** A column of a table or view. */
export interface ReadableColumn {
  name: string;
  /** `any`: each value says what it is. */
  type: ScalarType | "any";
  about: string;
  /** The value's place in the record; null for columns that the mirror adds. */
  stored: StoredColumn | null;
  /** True if it is an amount of money. */
  isAmount?: true | undefined;
  /** True if it follows from another column: exports have it only if it is named. */
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
}

export interface DateColumn {
  /** An expression for the row's date; for a row of a child table, the date of its parent. */
  sql: string;
  /** `utc`: as `utcText` writes it. `iso`: as `formatInstant` writes it. */
  form: "month" | "day" | "utc" | "iso";
}

/** Describes a table or view that `knownTableNames` has. */
export function describeTable(mirror: Mirror, name: string): ReadableTable {
  const isNamed = (one: { name: string }) => one.name === name;
  const shape = typedTables().find(isNamed);
  if (shape) return describeTyped(mirror, shape);
  const view = views.find(isNamed);
  if (view) return describeView(view);
  const own = ownTables.find(isNamed);
  if (own) return describeOwn(mirror, own);
  throw new Error(`no table of this mirror: ${name}`);
}

function describeTyped(mirror: Mirror, shape: TableShape): ReadableTable {
  const declared = shape.columns.map((column): StoredColumn => ({ ...column, open: false }));
  const discovered = shape.open ? readDiscovered(mirror, shape.name) : [];
  const own = [...declared, ...discovered].map((stored) => {
    const { name, type, about, isAmount } = stored;
    return { name, type, about, stored, isAmount };
  });
  const computed = dateColumns(shape).map(({ name, type }) => {
    const about = `${shape.resource.date} in UTC`;
    return { name, type, about, stored: null, isComputed: true } as const;
  });
  const removed = shape.list ? [] : [technical("removed_at", "when a complete read no longer found it")];
  return {
    name: shape.name,
    about: shape.about,
    columns: [...own, ...computed, technical("synced_at", "when this form of it was first read"), ...removed],
    orderBy: [shape.list ? "row_id" : "record_id"],
    shape,
    date: dateOf(shape),
  };
}

function technical(name: string, about: string): ReadableColumn {
  return { name, type: "timestamp", about, stored: null };
}

/** The rows of a child table have the date of their parent, unless they are points in time. */
function dateOf(shape: TableShape): DateColumn | null {
  const [main = shape] = tablesOf(shape.resource);
  const timestamp = mainTimestamp(main);
  const ofRecord: DateColumn | null = timestamp
    ? { sql: quote(`${timestamp.name}_utc`), form: "utc" }
    : dateIn(main, shape.resource.date);
  const own = shape.list && dateIn(shape, "date");
  return own ?? (ofRecord && { ...ofRecord, sql: inRecord(shape, ofRecord.sql) });
}

/** Returns an expression on the columns of a row's record, which of a child row is its parent's. */
export function inRecord({ resource, list }: TableShape, sql: string): string {
  if (!list) return sql;
  return `(SELECT ${sql} FROM ${quote(resource.table)} WHERE record_id = row_id / ${positionsPerRecord})`;
}

function dateIn({ columns }: Pick<View, "columns">, name: string | null | undefined): DateColumn | null {
  const type = columns.find((column) => column.name === name)?.type;
  if (!name || !type) return null;
  if (name === "month") return { sql: quote(name), form: "month" };
  if (type === "date") return { sql: quote(name), form: "day" };
  return { sql: quote(name), form: name === "ordered_at" ? "utc" : "iso" };
}

function describeView(view: View): ReadableTable {
  const { name, about, columns, rowId } = view;
  return {
    name,
    about,
    columns: columns.map((column) => ({ ...column, stored: null })),
    orderBy: rowId === undefined ? [] : [rowId],
    shape: null,
    date: dateIn(view, view.date),
  };
}

function describeOwn(mirror: Mirror, { name, about, date, key }: OwnTable): ReadableTable {
  const info = mirror.db.pragma(`table_info(${quote(name)})`) as { name: string; type: string }[];
  return {
    name,
    about,
    columns: info.map((one) => ({ name: one.name, type: typeOf(one), about: "", stored: null })),
    orderBy: key,
    shape: null,
    date: { sql: quote(date), form: "iso" },
  };
}

function typeOf({ name, type }: { name: string; type: string }): ScalarType {
  if (name === "verified") return "boolean";
  return type.startsWith("INT") ? "integer" : "text";
}

import {
  dateColumns,
  idColumn,
  type Mirror,
  mainTimestamp,
  type Part,
  parts,
  positionsPerRecord,
  quote,
  type StoredColumn,
  tableName,
} from "../mirror/index.js";
import { readDiscovered } from "../records/index.js";
import type { ScalarType } from "../resources/fields.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import { type OwnTable, ownTables, typedTables } from "./names.js";
import { hasUtcText } from "./views/columns.js";
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
  /** What to select from, one after the other: the quoted name, or a table and its removed records. */
  sources: readonly [string, ...string[]];
}

/** Which records of a table to read: the plain table, its twin with the removed ones, or both. */
type Selected = Part | "all";

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
    for (const part of parts)
      if (tableName(shape, part) === name)
        return describeTyped(mirror, shape, includeRemoved && part === "current" ? "all" : part);
  const view = views.find(isNamed);
  if (view) return describeView(view);
  const own = ownTables.find(isNamed);
  if (own) return describeOwn(mirror, own);
  throw new Error(`no table of this mirror: ${name}`);
}

function describeTyped(mirror: Mirror, shape: TableShape, selected: Selected): ReadableTable {
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
  const columns = [...own, ...computed, technical("synced_at", "when this form of it was first read")];
  const removedAt = technical("removed_at", "when a complete read no longer found the record");
  return {
    name: tableName(shape, selected === "removed" ? "removed" : "current"),
    about: selected === "removed" ? `removed records: ${shape.about}` : shape.about,
    columns: selected === "current" ? columns : [...columns, removedAt],
    orderBy: [idColumn(shape)],
    shape,
    date: dateOf(shape, selected),
    sources: sourcesFor(shape, selected),
  };
}

function sourcesFor(shape: TableShape, selected: Selected): ReadableTable["sources"] {
  const nameOf = (part: Part) => quote(tableName(shape, part));
  if (selected !== "all") return [nameOf(selected)];
  return [`(SELECT *, NULL AS removed_at FROM ${nameOf("current")})`, nameOf("removed")];
}

function technical(name: string, about: string): ReadableColumn {
  return { name, type: "timestamp", about, stored: null };
}

/** The rows of a child table have the date of their parent, unless they are points in time. */
function dateOf(shape: TableShape, selected: Selected): DateColumn | null {
  const [main = shape] = tablesOf(shape.resource);
  const timestamp = mainTimestamp(main);
  const ofRecord: DateColumn | null = timestamp
    ? { sql: quote(`${timestamp.name}_utc`), form: "utc" }
    : dateIn(main, shape.resource.date);
  const own = shape.list && dateIn(shape, "date");
  return own ?? (ofRecord && { ...ofRecord, sql: inRecord(shape, selected, ofRecord.sql) });
}

/** Returns an expression on the columns of a row's record, which of a child row is its parent's. */
function inRecord({ resource, list }: TableShape, selected: Selected, sql: string): string {
  if (!list) return sql;
  const inPart = (part: Part) => {
    const parent = quote(tableName({ name: resource.table }, part));
    return `(SELECT ${sql} FROM ${parent} WHERE record_id = row_id / ${positionsPerRecord})`;
  };
  return selected === "all" ? `coalesce(${parts.map(inPart).join(", ")})` : inPart(selected);
}

function dateIn({ columns }: Pick<View, "columns">, name: string | null | undefined): DateColumn | null {
  const type = columns.find((column) => column.name === name)?.type;
  if (!name || !type) return null;
  if (name === "month") return { sql: quote(name), form: "month" };
  if (type === "date") return { sql: quote(name), form: "day" };
  return { sql: quote(name), form: hasUtcText(name) ? "utc" : "iso" };
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
    sources: [quote(name)],
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
    sources: [quote(name)],
  };
}

function typeOf({ name, type }: { name: string; type: string }): ScalarType {
  if (name === "verified") return "boolean";
  return type.startsWith("INT") ? "integer" : "text";
}

import { formatInstant } from "../lib/times.js";
import { positionsPerRecord, quote, type StoredColumn } from "../mirror/index.js";
import { mixed } from "../records/index.js";
import type { TableShape } from "../resources/shape.js";
import { asksOtherTables } from "./condition.js";
import type { ReadableColumn, ReadableTable } from "./tables.js";

/** The rows and columns to read of a table. Times are milliseconds since 1970. */
export interface Selection {
  table: ReadableTable;
  /** Names of columns, in the order wanted; undefined: all. */
  columns?: readonly string[] | undefined;
  /** An expression that `checkCondition` has passed. */
  where?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
  includeRemoved: boolean;
  limit?: number | undefined;
}

/** The pieces of SQL that read a selection. */
export interface SelectSql {
  /** The column that rows are ordered by and batches continue from; null where the table has no such integer. */
  rowId: string | null;
  /** `FROM …`, with the table as `t` and, where `withRecords`, its records as `r`. */
  from(withRecords: boolean): string;
  /** The columns of `t` that order the rows. */
  order: readonly string[];
  /** True if one statement has to read everything, because each batch would evaluate the condition again. */
  once: boolean;
}

export function selectSql(selection: Selection, hasRemoved: boolean): SelectSql {
  const { table, where } = selection;
  const conditions = [
    removedCondition(selection, hasRemoved),
    ...dateConditions(selection),
    where === undefined ? undefined : `(${where}\n)`,
  ].filter((condition) => condition !== undefined);
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  // The conditions stand in a query of their own, so that their names can only mean this table's columns.
  const rows = `(SELECT * FROM ${quote(table.name)}${filter}) AS t`;
  const order = table.rowId === null ? table.orderBy : [table.rowId];
  return {
    rowId: table.rowId,
    from: (withRecords) =>
      withRecords ? `FROM ${rows} JOIN records AS r ON r.record_id = ${recordIdOf(table)}` : `FROM ${rows}`,
    order: order.map((name) => `t.${quote(name)}`),
    once: table.rowId === null || (where !== undefined && asksOtherTables(where)),
  };
}

/** The id of the record that a typed table's row was made from. */
function recordIdOf({ shape }: ReadableTable): string {
  return shape?.list ? `t.row_id / ${positionsPerRecord}` : "t.record_id";
}

/** Which records are removed is worked out once, in a table of this connection's own, for child tables, which do not say. */
export function removedIds({ resource }: TableShape): string {
  return `temp.${quote(`removed_${resource.table}`)}`;
}

function removedCondition({ table, includeRemoved }: Selection, hasRemoved: boolean): string | undefined {
  if (!table.shape || includeRemoved || !hasRemoved) return undefined;
  if (!table.shape.list) return "removed_at IS NULL";
  return `row_id / ${positionsPerRecord} NOT IN (SELECT record_id FROM ${removedIds(table.shape)})`;
}

/**
 * Timestamps are compared as instants: the API's can differ in precision, and a range ends with its last millisecond.
 * Days and months are compared as text.
 */
function dateConditions({ table, since, until }: Selection): string[] {
  const bound = (column: string, letters: number | null, compare: ">=" | "<=", ms: number) => {
    if (letters !== null) return `${quote(column)} ${compare} '${formatInstant(ms).slice(0, letters)}'`;
    return `instant_ms(${quote(column)}) ${compare === "<=" ? `< ${ms + 1}` : `>= ${ms}`}`;
  };
  const bounds = [
    ...(since === undefined ? [] : [[">=", since] as const]),
    ...(until === undefined ? [] : [["<=", until] as const]),
  ];
  const at = dateOf(table);
  if (bounds.length === 0 || at === null) return [];
  const own = bounds.map(([compare, ms]) => bound(at.column, at.letters, compare, ms));
  if (at.in === "table") return own;
  const parent = `SELECT record_id FROM ${quote(at.in)} WHERE ${own.join(" AND ")}`;
  return [`row_id / ${positionsPerRecord} IN (${parent})`];
}

const [ofDay, ofMonth] = ["2026-10-31".length, "2026-10".length];

/**
 * The date that a table's `--since` and `--until` go by: its own, for a child table its parent's; a child table whose
 * rows are points in time has its own. `letters`: of a day or a month; null: it is a timestamp. Null: there is none.
 */
export function dateOf(
  table: ReadableTable,
): { column: string; letters: number | null; in: "table" | (string & {}) } | null {
  const { shape } = table;
  if (!shape) {
    const own = table.columns.find(({ name }) => name === table.date);
    if (!own) return null;
    const letters = own.name === "month" ? ofMonth : own.type === "date" ? ofDay : null;
    return { column: own.name, letters, in: "table" };
  }
  const point = shape.list && shape.columns.find(({ name, type }) => name === "date" && type === "date");
  if (point) return { column: point.name, letters: ofDay, in: "table" };
  const { date } = shape.resource;
  if (date === null) return null;
  const isDay = shape.resource.fields.some(
    (field) => field.kind === "scalar" && field.name === date && field.type === "date",
  );
  return { column: date, letters: isDay ? ofDay : null, in: shape.list ? shape.resource.table : "table" };
}

/** Returns a column's value as SQL. In a column of several types the record alone tells true from 1. */
export function valueSql(column: ReadableColumn, table: ReadableTable): string {
  const own = `t.${quote(column.name)}`;
  const { stored } = column;
  if (!stored?.open || stored.type !== mixed) return own;
  const type = `json_type(r.json, ${pathSql(stored, table)})`;
  return `CASE WHEN ${type} IN ('true', 'false') THEN ${type} ELSE ${own} END`;
}

/** True if only the record distinguishes a column's true from its 1. */
export function isMixed({ stored }: ReadableColumn): boolean {
  return stored?.open === true && stored.type === mixed;
}

/** An open column's value as JSON text: only the record knows whether `1` was a number, a text or true. */
export function openJsonSql({ name, stored }: ReadableColumn, table: ReadableTable): string | undefined {
  if (!stored?.open) return undefined;
  return `CASE WHEN t.${quote(name)} IS NOT NULL THEN r.json -> ${pathSql(stored, table)} END`;
}

function pathSql(stored: StoredColumn, { shape }: ReadableTable): string {
  const members = (path: readonly string[]) => path.map((member) => `."${member}"`).join("");
  if (!shape?.list) return literal(`$${members(stored.path)}`);
  const list = literal(`$${members(shape.list.path)}[`);
  return `(${list} || (t.row_id % ${positionsPerRecord}) || ${literal(`]${members(stored.path)}`)})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

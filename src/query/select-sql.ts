import { formatInstant } from "../lib/times.js";
import { positionsPerRecord, quote } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { ReadableTable } from "./tables.js";

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
  /** The column that rows are ordered by and batches continue from; null if the table has no such integer. */
  rowId: string | null;
  /** `FROM …`, with the table as `t`. */
  from: string;
  /** The columns of `t` that order the rows. */
  order: readonly string[];
  /** The most rows to read; -1: all. */
  limit: number;
}

export function selectSql(selection: Selection, hasRemoved: boolean): SelectSql {
  const { table, where, limit = -1 } = selection;
  const conditions = [
    removedCondition(selection, hasRemoved),
    ...dateConditions(selection),
    where === undefined ? undefined : `(${where}\n)`,
  ].filter((condition) => condition !== undefined);
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  const order = table.rowId === null ? table.orderBy : [table.rowId];
  return {
    // A condition that asks other tables is evaluated once, not once per batch.
    rowId: where !== undefined && /\bselect\b/i.test(where) ? null : table.rowId,
    // The conditions stand in a query of their own, so that their names can only mean this table's columns.
    from: `FROM (SELECT * FROM ${quote(table.name)}${filter}) AS t`,
    order: order.map((name) => `t.${quote(name)}`),
    limit,
  };
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

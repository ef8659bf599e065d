import { formatInstant } from "../lib/times.js";
import { utc } from "../lib/utc.js";
import { positionsPerRecord, quote } from "../mirror/index.js";
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

export function selectSql(selection: Selection): SelectSql {
  const { table, where, limit = -1 } = selection;
  const conditions = [
    ...removedCondition(selection),
    ...dateCondition(selection),
    ...(where === undefined ? [] : [`(${where}\n)`]),
  ];
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return {
    // A condition that asks other tables is evaluated once, not once per batch.
    rowId: where !== undefined && /\bselect\b/i.test(where) ? null : table.rowId,
    // The conditions stand in a query of their own, so that their names can only mean this table's columns.
    from: `FROM (SELECT * FROM ${quote(table.name)}${filter}) AS t`,
    order: table.orderBy.map((name) => `t.${quote(name)}`),
    limit,
  };
}

/** A row of a child table does not say that its record is removed. */
function removedCondition({ table: { shape }, includeRemoved }: Selection): string[] {
  if (!shape || includeRemoved) return [];
  if (!shape.list) return ["removed_at IS NULL"];
  const parent = quote(shape.resource.table);
  return [`(SELECT removed_at FROM ${parent} WHERE record_id = row_id / ${positionsPerRecord}) IS NULL`];
}

/** Compares texts: days and months as they are, timestamps in UTC, where a range ends before its next millisecond. */
function dateCondition({ table: { name, date }, since, until }: Selection): string[] {
  if (date === null || (since === undefined && until === undefined)) return [];
  const { letters } = date;
  const at = letters === null ? utc(quote(date.name)) : quote(date.name);
  const bound = (ms: number) => `'${letters === null ? secondsOf(ms) : formatInstant(ms).slice(0, letters)}'`;
  const bounds = [
    ...(since === undefined ? [] : [`${at} >= ${bound(since)}`]),
    ...(until === undefined
      ? []
      : [letters === null ? `${at} < ${bound(until + 1)}` : `${at} <= ${bound(until)}`]),
  ].join(" AND ");
  if (date.table === name) return [bounds];
  const parents = `SELECT record_id FROM ${quote(date.table)} WHERE ${bounds}`;
  return [`row_id / ${positionsPerRecord} IN (${parents})`];
}

/** Returns an instant as `utc` writes it, as short as can be: it then is the first of its equals, whatever their digits. */
function secondsOf(ms: number): string {
  return formatInstant(ms)
    .replace("T", " ")
    .replace(/\.?0*Z$/, "");
}

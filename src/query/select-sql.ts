import { formatInstant } from "../lib/times.js";
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

/**
 * Timestamps are compared as instants: the API's can differ in precision, and a range ends with its last millisecond.
 * Days and months are compared as text.
 */
function dateCondition({ table: { name, date }, since, until }: Selection): string[] {
  if (date === null || (since === undefined && until === undefined)) return [];
  const { letters } = date;
  const column = quote(date.name);
  const textOf = (ms: number) => `'${formatInstant(ms).slice(0, letters ?? undefined)}'`;
  const at = letters === null ? `instant_ms(${column})` : column;
  const bounds = [
    ...(since === undefined ? [] : [`${at} >= ${letters === null ? since : textOf(since)}`]),
    ...(until === undefined ? [] : [letters === null ? `${at} < ${until + 1}` : `${at} <= ${textOf(until)}`]),
  ].join(" AND ");
  if (date.table === name) return [bounds];
  const parents = `SELECT record_id FROM ${quote(date.table)} WHERE ${bounds}`;
  return [`row_id / ${positionsPerRecord} IN (${parents})`];
}

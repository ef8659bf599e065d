import { formatInstant } from "../lib/times.js";
import { quote } from "../mirror/index.js";
import { type DateColumn, inRecord, type ReadableTable } from "./tables.js";

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
  const { table, where, includeRemoved, limit = -1 } = selection;
  const { name, shape, date, orderBy } = table;
  const [rowId = null, ...others] = orderBy;
  const conditions = where === undefined ? [] : [`(${where}\n)`];
  if (shape && !includeRemoved) conditions.push(`${inRecord(shape, "removed_at")} IS NULL`);
  if (date) conditions.push(...dateConditions(date, selection));
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return {
    // A condition that asks other tables is evaluated once, not once per batch; a limit counts all of them.
    rowId: others.length > 0 || limit >= 0 || /\bselect\b/i.test(where ?? "") ? null : rowId,
    // The conditions stand in a query of their own, so that their names can only mean this table's columns.
    from: `FROM (SELECT * FROM ${quote(name)}${filter}) AS t`,
    order: orderBy.map((column) => `t.${quote(column)}`),
    limit,
  };
}

/** Compares texts: days and months as they are, timestamps in UTC, where a range ends before its next millisecond. */
function dateConditions(
  { sql: at, letters }: DateColumn,
  { since, until }: Pick<Selection, "since" | "until">,
): string[] {
  const isTimestamp = letters === null;
  const bound = (ms: number) => `'${isTimestamp ? secondsOf(ms) : formatInstant(ms).slice(0, letters)}'`;
  const conditions = since === undefined ? [] : [`${at} >= ${bound(since)}`];
  if (until !== undefined)
    conditions.push(isTimestamp ? `${at} < ${bound(until + 1)}` : `${at} <= ${bound(until)}`);
  return conditions;
}

/** Returns an instant as `utc` writes it, as short as can be: it then is the first of its equals, whatever their digits. */
function secondsOf(ms: number): string {
  return formatInstant(ms)
    .replace("T", " ")
    .replace(/\.?0*Z$/, "");
}

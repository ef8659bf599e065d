import { formatInstant } from "../lib/times.js";
import { lastMs, utcText } from "../lib/timestamp.js";
import { quote } from "../mirror/index.js";
import type { DateColumn, ReadableTable } from "./tables.js";

/** The rows and columns to read of a table. Times are milliseconds since 1970. */
export interface Selection {
  table: ReadableTable;
  /** Names of columns, in the order wanted; undefined: all. */
  columns?: readonly string[] | undefined;
  /** An expression that `checkCondition` has passed. */
  where?: string | undefined;
  /** True if the condition reads other tables. */
  readsOthers?: boolean;
  since?: number | undefined;
  until?: number | undefined;
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

/** @param source one of the table's sources */
export function selectSql(selection: Selection, source: string = selection.table.sources[0]): SelectSql {
  const { table, where, readsOthers = false, limit = -1 } = selection;
  const { date, orderBy } = table;
  const [rowId = null, ...others] = orderBy;
  const conditions = where === undefined ? [] : [`(${where}\n)`];
  if (date) conditions.push(...dateConditions(date, selection));
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return {
    // A condition that asks other tables is evaluated once, not once per batch; a limit counts all of them.
    rowId: others.length > 0 || limit >= 0 || readsOthers ? null : rowId,
    // The conditions stand in a query of their own, so that their names can only mean this table's columns.
    from: `FROM (SELECT * FROM ${source}${filter}) AS t`,
    order: orderBy.map((column) => `t.${quote(column)}`),
    limit,
  };
}

/** Compares texts. A range ends before its next millisecond, because dates may have microseconds. */
function dateConditions(
  { sql: at, form }: DateColumn,
  { since, until }: Pick<Selection, "since" | "until">,
): string[] {
  const conditions = since === undefined ? [] : [`${at} >= '${boundText(since, form)}'`];
  // Nothing is dated after the year 9999.
  if (until === undefined || until >= lastMs) return conditions;
  if (form !== "utc") return [...conditions, `${at} <= '${boundText(until, form)}'`];
  return [...conditions, `${at} < '${boundText(until + 1, form)}'`];
}

function boundText(ms: number, form: DateColumn["form"]): string {
  if (form === "utc") return utcText({ ms, micros: 0 });
  return formatInstant(ms).slice(0, form === "month" ? 7 : form === "day" ? 10 : undefined);
}

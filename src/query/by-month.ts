import { utc } from "../lib/utc.js";
import { type Mirror, positionsPerRecord, quote } from "../mirror/index.js";
import { takesDates } from "../resources/types.js";
import type { Source } from "./select.js";
import { type Row, readRows } from "./select-read.js";
import { selectSql } from "./select-sql.js";
import type { ReadableTable } from "./tables.js";

/** A table whose rows end with their month (UTC), behind the columns; `""`: none. */
export interface ByMonth extends Pick<Source, "name" | "columns"> {
  /** False if no row has a month. */
  hasMonths: boolean;
  /** All rows in their usual order, or those of some months, month by month. */
  rows(months?: readonly string[]): Iterable<readonly Row[]>;
}

/** Prepares a table for reading; call it inside `withSnapshot`. */
export function openByMonth(mirror: Mirror, table: ReadableTable): ByMonth {
  const sql = selectSql({ table, includeRemoved: false });
  const columns = table.columns.filter(({ name, isComputed }) => name !== "month" && !isComputed);
  const own = monthSql(table);
  const month = `coalesce(${own}, '')`;
  const values = [...columns.map(({ name }) => `t.${quote(name)}`), month];
  return {
    name: table.name,
    columns,
    hasMonths: own !== "NULL",
    rows(months) {
      if (months === undefined) return readRows(mirror, sql, values);
      const from = `${sql.from} WHERE ${month} IN (${months.map((one) => `'${one.replaceAll("'", "''")}'`)})`;
      return readRows(mirror, { ...sql, from, order: [month, ...sql.order] }, values);
    },
  };
}

/** Returns the month of a row of `t`: its own column, or that of its date, which can be its parent's. */
function monthSql({ columns, date, name, shape }: ReadableTable): string {
  if (date === null || (shape && !takesDates(shape.resource))) return "NULL";
  if (columns.some((column) => column.name === "month")) return "t.month";
  const month = `substr(${date.letters === null ? utc(quote(date.name)) : quote(date.name)}, 1, 7)`;
  if (date.table === name) return month;
  return `(SELECT ${month} FROM ${quote(date.table)} WHERE record_id = t.row_id / ${positionsPerRecord})`;
}

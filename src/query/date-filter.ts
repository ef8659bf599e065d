import { type Column, listTableShapes, type TableShape } from "../resources/table-shape.js";
import {
  mainDateColumn,
  quote,
  recordIdSql,
  recordStates,
  rowIdColumn,
  tableName,
} from "../store/table-sql.js";
import { formatInstant, formatUtc, maxTimestampMs } from "../util/timestamps.js";
import { isUtcTime } from "../views/view.js";

/** The date that `--since` and `--until` filter by. */
export interface DateColumn {
  /** An SQL expression for a row's date. A row in a child table has its parent record's date. */
  sql: string;
  /** The format of the dates: `utc` as written by `formatUtc`, `iso` as written by `formatInstant`. */
  form: "month" | "day" | "utc" | "iso";
}

/**
 * Returns the date to filter a typed table by, or null if its rows have no date. List items without a date use their
 * record's date.
 */
export function findTableDate(shape: TableShape): DateColumn | null {
  const { list, resource } = shape;
  if (!list) return findRecordDate(shape);
  const itemDate = findDateColumn(shape.columns, "date");
  if (itemDate) return itemDate;
  const [main = shape] = listTableShapes(resource);
  const date = findRecordDate(main);
  if (!date) return null;
  // In the subqueries, `row_id` refers to the list's table, because the main table has no such column.
  const recordId = recordIdSql(shape, rowIdColumn(shape));
  const fromRecord = recordStates.map((state) => {
    const table = quote(tableName(main, state));
    return `(SELECT ${date.sql} FROM ${table} WHERE record_id = ${recordId})`;
  });
  return { ...date, sql: `coalesce(${fromRecord.join(", ")})` };
}

function findRecordDate(main: TableShape): DateColumn | null {
  const timestamp = mainDateColumn(main);
  if (timestamp) return { sql: quote(`${timestamp.name}_utc`), form: "utc" };
  return findDateColumn(main.columns, main.resource.dateColumn);
}

/** Returns the date column with the given name, or null if there is no such column. */
export function findDateColumn(
  columns: readonly Column[],
  name: string | null | undefined,
): DateColumn | null {
  const type = columns.find((column) => column.name === name)?.type;
  if (!name || !type) return null;
  if (name === "month") return { sql: quote(name), form: "month" };
  if (type === "date") return { sql: quote(name), form: "day" };
  return { sql: quote(name), form: isUtcTime(name) ? "utc" : "iso" };
}

/**
 * Returns SQL conditions for the rows in a date range. Both bounds are inclusive, in milliseconds since the Unix epoch.
 */
export function dateConditionsSql(
  { sql, form }: DateColumn,
  since: number | undefined,
  until: number | undefined,
): string[] {
  const conditions = since === undefined ? [] : [`${sql} >= '${boundText(since, form)}'`];
  if (until === undefined || until >= maxTimestampMs) return conditions;
  // UTC columns have microsecond precision, so the range must extend up to the next millisecond.
  const upperBound = form === "utc" ? `< '${boundText(until + 1, form)}'` : `<= '${boundText(until, form)}'`;
  return [...conditions, `${sql} ${upperBound}`];
}

function boundText(ms: number, form: DateColumn["form"]): string {
  if (form === "utc") return formatUtc({ ms, micros: 0 });
  return formatInstant(ms).slice(0, form === "month" ? 7 : form === "day" ? 10 : undefined);
}

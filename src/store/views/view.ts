import type { ScalarField, ScalarType } from "../../resources/fields.js";
import { orders } from "../../resources/orders.js";
import { tablesOf } from "../../resources/table-shape.js";

/** A view that is stored in the mirror's file, so that any SQL program can use it. */
export interface View {
  name: string;
  /** What one row is, and what readers need to know about it. */
  about: string;
  columns: readonly ViewColumn[];
  /** An example query; by default the first five rows. */
  example?: string;
  /** The SELECT statement. SQLite 3.26 must be able to run it, because other programs read the mirror. */
  sql: string;
  /** The column that `--since` and `--until` filter by. */
  date?: string;
  /** The integer that orders the rows and never changes, for views with one row per row of a table. */
  rowId?: string;
  /** True if people rarely query it and other views are built on it: only `tables --all` lists it. */
  isHelper?: true;
}

export type ViewColumn = Pick<ScalarField, "name" | "type" | "about" | "isAmount">;

/** The SQLite types of columns that are not text. */
const sqlTypes: Partial<Record<ScalarType, string>> = {
  integer: "INTEGER",
  boolean: "INTEGER",
  number: "REAL",
};

/**
 * Returns the query that a view is created with. Other programs rely on declared column types, so each column is cast,
 * except in views with a `rowId`, where a cast would prevent the use of indexes.
 */
export function viewQuery({ columns, rowId, sql }: View): string {
  if (rowId !== undefined) return sql;
  const typed = columns.map(({ name, type }) => `CAST(${name} AS ${sqlTypes[type] ?? "TEXT"}) AS ${name}`);
  return `SELECT ${typed.join(", ")} FROM (\n${sql})`;
}

/** Returns these columns of the table `orders`, for views that show them unchanged. */
export function orderColumns(...names: string[]): ViewColumn[] {
  const columns = tablesOf(orders)[0]?.columns ?? [];
  return names.map((name) => {
    const column = columns.find((one) => one.name === name);
    if (!column) throw new Error(`orders has no column ${name}`);
    return column;
  });
}

/** True for columns with times in UTC as `formatUtc` writes them, which compare with a result of SQLite's `datetime()`. */
export function isUtcTime(column: string): boolean {
  return column === "ordered_at" || column.endsWith("_utc");
}

/**
 * Ends a common table expression that is used more than once: with a LIMIT, SQLite computes it only once. `AS MATERIALIZED`
 * says the same, but SQLite before 3.35 cannot parse it.
 */
export const materialized = "LIMIT -1";

/**
 * Returns SQL for the number in a text that came from JSON, null if there is none: the same rules as `numberFromText`. It
 * nests CASE instead of using AND, because SQLite may evaluate both sides of AND, and `json_type` fails on invalid JSON.
 */
export function numberFromSqlText(text: string): string {
  const number = `CASE WHEN json_type(${text}) IN ('integer', 'real') THEN CAST(${text} AS REAL) END`;
  const isNumeric = `${text} NOT GLOB '*[^-+.0-9eE]*' AND json_valid(${text})`;
  return `CASE WHEN CASE WHEN ${isNumeric} THEN abs(${number}) <= 1.7976931348623157e308 END THEN ${number} END`;
}

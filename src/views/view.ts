import type { ScalarField, ScalarType } from "../resources/fields.js";
import { orders } from "../resources/orders.js";
import { listTableShapes } from "../resources/table-shape.js";

/** A view, which is stored in the mirror file so that any SQLite client can use it. */
export interface View {
  name: string;
  /** A description of the view: what a row represents, and notes for users. */
  about: string;
  columns: readonly ViewColumn[];
  /** An example query. By default, it selects the first five rows. */
  example?: string;
  /** The tables that the SELECT statement reads, directly or through other views. */
  reads: readonly string[];
  /**
   * The SELECT statement. It must work with SQLite 3.26, because other programs that read the mirror may use an old
   * version.
   */
  sql: string;
  /** The column that `--since` and `--until` filter by. */
  date?: string;
  /**
   * The integer column that gives the rows a stable order. Only views whose rows correspond to the rows of a table have
   * it.
   */
  rowId?: "record_id";
  /**
   * True for a helper view, which mainly serves as a building block for other views. Only `tables --all` lists helper
   * views.
   */
  isHelper?: true;
}

export type ViewColumn = Pick<ScalarField, "name" | "type" | "about" | "isAmount">;

const sqlTypes: Partial<Record<ScalarType, string>> = {
  integer: "INTEGER",
  boolean: "INTEGER",
  number: "REAL",
};

/**
 * Returns the query that defines a view. Columns are cast, because other programs rely on declared types. A view with a
 * `rowId` is not cast, because casts would prevent SQLite from using indexes.
 */
export function viewQuery({ columns, rowId, sql }: View): string {
  if (rowId !== undefined) return sql;
  const typed = columns.map(({ name, type }) => `CAST(${name} AS ${sqlTypes[type] ?? "TEXT"}) AS ${name}`);
  return `SELECT ${typed.join(", ")} FROM (\n${sql})`;
}

export function orderColumns(...names: string[]): ViewColumn[] {
  const columns = listTableShapes(orders)[0]?.columns ?? [];
  return names.map((name) => {
    const column = columns.find((one) => one.name === name);
    if (!column) throw new Error(`the table orders has no column ${name}`);
    return column;
  });
}

/** True for a column with UTC times in the format of `formatUtc`, which can be compared with SQLite's `datetime()`. */
export function isUtcTime(column: string): boolean {
  return column === "ordered_at" || column.endsWith("_utc");
}

/**
 * A suffix for common table expressions that are used more than once. SQLite computes a table expression that ends in
 * LIMIT only once. `AS MATERIALIZED` would have the same effect, but requires SQLite 3.35.
 */
export const materialized = "LIMIT -1";

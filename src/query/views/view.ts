import type { ScalarType } from "../../resources/fields.js";
import type { ViewColumn } from "./columns.js";

/** A view for analysts: it lies in the mirror, so that any SQL program has it. */
export interface View {
  name: string;
  /** One row's meaning, and what must be known to read it. */
  about: string;
  columns: readonly ViewColumn[];
  /** A query to begin with, if the first rows in the view's own order are none. */
  example?: string;
  sql: string;
  /** The column that `--since` and `--until` go by. */
  date?: string;
  /** The integer that orders its rows and never changes, if each row is a row of a table. */
  rowId?: string;
  /** True if other views stand on it and people rarely need it: `tables --all` lists it. */
  isHelper?: true;
}

/** The types that are not text in SQLite. */
const sqlTypes: Partial<Record<ScalarType, string>> = {
  integer: "INTEGER",
  boolean: "INTEGER",
  number: "REAL",
};

/** Returns what a view selects. Other programs go by a column's type, so each is cast, unless that would cost an index. */
export function selectOf({ columns, rowId, sql }: View): string {
  if (rowId !== undefined) return sql;
  const typed = columns.map(({ name, type }) => `CAST(${name} AS ${sqlTypes[type] ?? "TEXT"}) AS ${name}`);
  return `SELECT ${typed.join(", ")} FROM (\n${sql})`;
}

import type { ScalarField, ScalarType } from "../../resources/types.js";

/** A view for analysts: part of the mirror, so that any SQL program has it. */
export interface View extends Definition {
  name: string;
}

/** All of a view but its name, which stands in the registry. */
export interface Definition {
  /** What a row is, and what must be known to read it. */
  about: string;
  /** Its columns, as `tables` and the document tell them; none where it has those of `like`. */
  columns: readonly ViewColumn[];
  /** A query to begin with. */
  example: string;
  sql: string;
  /** The table whose columns it has, so that they are written alike. */
  like?: string;
  /** The column that `--since` and `--until` go by. */
  date?: string;
  /** The integer that orders its rows and never changes, where each is a row of a table: it is read as fast as that. */
  rowId?: string;
}

export type ViewColumn = Pick<ScalarField, "name" | "type" | "about">;

const sqlTypes: Record<ScalarType, string> = {
  text: "TEXT",
  timestamp: "TEXT",
  date: "TEXT",
  json: "TEXT",
  integer: "INTEGER",
  boolean: "INTEGER",
  number: "REAL",
};

/** What a view selects. Other programs go by a column's type, so each is said, but where that would cost an index. */
export function selectOf({ columns, rowId, sql }: View): string {
  if (rowId !== undefined || columns.length === 0) return sql;
  const typed = columns.map(({ name, type }) => `CAST(${name} AS ${sqlTypes[type]}) AS ${name}`);
  return `SELECT ${typed.join(", ")} FROM (\n${sql})`;
}

import type { ColumnDefinition, Statement } from "better-sqlite3";
import { freeName } from "../lib/free-name.js";
import { explainRunning } from "./given-sql.js";
import type { Source } from "./select.js";
import { inBatches, type Row, type RowValue } from "./select-read.js";
import { amountNames } from "./views/columns.js";

/**
 * Returns a person's statement as an export reads it, at most `most` rows: each value has SQLite's own type, so 0 and 1
 * stay numbers and JSON stays text. Each reading runs the statement again.
 */
export function answerSource(statement: Statement, most = Number.POSITIVE_INFINITY): Source {
  const described = statement.columns();
  const names = distinct(described.map(({ name }) => name));
  const isAmount = ({ name, column }: ColumnDefinition) => amountNames.has(column ?? name);
  return {
    name: "answer",
    columns: described.map((column, index) => ({
      name: names[index] ?? column.name,
      type: "any",
      about: "",
      stored: null,
      isAmount: isAmount(column) ? true : undefined,
    })),
    rows: () => inBatches(cellsOf(statement, most)),
  };
}

/** Numbers columns of one name, because a JSON object has each member once. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const free = freeName(name, taken);
    taken.add(free.toLowerCase());
    return free;
  });
}

/** @throws UsageError with SQLite's message if the statement stops; errors of the mirror's file as they are */
function* cellsOf(statement: Statement, most: number): Iterable<Row> {
  let left = most;
  try {
    for (const row of statement.raw().safeIntegers().iterate() as Iterable<unknown[]>) {
      if (left-- <= 0) return;
      yield row.map(asCell);
    }
  } catch (error) {
    throw explainRunning(error, "query");
  }
}

/** Integers are `bigint`; bytes become hexadecimal text, because no format has a type for them. */
function asCell(value: unknown): RowValue {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : (value as RowValue);
}

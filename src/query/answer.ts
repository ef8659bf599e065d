import type { ColumnDefinition, Statement } from "better-sqlite3";
import type { Mirror } from "../mirror/index.js";
import { explainRunning } from "./condition.js";
import { knownTableNames } from "./names.js";
import type { Source } from "./select.js";
import { inBatches, type Row, type RowValue } from "./select-read.js";
import { describeTable, type ReadableColumn } from "./tables.js";

/**
 * Reads the answer to a person's statement in batches, at most so many rows.
 * @throws UsageError with SQLite's message if it stops
 */
export function readAnswer(statement: Statement, most = Number.POSITIVE_INFINITY): Iterable<Row[]> {
  return inBatches(cellsOf(statement, most));
}

/**
 * Returns a person's statement as an export reads it: with SQLite's types, so 0 and 1 stay numbers and JSON stays text.
 * Each reading runs the statement again.
 */
export function answerSource(mirror: Mirror, statement: Statement, most?: number): Source {
  return {
    name: "answer",
    columns: answerColumns(mirror, statement.columns()),
    whole: false,
    count: () => null,
    changed: () => undefined,
    identity: () => ({ key: [], parents: [], isList: false }),
    rows: () => readAnswer(statement, most),
    *records() {},
    cells: () => undefined,
  };
}

/** A table's own column has its type; in an expression each value has its own. */
function answerColumns(mirror: Mirror, columns: readonly ColumnDefinition[]): ReadableColumn[] {
  const names = distinct(columns.map(({ name }) => name));
  return columns.map(({ table, column }, index) => {
    const isKnown = table !== null && knownTableNames().includes(table);
    const own = isKnown
      ? describeTable(mirror, table).columns.find(({ name }) => name === column)
      : undefined;
    const { type, about } = own && !own.stored?.open ? own : { type: "any" as const, about: "" };
    const stored = type === "boolean" ? "integer" : type === "json" ? "text" : type;
    return { name: names[index] ?? "", type: stored, about, stored: null };
  });
}

/** Numbers columns of one name, because a JSON object has each member once. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}

/** Reports errors of the mirror's file as they are, and all others as errors of the statement. */
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

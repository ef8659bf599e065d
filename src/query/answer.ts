import type { Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import { isOfFile } from "./condition.js";

/** A cell of an answer: integers as `bigint`, bytes as hexadecimal text, since no format has another place for them. */
export type AnswerCell = string | number | bigint | null;
export type AnswerRow = readonly AnswerCell[];

const rowsPerBatch = 500;
const lettersPerBatch = 1e6;

/**
 * Reads the answer to a person's statement in batches, at most so many rows.
 * @throws UsageError with what SQLite stops at
 */
export function* readAnswer(statement: Statement, most = Number.POSITIVE_INFINITY): Iterable<AnswerRow[]> {
  let batch: AnswerRow[] = [];
  let letters = 0;
  let left = most;
  for (const row of explained(statement)) {
    if (left === 0) break;
    left -= 1;
    batch.push(row);
    letters += lettersOf(row);
    if (batch.length < rowsPerBatch && letters < lettersPerBatch) continue;
    yield batch;
    batch = [];
    letters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** How much there is to hold of a row. */
export function lettersOf(row: AnswerRow): number {
  return row.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 8), 0);
}

/** What is wrong with the mirror's file is told as such; all else is the statement's. */
function* explained(statement: Statement): Iterable<AnswerRow> {
  try {
    const rows = statement.raw().safeIntegers().iterate() as Iterable<unknown[]>;
    for (const row of rows) yield row.map(asCell);
  } catch (error) {
    if (!(error instanceof Error) || isOfFile(error)) throw error;
    throw new UsageError(`SQLite stopped: ${error.message}.`, { hint: "check the query", cause: error });
  }
}

function asCell(value: unknown): AnswerCell {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : (value as AnswerCell);
}

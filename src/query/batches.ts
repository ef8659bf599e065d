import type { SqlValue } from "../records/index.js";

/** A cell; `bigint` in the answer to a person's SQL alone. */
export type RowValue = SqlValue | bigint;
export type Row = readonly RowValue[];

/** The most that is held at a time: a row can have millions of letters. */
const mostRows = 500;
const mostLetters = 1e6;

/** Rows in batches, as they come. */
export function* inBatches(rows: Iterable<Row>): Iterable<Row[]> {
  let batch: Row[] = [];
  let letters = 0;
  for (const row of rows) {
    batch.push(row);
    letters += lettersOf(row);
    if (batch.length < mostRows && letters < mostLetters) continue;
    yield batch;
    batch = [];
    letters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** How much there is to hold of a row. */
function lettersOf(row: Row): number {
  return row.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 8), 0);
}

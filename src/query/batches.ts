import type { SqlValue } from "../records/index.js";

/** A cell; `bigint` in the answer to a person's SQL alone. */
export type RowValue = SqlValue | bigint;
export type Row = readonly RowValue[];

/** Rows in one batch: at most what a few answers of the API hold. */
export const rowsPerBatch = 256;

/** Rows in batches, as they come. */
export function* inBatches(rows: Iterable<Row>): Iterable<Row[]> {
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < rowsPerBatch) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

import type { Mirror } from "../store/mirror/database.js";
import type { SqlValue } from "../store/tables/column-values.js";
/** A value of a row. Only the results of a user's SQL contain `bigint`. */
export type RowValue = SqlValue | bigint;
export type Row = readonly RowValue[];

/** The parts of a SELECT statement on one table, which it calls `t`. */
export interface SelectStatement {
  /** `FROM …`, including the conditions. */
  from: string;
  /** Columns that order the rows. */
  order: readonly string[];
  /** The maximum number of rows; -1: no limit. */
  limit: number;
  /** The integer column that batches continue from; null if the statement must not be split. */
  batchKey: string | null;
}

/** A statement that can run once per batch. */
export type BatchedStatement = SelectStatement & { batchKey: string };
export const rowsPerBatch = 256;

export function isBatched(statement: SelectStatement): statement is BatchedStatement {
  return statement.batchKey !== null;
}

/** Counts the rows without reading them. */
export function countSelectedRows(mirror: Mirror, { from, limit }: SelectStatement): number {
  return mirror.db.prepare(`SELECT count(*) FROM (SELECT 1 ${from} LIMIT ${limit})`).pluck().get() as number;
}

/** Reads statements one after the other. The limit counts the rows of all of them. */
export function* readStatements(
  mirror: Mirror,
  statements: readonly SelectStatement[],
  columns: readonly string[],
): Iterable<Row[]> {
  let read = 0;
  for (const statement of statements) {
    const limit = statement.limit < 0 ? statement.limit : statement.limit - read;
    for (const batch of readStatement(mirror, { ...statement, limit }, columns)) {
      read += batch.length;
      yield batch;
    }
  }
}

/** Reads the rows of one statement in batches. @param columns SQL expressions */
export function readStatement(
  mirror: Mirror,
  { from, order, limit }: SelectStatement,
  columns: readonly string[],
): Iterable<Row[]> {
  const orderBy = order.length > 0 ? ` ORDER BY ${order.join(", ")}` : "";
  const select = `SELECT ${columns.join(", ")} ${from}${orderBy} LIMIT ${limit}`;
  return inBatches(mirror.db.prepare(select).raw().iterate() as IterableIterator<Row>);
}

/** Groups rows into batches of `rowsPerBatch`. */
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

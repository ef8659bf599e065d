import type { Mirror } from "../store/database.js";
import type { SqlValue } from "../store/projection.js";

/** A value in a row. `bigint` occurs only in the results of users' SQL. */
export type RowValue = SqlValue | bigint;
export type Row = readonly RowValue[];

/** The parts of a SELECT statement, which reads one table under the alias `t`. */
export interface SelectStatement {
  /** `FROM (…) AS t`. Readers may append a WHERE clause. */
  from: string;
  order: readonly string[];
  /** The maximum number of rows, or Infinity if there is no limit. */
  limit: number;
  /** The integer column that orders the batches, or null if the statement must run in one go. */
  batchKey: string | null;
}

export type BatchedStatement = SelectStatement & { batchKey: string };
export const rowsPerBatch = 256;

export function isBatched(statement: SelectStatement): statement is BatchedStatement {
  return statement.batchKey !== null;
}

export function countSelectedRows(mirror: Mirror, { from, limit }: SelectStatement): number {
  return mirror.db
    .prepare(`SELECT count(*) FROM (SELECT 1 ${from} ${limitSql(limit)})`)
    .pluck()
    .get() as number;
}

/** Reads the rows of several statements. The limit applies to all statements together. */
export function* readStatements(
  mirror: Mirror,
  statements: readonly SelectStatement[],
  columns: readonly string[],
): Iterable<Row[]> {
  let read = 0;
  for (const statement of statements) {
    const limit = statement.limit - read;
    for (const batch of readStatement(mirror, { ...statement, limit }, columns)) {
      read += batch.length;
      yield batch;
    }
  }
}

/** Reads a statement's rows in batches. @param columns SQL expressions */
export function readStatement(
  mirror: Mirror,
  { from, order, limit }: SelectStatement,
  columns: readonly string[],
): Iterable<Row[]> {
  const orderBy = order.length > 0 ? ` ORDER BY ${order.join(", ")}` : "";
  const select = `SELECT ${columns.join(", ")} ${from}${orderBy} ${limitSql(limit)}`;
  return inBatches(mirror.db.prepare(select).raw().iterate() as IterableIterator<Row>);
}

function limitSql(limit: number): string {
  return Number.isFinite(limit) ? `LIMIT ${limit}` : "";
}

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

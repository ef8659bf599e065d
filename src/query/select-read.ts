import { type Mirror, quote } from "../mirror/index.js";
import type { SqlValue } from "../records/index.js";
import type { SelectSql } from "./select-sql.js";

/** A cell; `bigint` in the answer to a person's SQL alone. */
export type RowValue = SqlValue | bigint;
export type Row = readonly RowValue[];

/** Rows in one batch: at most what a few answers of the API hold. */
export const rowsPerBatch = 256;

/** Some rows, joined into one text by SQLite: that costs a fraction of handing them over value by value. */
export interface Joined {
  bytes: Buffer;
  rows: number;
}

export function countRows(mirror: Mirror, { from, limit }: SelectSql): number {
  return mirror.db.prepare(`SELECT count(*) FROM (SELECT 1 ${from} LIMIT ${limit})`).pluck().get() as number;
}

/** Reads the statements one after the other, value by value, in batches. A limit counts the rows of all of them. */
export function* readAll(
  mirror: Mirror,
  statements: readonly SelectSql[],
  values: readonly string[],
): Iterable<Row[]> {
  let read = 0;
  for (const sql of statements) {
    const limit = sql.limit < 0 ? sql.limit : sql.limit - read;
    for (const batch of readRows(mirror, { ...sql, limit }, values)) {
      read += batch.length;
      yield batch;
    }
  }
}

/** Reads one statement over everything, value by value, in batches. */
export function readRows(
  mirror: Mirror,
  { from, order, limit }: SelectSql,
  values: readonly string[],
): Iterable<Row[]> {
  const sorted = order.length > 0 ? ` ORDER BY ${order.join(", ")}` : "";
  const select = `SELECT ${values.join(", ")} ${from}${sorted} LIMIT ${limit}`;
  return inBatches(mirror.db.prepare(select).raw().iterate() as IterableIterator<Row>);
}

/** A selection that can be read in batches by an integer. */
type BatchedSql = SelectSql & { rowId: string };

export function isBatched(sql: SelectSql): sql is BatchedSql {
  return sql.rowId !== null;
}

/** Reads the batches of several selections, one selection after the other. */
export function* readAllJoined(
  mirror: Mirror,
  statements: readonly BatchedSql[],
  options: { text: string; separator: string },
): Iterable<Joined> {
  for (const sql of statements) yield* readJoined(mirror, sql, options);
}

/** Reads a statement per batch, each from the row where the last one stopped. */
function* readJoined(
  mirror: Mirror,
  { from, rowId }: BatchedSql,
  { text, separator }: { text: string; separator: string },
): Iterable<Joined> {
  const id = `t.${quote(rowId)}`;
  const next = mirror.db
    .prepare(
      `SELECT CAST(group_concat(x, ${separator}) AS BLOB), count(*), max(id)
       FROM (SELECT ${text} AS x, ${id} AS id ${from} WHERE ${id} > ? ORDER BY ${id} LIMIT ?)`,
    )
    .raw();
  let after = Number.MIN_SAFE_INTEGER;
  while (true) {
    const [bytes, rows, last] = next.get(after, rowsPerBatch) as [Buffer | null, number, number];
    if (bytes === null) return;
    yield { bytes, rows };
    after = last;
  }
}

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

import { type Mirror, quote } from "../mirror/index.js";
import { inBatches, type Row } from "./batches.js";
import type { SelectSql } from "./select-sql.js";

/** Some rows, joined into one text by SQLite: that costs a fraction of handing them over value by value. */
export interface Joined {
  bytes: Buffer;
  rows: number;
}

export interface Reading {
  sql: SelectSql;
  /** The expressions to read. */
  values: readonly string[];
  /** True if they use `r`, the record. */
  withRecords: boolean;
  limit: number | undefined;
}

/** Small rows are joined by the thousand, large ones by the dozen: a batch has about this many bytes. */
const bytesPerBatch = 384 * 1_024;
const joinedAtMost = 2_000;
/** Bytes. A larger row is a batch of its own, because its size is not known before it is read. */
const largeRow = 64 * 1_024;

export function countRows(mirror: Mirror, { sql, limit = -1 }: Pick<Reading, "sql" | "limit">): number {
  const select = `SELECT count(*) FROM (SELECT 1 ${sql.from(false)} LIMIT ${limit})`;
  return mirror.db.prepare(select).pluck().get() as number;
}

/** One statement over everything, value by value, in batches. */
export function* readRows(mirror: Mirror, { sql, values, withRecords, limit }: Reading): Iterable<Row[]> {
  const end = limit === undefined ? "" : ` LIMIT ${limit}`;
  const order = sql.order.length > 0 ? ` ORDER BY ${sql.order.join(", ")}` : "";
  const select = `SELECT ${values.join(", ")} ${sql.from(withRecords)}${order}${end}`;
  yield* inBatches(mirror.db.prepare(select).raw().iterate() as IterableIterator<Row>);
}

/** A statement a batch, each going on after the row where the last one stopped. */
export function* readJoined(
  mirror: Mirror,
  { sql, withRecords, limit }: Reading & { sql: { rowId: string } },
  join: { text: string; separator: string },
): Iterable<Joined> {
  const id = `t.${quote(sql.rowId)}`;
  const from = sql.from(withRecords);
  const rowsOf = `SELECT ${join.text} AS x, ${id} AS id ${from}`;
  const next = mirror.db
    .prepare(
      `SELECT CAST(group_concat(iif(octet_length(x) <= ${largeRow}, x, NULL), ${join.separator}) AS BLOB), count(*),
         max(id), min(iif(octet_length(x) > ${largeRow}, id, NULL))
       FROM (${rowsOf} WHERE ${id} > ? ORDER BY ${id} LIMIT ?)`,
    )
    .raw();
  const between = mirror.db
    .prepare(
      `SELECT CAST(group_concat(x, ${join.separator}) AS BLOB), count(*)
       FROM (${rowsOf} WHERE ${id} >= ? AND ${id} <= ? ORDER BY ${id})`,
    )
    .raw();
  const joined = (bytes: Buffer | null, rows: number): Joined => ({ bytes: bytes ?? Buffer.alloc(0), rows });
  let left = limit ?? Number.POSITIVE_INFINITY;
  let size = 64;
  let after = Number.MIN_SAFE_INTEGER;
  while (left > 0) {
    const found = next.get(after, Math.min(size, left)) as [Buffer | null, number, number, number | null];
    const [bytes, rows, last, large] = found;
    if (rows === 0) return;
    if (large === null) {
      yield joined(bytes, rows);
      left -= rows;
      after = last;
      const fitting = Math.floor((rows * bytesPerBatch) / Math.max(1, bytes?.length ?? 0));
      size = Math.max(1, Math.min(size * 4, fitting, joinedAtMost));
      continue;
    }
    for (const [from, to] of [
      [after + 1, large - 1],
      [large, large],
    ] as const) {
      const [part, count] = between.get(from, to) as [Buffer | null, number];
      if (count > 0) yield joined(part, count);
      left -= count;
    }
    after = large;
    size = 1;
  }
}

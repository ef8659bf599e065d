import type { Mirror } from "../store/database.js";
import { quote } from "../store/table-sql.js";
import type { ReadableColumn } from "./readable-tables.js";
import {
  type BatchedStatement,
  isBatched,
  type Row,
  readStatements,
  rowsPerBatch,
  type SelectStatement,
} from "./rows.js";

/**
 * A batch of rows that SQLite has joined into one string. This is much faster than passing the values to
 * JavaScript.
 */
export interface JoinedRows {
  bytes: Buffer;
  rows: number;
}

/**
 * The byte that ends a row. Every cell except a row's last ends with the byte 0xff. UTF-8 never contains these bytes.
 */
export const rowTerminator = 0xfe;
const [cellTerminatorSql, rowTerminatorSql] = ["CAST(x'ff' AS TEXT)", "CAST(x'fe' AS TEXT)"];

/** Reads records as JSON for `RowSource.records`. */
export function readRecordTexts(
  mirror: Mirror,
  statements: readonly SelectStatement[],
  { separator, hasRemoved }: { separator: ",\n" | "\n"; hasRemoved: boolean },
): Iterable<JoinedRows> {
  const json = "(SELECT r.json FROM records AS r WHERE r.record_id = t.record_id)";
  const text = hasRemoved ? `json_set(${json}, '$.removed_at', t.removed_at)` : json;
  if (!statements.every(isBatched)) return joinBatches(readStatements(mirror, statements, [text]), separator);
  const separatorSql = separator === "\n" ? "char(10)" : "',' || char(10)";
  return readJoinedRows(mirror, statements, { text, separator: separatorSql });
}

function* joinBatches(batches: Iterable<readonly Row[]>, separator: string): Iterable<JoinedRows> {
  for (const batch of batches)
    yield { bytes: Buffer.from(batch.map(([json]) => json).join(separator)), rows: batch.length };
}

/** Reads values as text for `RowSource.cells`. */
export function readCells(
  mirror: Mirror,
  statements: readonly BatchedStatement[],
  columns: readonly ReadableColumn[],
): Iterable<JoinedRows> {
  const cells = columns.map((column) => cellSql(column, `t.${quote(column.name)}`));
  const text = `concat_ws(${cellTerminatorSql}, ${cells.join(", ")}) || ${rowTerminatorSql}`;
  return readJoinedRows(mirror, statements, { text, separator: "''" });
}

/**
 * Returns SQL that formats a value like JavaScript's `String(value)`, so that the CSV output is the same whichever is
 * used. Only numbers with more than 15 digits can differ.
 */
function cellSql(column: ReadableColumn, value: string): string {
  const text = `ifnull(${value}, '')`;
  if (column.type === "boolean")
    return `CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE ${text} END`;
  if (column.type !== "number") return text;
  const integer = `CAST(${value} AS INTEGER)`;
  // SQLite prints large numbers with 17 digits, even if 15 digits identify them.
  const digits = `printf('%!.15g', ${value})`;
  const isSame = `abs(${value}) >= 1e9 AND CAST(${digits} AS REAL) = ${value}`;
  return `CASE WHEN typeof(${value}) <> 'real' THEN ${text} WHEN ${value} = ${integer} THEN ${integer}
    WHEN ${isSame} THEN ${digits} ELSE ${text} END`;
}

/**
 * Reads the rows of several statements, joining each batch into one string.
 * @param text an SQL expression for a row
 * @param separator an SQL expression for the string between rows
 */
function* readJoinedRows(
  mirror: Mirror,
  statements: readonly BatchedStatement[],
  { text, separator }: { text: string; separator: string },
): Iterable<JoinedRows> {
  for (const { from, batchKey } of statements) {
    const id = `t.${quote(batchKey)}`;
    // The terminators are not valid UTF-8, so the string is read as a BLOB.
    const nextBatch = mirror.db
      .prepare(
        `SELECT CAST(group_concat(x, ${separator}) AS BLOB), count(*), max(id)
         FROM (SELECT ${text} AS x, ${id} AS id ${from} WHERE ${id} > ? ORDER BY ${id} LIMIT ?)`,
      )
      .raw();
    let lastId = Number.MIN_SAFE_INTEGER;
    while (true) {
      const [bytes, rows, last] = nextBatch.get(lastId, rowsPerBatch) as [Buffer | null, number, number];
      if (bytes === null) break;
      yield { bytes, rows };
      lastId = last;
    }
  }
}

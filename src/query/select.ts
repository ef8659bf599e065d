import { exportsRawRecords } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { quote } from "../store/table-sql.js";
import type { SqlValue } from "../store/values.js";
import { formatInstant } from "../util/times.js";
import { formatUtc, maxTimestampMs } from "../util/timestamp.js";
import { type ChangedRows, openChangedRows } from "./change-list.js";
import type { DateColumn, ReadableColumn, ReadableTable } from "./readable-tables.js";

/** The rows and columns to read of a table. Times are milliseconds since 1970. */
export interface Selection {
  table: ReadableTable;
  /** Names of columns, in the order wanted; undefined: all. */
  columns?: readonly string[] | undefined;
  /** An expression that `checkCondition` has passed. */
  where?: string | undefined;
  /** True if the condition reads other tables. */
  readsOthers?: boolean;
  since?: number | undefined;
  until?: number | undefined;
  limit?: number | undefined;
}

/** The pieces of SQL that read a selection. */
export interface SelectStatement {
  /** The column that rows are ordered by and batches continue from; null if the table has no such integer. */
  batchKey: string | null;
  /** `FROM …`, with the table as `t`. */
  from: string;
  /** The columns of `t` that order the rows. */
  order: readonly string[];
  /** The most rows to read; -1: all. */
  limit: number;
}

/** @param source one of the table's sources */
export function selectStatement(
  selection: Selection,
  source: string = selection.table.sources[0],
): SelectStatement {
  const { table, where, readsOthers = false, limit = -1 } = selection;
  const { date, orderBy } = table;
  const [rowId = null, ...others] = orderBy;
  const conditions = where === undefined ? [] : [`(${where}\n)`];
  if (date) conditions.push(...dateConditions(date, selection));
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return {
    // A condition that asks other tables is evaluated once, not once per batch; a limit counts all of them.
    batchKey: others.length > 0 || limit >= 0 || readsOthers ? null : rowId,
    // The conditions stand in a query of their own, so that their names can only mean this table's columns.
    from: `FROM (SELECT * FROM ${source}${filter}) AS t`,
    order: orderBy.map((column) => `t.${quote(column)}`),
    limit,
  };
}

/** Compares texts. A range ends before its next millisecond, because dates may have microseconds. */
function dateConditions(
  { sql: at, form }: DateColumn,
  { since, until }: Pick<Selection, "since" | "until">,
): string[] {
  const conditions = since === undefined ? [] : [`${at} >= '${boundText(since, form)}'`];
  // Nothing is dated after the year 9999.
  if (until === undefined || until >= maxTimestampMs) return conditions;
  if (form !== "utc") return [...conditions, `${at} <= '${boundText(until, form)}'`];
  return [...conditions, `${at} < '${boundText(until + 1, form)}'`];
}

function boundText(ms: number, form: DateColumn["form"]): string {
  if (form === "utc") return formatUtc({ ms, micros: 0 });
  return formatInstant(ms).slice(0, form === "month" ? 7 : form === "day" ? 10 : undefined);
}

/** A cell; `bigint` in the answer to a person's SQL alone. */
export type RowValue = SqlValue | bigint;
export type Row = readonly RowValue[];

/** Rows in one batch: at most what a few answers of the API hold. */
export const rowsPerBatch = 256;

/** Some rows, joined into one text by SQLite: that costs a fraction of handing them over value by value. */
export interface JoinedRows {
  bytes: Buffer;
  rows: number;
}

export function countSelectedRows(mirror: Mirror, { from, limit }: SelectStatement): number {
  return mirror.db.prepare(`SELECT count(*) FROM (SELECT 1 ${from} LIMIT ${limit})`).pluck().get() as number;
}

/** Reads the statements one after the other, value by value, in batches. A limit counts the rows of all of them. */
export function* readStatements(
  mirror: Mirror,
  statements: readonly SelectStatement[],
  values: readonly string[],
): Iterable<Row[]> {
  let read = 0;
  for (const sql of statements) {
    const limit = sql.limit < 0 ? sql.limit : sql.limit - read;
    for (const batch of readStatement(mirror, { ...sql, limit }, values)) {
      read += batch.length;
      yield batch;
    }
  }
}

/** Reads one statement over everything, value by value, in batches. */
export function readStatement(
  mirror: Mirror,
  { from, order, limit }: SelectStatement,
  values: readonly string[],
): Iterable<Row[]> {
  const sorted = order.length > 0 ? ` ORDER BY ${order.join(", ")}` : "";
  const select = `SELECT ${values.join(", ")} ${from}${sorted} LIMIT ${limit}`;
  return inBatches(mirror.db.prepare(select).raw().iterate() as IterableIterator<Row>);
}

/** A selection that can be read in batches by an integer. */
type BatchedStatement = SelectStatement & { batchKey: string };

export function isBatched(sql: SelectStatement): sql is BatchedStatement {
  return sql.batchKey !== null;
}

/** Reads the batches of several selections, one selection after the other. */
export function* readJoinedRows(
  mirror: Mirror,
  statements: readonly BatchedStatement[],
  options: { text: string; separator: string },
): Iterable<JoinedRows> {
  for (const sql of statements) yield* readJoinedBatches(mirror, sql, options);
}

/** Reads a statement per batch, each from the row where the last one stopped. */
function* readJoinedBatches(
  mirror: Mirror,
  { from, batchKey }: BatchedStatement,
  { text, separator }: { text: string; separator: string },
): Iterable<JoinedRows> {
  const id = `t.${quote(batchKey)}`;
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

/** A selection or a query's answer, ready to be read: batch by batch, in one order, from one state of the mirror. */
export interface RowSource {
  /** The table's name, or `answer`. */
  name: string;
  columns: readonly ReadableColumn[];
  /** Values in the order of `columns`. */
  rows(): Iterable<readonly Row[]>;
  /** The records' own JSON texts, with `,\n` or `\n` between; undefined unless each row is a whole record. */
  records?: (separator: ",\n" | "\n") => Iterable<JoinedRows>;
  /**
   * Cells with `cellEnd` between them, each row followed by `rowEnd`; booleans as words, null as nothing. Undefined if the
   * rows cannot be read so.
   */
  cells?: () => Iterable<JoinedRows>;
  /** The rows that came, changed or went, whatever else is selected; undefined if they are not made of records. */
  changed?: () => ChangedRows;
  /** How many rows there are; undefined if only reading them all would tell. */
  count?: () => number;
}

/** Bytes that no text in UTF-8 holds. */
export const cellTerminator = 0xff;
export const rowTerminator = 0xfe;
const [cellEndSql, rowEndSql] = ["CAST(x'ff' AS TEXT)", "CAST(x'fe' AS TEXT)"];

/** Reads inside one transaction: whatever a sync writes meanwhile, it is one state of the mirror. */
export async function withReadTransaction<T>(mirror: Mirror, work: () => Promise<T>): Promise<T> {
  mirror.db.exec("BEGIN");
  try {
    return await work();
  } finally {
    if (mirror.db.open && mirror.db.inTransaction) mirror.db.exec("ROLLBACK");
  }
}

/** Prepares a selection for reading; call it inside `withReadTransaction`. */
export function openRows(mirror: Mirror, selection: Selection): RowSource {
  const { table } = selection;
  const columns = chooseColumns(selection);
  const statements = table.sources.map((from) => selectStatement(selection, from));
  const batched = statements.filter(isBatched);
  const { shape } = table;
  const values = columns.map(({ name }) => `t.${quote(name)}`);
  const countAll = () => statements.reduce((sum, sql) => sum + countSelectedRows(mirror, sql), 0);
  const { limit = Number.POSITIVE_INFINITY } = selection;
  const source: RowSource = {
    name: table.name,
    columns,
    rows: () => readStatements(mirror, statements, values),
    count: () => Math.min(limit, countAll()),
  };
  const hasRemoved = table.columns.some(({ name }) => name === "removed_at");
  if (shape && !hasRemoved) source.changed = () => openChangedRows(mirror, shape, chooseColumns({ table }));
  if (exportsRawRecords(shape) && selection.columns === undefined) {
    const json = "(SELECT r.json FROM records AS r WHERE r.record_id = t.record_id)";
    const text = hasRemoved ? `json_set(${json}, '$.removed_at', t.removed_at)` : json;
    source.records = (separator) => {
      if (batched.length === 0) return joinTexts(readStatements(mirror, statements, [text]), separator);
      const between = separator === "\n" ? "char(10)" : "',' || char(10)";
      return readJoinedRows(mirror, batched, { text, separator: between });
    };
  }
  // A column without a declared type needs each value's own type.
  if (batched.length > 0 && !shape?.discoversColumns)
    source.cells = () => {
      const cells = columns.map((column, index) => cellSql(column, values[index] ?? "NULL"));
      const text = `concat_ws(${cellEndSql}, ${cells.join(", ")})`;
      return readJoinedRows(mirror, batched, { text: `${text} || ${rowEndSql}`, separator: "''" });
    };
  return source;
}

function chooseColumns({ table, columns }: Pick<Selection, "table" | "columns">): readonly ReadableColumn[] {
  if (!columns) return table.columns.filter(({ isComputed }) => !isComputed);
  return [...new Set(columns)].flatMap((name) => table.columns.filter((column) => column.name === name));
}

/** A cell as text: what JavaScript prints, but for numbers that need more than 15 digits or an exponent. */
function cellSql(column: ReadableColumn, value: string): string {
  const text = `ifnull(${value}, '')`;
  if (column.type === "boolean")
    return `CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE ${text} END`;
  if (column.type !== "number") return text;
  const whole = `CAST(${value} AS INTEGER)`;
  // Of a large number SQLite prints 17 digits, even if 15 are the same number.
  const digits = `printf('%!.15g', ${value})`;
  const isSame = `abs(${value}) >= 1e9 AND CAST(${digits} AS REAL) = ${value}`;
  return `CASE WHEN typeof(${value}) <> 'real' THEN ${text} WHEN ${value} = ${whole} THEN ${whole}
    WHEN ${isSame} THEN ${digits} ELSE ${text} END`;
}

function* joinTexts(batches: Iterable<readonly Row[]>, separator: string) {
  for (const batch of batches)
    yield { bytes: Buffer.from(batch.map(([json]) => json).join(separator)), rows: batch.length };
}

import { exportsRawRecords } from "../resources/table-shape.js";
import type { Mirror } from "../store/mirror/database.js";
import { quote } from "../store/tables/table-sql.js";
import { formatInstant } from "../util/times.js";
import { formatUtc, maxTimestampMs } from "../util/timestamp.js";
import { type ChangedRows, openChangedRows } from "./changed-rows.js";
import type { DateColumn, ReadableColumn, ReadableTable } from "./readable-tables.js";
import {
  type BatchedStatement,
  countSelectedRows,
  isBatched,
  type JoinedRows,
  type Row,
  readJoinedRows,
  readStatements,
  type SelectStatement,
} from "./rows.js";

/** Selected rows and columns of a table. */
export interface Selection {
  table: ReadableTable;
  /** Names of columns in their order; undefined: all. */
  columns?: readonly string[] | undefined;
  /** A condition that `checkCondition` accepted. */
  where?: string | undefined;
  /** True if the condition has subqueries on other tables, or may have some. */
  readsOthers?: boolean;
  /** Bounds of the table's main date, both included, in milliseconds since 1970. */
  since?: number | undefined;
  until?: number | undefined;
  limit?: number | undefined;
}

/** Rows that can be read: a selection of a table, or the result of a query. */
export interface RowSource {
  /** The table's name; `answer` for the result of a query. */
  name: string;
  columns: readonly ReadableColumn[];
  /** Reads the rows in batches, with values in the order of `columns`. */
  rows(): Iterable<readonly Row[]>;
  /** Reads the records' JSON texts with a separator between them. Undefined unless each row is a complete record. */
  records?: ((separator: ",\n" | "\n") => Iterable<JoinedRows>) | undefined;
  /**
   * Reads the values as text, for CSV: each ends with the byte 0xff, except the last of a row, which ends with
   * `rowTerminator`. Booleans are `true` and `false`, null is empty. Undefined if SQLite cannot format the rows.
   */
  cells?: (() => Iterable<JoinedRows>) | undefined;
  /** Opens the rows for an incremental export. Undefined if they are not made of the API's records. */
  changed?: (() => ChangedRows) | undefined;
  /** Counts the rows. Undefined if that would need a complete read. */
  count?: (() => number) | undefined;
}

/** Like 0xff, which ends the other cells, a byte that never occurs in UTF-8. */
export const rowTerminator = 0xfe;
const [cellTerminatorSql, rowTerminatorSql] = ["CAST(x'ff' AS TEXT)", "CAST(x'fe' AS TEXT)"];

/** Opens a selection for reading. Call it inside `withReadTransaction`. */
export function openRows(mirror: Mirror, selection: Selection): RowSource {
  const { table, limit = Number.POSITIVE_INFINITY } = selection;
  const { removedSource, shape, source } = table;
  const columns = selectColumns(selection);
  const values = columns.map(({ name }) => `t.${quote(name)}`);
  const sources = removedSource === null ? [source] : [source, removedSource];
  const statements = sources.map((each) => selectStatement(selection, each));
  const hasRemoved = table.columns.some(({ name }) => name === "removed_at");
  return {
    name: table.name,
    columns,
    rows: () => readStatements(mirror, statements, values),
    records:
      exportsRawRecords(shape) && selection.columns === undefined
        ? (separator) => readRecordTexts(mirror, statements, { separator, hasRemoved })
        : undefined,
    // The format of a discovered column depends on each value's type.
    cells:
      statements.every(isBatched) && !shape?.discoversColumns
        ? () => readCells(mirror, statements, columns)
        : undefined,
    changed:
      shape && !hasRemoved ? () => openChangedRows(mirror, shape, selectColumns({ table })) : undefined,
    count: () =>
      Math.min(
        limit,
        statements.reduce((sum, statement) => sum + countSelectedRows(mirror, statement), 0),
      ),
  };
}

/** Reads the records' JSON texts for `RowSource.records`. */
function readRecordTexts(
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

/** Reads the values as text for `RowSource.cells`. */
function readCells(
  mirror: Mirror,
  statements: readonly BatchedStatement[],
  columns: readonly ReadableColumn[],
): Iterable<JoinedRows> {
  const cells = columns.map((column) => cellSql(column, `t.${quote(column.name)}`));
  const text = `concat_ws(${cellTerminatorSql}, ${cells.join(", ")}) || ${rowTerminatorSql}`;
  return readJoinedRows(mirror, statements, { text, separator: "''" });
}

/** Returns the statement that reads a selection. @param source the table's `source` or `removedSource` */
export function selectStatement(
  selection: Selection,
  source: string = selection.table.source,
): SelectStatement {
  const { table, where, readsOthers = false, limit = -1 } = selection;
  const { batchKey, date, orderBy } = table;
  const conditions = where === undefined ? [] : [`(${where}\n)`];
  if (date) conditions.push(...dateConditions(date, selection));
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return {
    // In a subquery of their own, the conditions can only refer to this table's columns.
    from: `FROM (SELECT * FROM ${source}${filter}) AS t`,
    order: orderBy.map((column) => `t.${quote(column)}`),
    limit,
    // Batches would evaluate a subquery on another table each time, and a limit counts the rows of all batches.
    batchKey: limit >= 0 || readsOthers ? null : batchKey,
  };
}

/** Dates can have microseconds, so a range ends before the next millisecond. */
function dateConditions(
  { sql: date, form }: DateColumn,
  { since, until }: Pick<Selection, "since" | "until">,
): string[] {
  const conditions = since === undefined ? [] : [`${date} >= '${boundText(since, form)}'`];
  if (until === undefined || until >= maxTimestampMs) return conditions;
  if (form !== "utc") return [...conditions, `${date} <= '${boundText(until, form)}'`];
  return [...conditions, `${date} < '${boundText(until + 1, form)}'`];
}

function boundText(ms: number, form: DateColumn["form"]): string {
  if (form === "utc") return formatUtc({ ms, micros: 0 });
  return formatInstant(ms).slice(0, form === "month" ? 7 : form === "day" ? 10 : undefined);
}

function selectColumns({ table, columns }: Pick<Selection, "table" | "columns">): readonly ReadableColumn[] {
  if (!columns) return table.columns.filter(({ isComputed }) => !isComputed);
  return [...new Set(columns)].flatMap((name) => table.columns.filter((column) => column.name === name));
}

/**
 * Returns an SQL expression for a value as text: what `String` returns in JavaScript, so that SQLite and JavaScript
 * write the same CSV. Only numbers of more than 15 digits can differ.
 */
function cellSql(column: ReadableColumn, value: string): string {
  const text = `ifnull(${value}, '')`;
  if (column.type === "boolean")
    return `CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE ${text} END`;
  if (column.type !== "number") return text;
  const integer = `CAST(${value} AS INTEGER)`;
  // SQLite prints 17 digits of a large number even if 15 identify it.
  const digits = `printf('%!.15g', ${value})`;
  const isSame = `abs(${value}) >= 1e9 AND CAST(${digits} AS REAL) = ${value}`;
  return `CASE WHEN typeof(${value}) <> 'real' THEN ${text} WHEN ${value} = ${integer} THEN ${integer}
    WHEN ${isSame} THEN ${digits} ELSE ${text} END`;
}

function* joinBatches(batches: Iterable<readonly Row[]>, separator: string): Iterable<JoinedRows> {
  for (const batch of batches)
    yield { bytes: Buffer.from(batch.map(([json]) => json).join(separator)), rows: batch.length };
}

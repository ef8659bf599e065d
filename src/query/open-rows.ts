import { type Column, exportsRawRecords } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { quote } from "../store/table-sql.js";
import { dateConditionsSql } from "./date-filter.js";
import type { ReadableTable } from "./readable-tables.js";
import { parenthesize } from "./sql-tokens.js";

/** A value in a row. `bigint` occurs only in the results of user-supplied SQL. */
export type RowValue = string | number | bigint | null;
export type Row = readonly RowValue[];

/** The rows and columns to read from a table or view. */
export interface RowSelection {
  mirror: Mirror;
  table: ReadableTable;
  /** The columns in the requested order. By default, `selectColumns` chooses them. */
  columns?: readonly string[] | undefined;
  /** An SQL condition that `checkCondition` has accepted. */
  where?: string | undefined;
  /** The start and end of an inclusive date range, in milliseconds since the Unix epoch. */
  since?: number | undefined;
  until?: number | undefined;
  limit?: number | undefined;
}

/** The rows of a table or query result, as passed to the export formats. */
export interface RowSource {
  /** The table name, or `answer` for a query result. */
  name: string;
  columns: readonly Column[];
  /** Yields the rows in batches, in a stable order. Can be called more than once. */
  batches(): Iterable<readonly Row[]>;
  /** Counts the rows without reading them. Undefined for a query result. */
  count?(): number;
  /** Yields the records behind the rows as JSON, in batches. Undefined unless each row represents a complete record. */
  rawRecords?: (() => Iterable<readonly string[]>) | undefined;
}

/** Opens a table for an export. Must be called inside `withReadTransaction`. */
export function openRows(selection: RowSelection): RowSource {
  const { table } = selection;
  const columns = selectColumns(selection);
  const expressions = columns.map(({ name }) => `t.${quote(name)}`);
  const hasRawRecords = selection.columns === undefined && exportsRawRecords(table.shape);
  return {
    name: table.name,
    columns,
    batches: () => loadRows(selection, expressions),
    count: () => countRows(selection),
    rawRecords: hasRawRecords ? () => loadRawRecords(selection) : undefined,
  };
}

/** Yields records as the API sent them, with an additional `removed_at` if the table includes removed records. */
function* loadRawRecords(selection: RowSelection): Iterable<string[]> {
  const json = "(SELECT r.json FROM records AS r WHERE r.record_id = t.record_id)";
  const hasRemoved = selection.table.columns.some(({ name }) => name === "removed_at");
  const value = hasRemoved ? `json_set(${json}, '$.removed_at', t.removed_at)` : json;
  for (const batch of loadRows(selection, [value])) yield batch.map(([record]) => String(record));
}

/**
 * Returns the columns to export. By default, omits the columns that the mirror adds for queries: the row's number
 * (`record_id` or `row_id`), and the day, month and time of the main date in UTC.
 */
function selectColumns({ table, columns }: RowSelection): readonly Column[] {
  if (!columns) return table.columns.filter(({ isOmittedByDefault }) => !isOmittedByDefault);
  return [...new Set(columns)].flatMap((name) => table.columns.filter((column) => column.name === name));
}

/**
 * Yields the selected rows in batches.
 * @param expressions the SQL expressions for the values in each row, in which `t` is the table
 */
export function* loadRows(selection: RowSelection, expressions: readonly string[]): Iterable<Row[]> {
  const { limit, mirror, table } = selection;
  const order = table.orderBy.length > 0 ? `ORDER BY ${table.orderBy.map(quote).join(", ")}` : "";
  // The limit applies to current and removed records together.
  let count = 0;
  for (const tableSql of listTables(table)) {
    const remaining = limit === undefined ? "" : `LIMIT ${limit - count}`;
    const sql = `SELECT ${expressions.join(", ")} ${fromSql(selection, tableSql)} ${order} ${remaining}`;
    for (const batch of inBatches(mirror.db.prepare(sql).raw().iterate() as IterableIterator<Row>)) {
      count += batch.length;
      yield batch;
    }
  }
}

function countRows(selection: RowSelection): number {
  const { limit, mirror, table } = selection;
  const counts = listTables(table).map((tableSql) => {
    const count = mirror.db.prepare(`SELECT count(*) ${fromSql(selection, tableSql)}`).pluck();
    return count.get() as number;
  });
  const total = counts.reduce((sum, count) => sum + count, 0);
  return Math.min(total, limit ?? total);
}

function listTables({ tableSql, removedTableSql }: ReadableTable): string[] {
  return removedTableSql === null ? [tableSql] : [tableSql, removedTableSql];
}

/**
 * Returns the FROM clause for the selected rows. The conditions are in a subquery, so that they cannot refer to columns
 * of other tables.
 */
function fromSql({ table, where, since, until }: RowSelection, tableSql: string): string {
  const conditions = [
    ...(where === undefined ? [] : [parenthesize(where)]),
    ...(table.date ? dateConditionsSql(table.date, since, until) : []),
  ];
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return `FROM (SELECT * FROM ${tableSql}${filter}) AS t`;
}

const rowsPerBatch = 64;

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

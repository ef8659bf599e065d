import { exportsRawRecords } from "../resources/table-shape.js";
import type { Mirror } from "../store/mirror/database.js";
import { quote } from "../store/tables/table-sql.js";
import { formatInstant } from "../util/times.js";
import { formatUtc, maxTimestampMs } from "../util/timestamp.js";
import { type ChangedRows, openChangedRows } from "./changed-rows.js";
import { type JoinedRows, readCells, readRecordTexts } from "./joined-rows.js";
import type { DateColumn, ReadableColumn, ReadableTable } from "./readable-tables.js";
import { countSelectedRows, isBatched, type Row, readStatements, type SelectStatement } from "./rows.js";

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

/** Rows that can be read: a selection of a table, or the result of a query, which only has `rows`. */
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

/** Opens a selection for reading. Call it inside `withReadTransaction`. */
export function openRows(mirror: Mirror, selection: Selection): RowSource {
  const { table, limit = Number.POSITIVE_INFINITY } = selection;
  const { removedSource, shape, source } = table;
  const columns = selectColumns(selection);
  const values = columns.map(({ name }) => `t.${quote(name)}`);
  const sources = removedSource === null ? [source] : [source, removedSource];
  const statements = sources.map((each) => selectStatement(selection, each));
  const hasRemoved = table.columns.some(({ name }) => name === "removed_at");
  const areRecords = exportsRawRecords(shape) && selection.columns === undefined;
  // The format of a discovered column depends on each value's type.
  const canFormatCells = !shape?.discoversColumns;
  return {
    name: table.name,
    columns,
    rows: () => readStatements(mirror, statements, values),
    records: areRecords
      ? (separator) => readRecordTexts(mirror, statements, { separator, hasRemoved })
      : undefined,
    cells:
      canFormatCells && statements.every(isBatched)
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

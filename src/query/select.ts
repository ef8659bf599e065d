import { exportsRawRecords } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { quote } from "../store/table-sql.js";
import { formatInstant } from "../util/times.js";
import { formatUtc, maxTimestampMs } from "../util/timestamp.js";
import { type ChangedRows, openChangedRows } from "./changed-rows.js";
import { type JoinedRows, readCells, readRecordTexts } from "./joined-rows.js";
import type { DateColumn, ReadableColumn, ReadableTable } from "./readable-tables.js";
import { countSelectedRows, isBatched, type Row, readStatements, type SelectStatement } from "./rows.js";

export interface Selection {
  table: ReadableTable;
  /** The column names, or undefined for all columns. */
  columns?: readonly string[] | undefined;
  /** An SQL condition that `checkCondition` accepted. */
  where?: string | undefined;
  /** True if the condition may contain subqueries on other tables. */
  readsOthers?: boolean;
  /** The range of the main date, in milliseconds since 1970, including both ends. */
  since?: number | undefined;
  until?: number | undefined;
  /** The maximum number of rows, or undefined if there is no limit. */
  limit?: number | undefined;
}

/**
 * A table's rows or a query's result. Every format can be written from `rows`. The other readers are faster, or return
 * data that `rows` cannot return. A reader is undefined if it does not support the rows.
 */
export interface RowSource {
  /** The name of the table, or `answer` for a query result. */
  name: string;
  columns: readonly ReadableColumn[];
  /** Reads the rows in batches, with values in the order of `columns`. */
  rows(): Iterable<readonly Row[]>;
  /** Used for JSON and JSON Lines. Reads the JSON of complete records, separated by `separator`. */
  records?: ((separator: ",\n" | "\n") => Iterable<JoinedRows>) | undefined;
  /**
   * Used for CSV. Reads cells as text. Each cell ends with the byte 0xff, except the last cell of a row,
   * which ends with `rowTerminator`. Booleans are `true` and `false`, and null is empty.
   */
  cells?: (() => Iterable<JoinedRows>) | undefined;
  /** Used for Singer. Opens a table of API records for an incremental export. */
  changed?: (() => ChangedRows) | undefined;
  /** Used for workbooks, whose sheets have a maximum number of rows. Counts the rows. */
  count?: (() => number) | undefined;
}

/** Opens a table for reading. Must be called in `withReadTransaction`. */
export function openRows(mirror: Mirror, selection: Selection): RowSource {
  const { table, limit = Number.POSITIVE_INFINITY } = selection;
  const { removedSource, shape, source } = table;
  const columns = selectColumns(selection);
  const values = columns.map(({ name }) => `t.${quote(name)}`);
  const sources = removedSource === null ? [source] : [source, removedSource];
  const statements = sources.map((each) => selectStatement(selection, each));
  const hasRemoved = table.columns.some(({ name }) => name === "removed_at");
  const areRecords = exportsRawRecords(shape) && selection.columns === undefined;
  // In discovered columns, the format depends on each value's type.
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
  const { table, where, readsOthers = false, limit = Number.POSITIVE_INFINITY } = selection;
  const { batchKey, date, orderBy } = table;
  const conditions = where === undefined ? [] : [`(${where}\n)`];
  if (date) conditions.push(...dateConditions(date, selection));
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return {
    // The conditions are in a subquery, where they cannot refer to other tables' columns.
    from: `FROM (SELECT * FROM ${source}${filter}) AS t`,
    order: orderBy.map((column) => `t.${quote(column)}`),
    limit,
    // If the rows were read in batches, subqueries on other tables would run again for each batch, and a limit would
    // apply to each batch separately.
    batchKey: Number.isFinite(limit) || readsOthers ? null : batchKey,
  };
}

/** The range ends just before the next millisecond, because dates can have microseconds. */
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

import { setImmediate } from "node:timers/promises";
import type { Resource } from "../resources/resource.js";
import { listTableShapes, type TableShape } from "../resources/table-shape.js";
import { pluralize } from "../util/format-text.js";
import { loadJsonInfo, type Mirror, saveJsonInfo } from "./database.js";
import { RowBuilder, type TableRow } from "./projection.js";
import { loadRecords, recordState } from "./records.js";
import { quote, type RecordState, rowIdColumn, tableName } from "./table-sql.js";

export interface TableDifference {
  table: string;
  missing: number;
  changed: number;
  extra: number;
}

const recordsPerTurn = 1_000;

/**
 * Compares typed tables with the records, row by row. The expected rows are built by the same code that writes rows.
 * The check therefore finds rows that another program has changed, but not changes to the records themselves. Memory
 * use does not depend on the number of rows.
 * @returns the tables that differ
 * @throws the signal's abort reason
 */
export async function compareTables(
  mirror: Mirror,
  resources: readonly Resource[],
  signal?: AbortSignal,
): Promise<TableDifference[]> {
  const comparisons = new Map(
    resources.map((resource) => [resource.name, createComparisons(mirror, resource)] as const),
  );
  let count = 0;
  for (const record of loadRecords(mirror, [...comparisons.keys()])) {
    for (const comparison of comparisons.get(record.row.resource) ?? [])
      for (const row of comparison.rowBuilder.build(record)) comparison[recordState(record)].compare(row);
    count += 1;
    if (count % recordsPerTurn === 0) {
      // Yield to the event loop, so that signals are handled.
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
  const tables = [...comparisons.values()].flat().flatMap(({ current, removed }) => [current, removed]);
  return tables
    .map((table) => table.finish())
    .filter(({ changed, extra, missing }) => missing + changed + extra > 0);
}

/** Compares the tables for current and removed records separately. A row in the wrong table counts as extra. */
interface ShapeComparison extends Record<RecordState, TableComparison> {
  rowBuilder: RowBuilder;
}

function createComparisons(mirror: Mirror, resource: Resource): ShapeComparison[] {
  return listTableShapes(resource).map((shape) => {
    const rowBuilder = new RowBuilder(mirror, shape);
    const compare = (state: RecordState) =>
      new TableComparison(mirror, shape, state, rowBuilder.columnNames(state));
    return { rowBuilder, current: compare("current"), removed: compare("removed") };
  });
}

/** Compares a table with the rows expected from its records. Both are sorted by the integer key. */
class TableComparison {
  readonly #difference: TableDifference;
  readonly #rows: Iterator<unknown[]>;
  #next: IteratorResult<unknown[]>;

  constructor(mirror: Mirror, shape: TableShape, state: RecordState, columns: readonly string[]) {
    this.#difference = { table: tableName(shape, state), missing: 0, changed: 0, extra: 0 };
    this.#rows = loadTableRows(mirror, shape, state, columns);
    this.#next = this.#rows.next();
  }

  compare(expected: TableRow): void {
    const id = Number(expected.at(-1));
    for (; !this.#next.done && Number(this.#next.value.at(-1)) < id; this.#next = this.#rows.next())
      this.#difference.extra += 1;
    if (this.#next.done || this.#next.value.at(-1) !== id) {
      this.#difference.missing += 1;
      return;
    }
    if (!isSameRow(expected, this.#next.value)) this.#difference.changed += 1;
    this.#next = this.#rows.next();
  }

  finish(): TableDifference {
    for (; !this.#next.done; this.#next = this.#rows.next()) this.#difference.extra += 1;
    return this.#difference;
  }
}

const rowsPerBatch = 1_000;

/**
 * Yields a table's rows, sorted by the integer key. If the table lacks a column, yields no rows, because all of them
 * are wrong.
 */
function* loadTableRows(
  mirror: Mirror,
  shape: TableShape,
  state: RecordState,
  columns: readonly string[],
): Generator<unknown[]> {
  const name = tableName(shape, state);
  const existing = new Set(mirror.selectValues("SELECT lower(name) FROM pragma_table_info(?)", name));
  if (!columns.every((column) => existing.has(column.toLowerCase()))) return;
  const id = rowIdColumn(shape);
  const select = mirror.db.prepare<[unknown], unknown[]>(
    `SELECT ${columns.map(quote).join(", ")} FROM ${quote(name)}
     WHERE ${id} > ? ORDER BY ${id} LIMIT ${rowsPerBatch}`,
  );
  let rows = select.raw().all(Number.MIN_SAFE_INTEGER);
  while (rows.length > 0) {
    yield* rows;
    rows = select.raw().all(rows.at(-1)?.at(-1));
  }
}

function isSameRow(expected: TableRow, stored: readonly unknown[]): boolean {
  return expected.every(
    (value, index) =>
      value === stored[index] || (typeof value === "bigint" && Number(value) === stored[index]),
  );
}

/** Describes a table's differences, such as `25 rows missing, 3 changed, 1 extra`. */
export function describeDifference({ missing, changed, extra }: TableDifference): string {
  const counts: [number, string][] = [
    [missing, "missing"],
    [changed, "changed"],
    [extra, "extra"],
  ];
  const parts = counts.filter(([count]) => count > 0);
  return parts
    .map(([count, what], index) => `${index === 0 ? pluralize(count, "row") : count} ${what}`)
    .join(", ");
}

/** The result of the last table check, stored only if there were differences. */
export interface TableCheck {
  at: string;
  error: string;
}

export function saveTableCheck(
  mirror: Mirror,
  resourceName: string,
  differences: readonly TableDifference[],
  at: string,
): TableCheck | null {
  const texts = differences.map((difference) => `${difference.table}: ${describeDifference(difference)}`);
  const check =
    differences.length === 0 ? null : { at, error: `tables differ from the records (${texts.join("; ")})` };
  mirror.transaction(() => saveJsonInfo(mirror, `tables:${resourceName}`, check));
  return check;
}

export function loadTableCheck(mirror: Mirror, resourceName: string): TableCheck | null {
  return loadJsonInfo(mirror, `tables:${resourceName}`);
}

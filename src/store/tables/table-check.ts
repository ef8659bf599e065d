import type { Resource } from "../../resources/resource.js";
import { type TableShape, tablesOf } from "../../resources/table-shape.js";
import { pluralize } from "../../util/text.js";
import { deleteInfo, type Mirror, readInfo, writeInfo } from "../mirror/database.js";
import { readRecords, recordState, type StoredRecord } from "../records/record-table.js";
import { RowBuilder, type TableRow } from "./projection.js";
import { quote, type RecordState, rowIdColumn, tableName } from "./table-sql.js";

/** The differences between a typed table and its records, in rows. */
export interface TableDifference {
  table: string;
  /** Rows of records that are missing from the table. */
  missing: number;
  changed: number;
  /** Rows without a record. */
  extra: number;
}

/**
 * Compares the typed tables of these resources with their records. It generates the rows with the code that writes
 * them, so it finds rows, but not records, that another program changed. Rows and records are read in the same order,
 * so memory use does not grow with their number.
 * @returns the tables that differ
 */
export function compareTables(mirror: Mirror, resources: readonly Resource[]): TableDifference[] {
  /** The tables of each resource, the main one first. */
  const shapes = new Map<string, ShapeComparison[]>();
  const tables = () => [...shapes.values()].flat().flatMap(({ current, removed }) => [current, removed]);
  try {
    for (const resource of resources) {
      const [main, ...children] = tablesOf(resource);
      if (!main) continue;
      const comparisons: ShapeComparison[] = [];
      shapes.set(resource.name, comparisons);
      for (const shape of [main, ...children]) comparisons.push(openShapeComparison(mirror, shape, main));
    }
    for (const record of readRecords(mirror, [...shapes.keys()]))
      compareRecord(shapes.get(record.row.resource) ?? [], record);
    for (const table of tables()) table.finish();
    return tables()
      .map(({ difference }) => difference)
      .filter(({ changed, extra, missing }) => missing + changed + extra > 0);
  } finally {
    for (const table of tables()) table.close();
  }
}

/** Both tables of a shape. A record belongs to one of them, so its rows in the other one are extra. */
interface ShapeComparison extends Record<RecordState, TableComparison> {
  rows: RowBuilder;
}

function openShapeComparison(mirror: Mirror, shape: TableShape, main: TableShape): ShapeComparison {
  const rows = new RowBuilder(mirror, shape, main, { discovers: false, report: () => {} });
  const open = (state: RecordState) => new TableComparison(mirror, shape, state, rows.names(state));
  return { rows, current: open("current"), removed: open("removed") };
}

function compareRecord([main, ...children]: readonly ShapeComparison[], record: StoredRecord): void {
  if (!main) return;
  const state = recordState(record);
  const parent = main.rows.mainRow(record);
  main[state].compare(parent);
  for (const child of children)
    for (const row of child.rows.itemRows(record, parent)) child[state].compare(row);
}

/** Compares the rows of one table, in the order of its integer key, with the rows that its records should have. */
class TableComparison {
  readonly difference: TableDifference;
  readonly #rows: Iterator<unknown[]>;
  #next: IteratorResult<unknown[]>;

  constructor(mirror: Mirror, shape: TableShape, state: RecordState, columns: readonly string[]) {
    this.difference = { table: tableName(shape, state), missing: 0, changed: 0, extra: 0 };
    this.#rows = readRows(mirror, shape, state, columns);
    this.#next = this.#rows.next();
  }

  compare(expected: TableRow): void {
    const id = Number(expected.at(-1));
    for (; !this.#next.done && Number(this.#next.value.at(-1)) < id; this.#next = this.#rows.next())
      this.difference.extra += 1;
    if (this.#next.done || this.#next.value.at(-1) !== id) {
      this.difference.missing += 1;
      return;
    }
    if (!isSameRow(expected, this.#next.value)) this.difference.changed += 1;
    this.#next = this.#rows.next();
  }

  /** Counts the remaining rows, which belong to no record. */
  finish(): void {
    for (; !this.#next.done; this.#next = this.#rows.next()) this.difference.extra += 1;
  }

  close(): void {
    this.#rows.return?.();
  }
}

/**
 * Returns a table's rows in the order of its integer key; none if it lacks a column, because then no row is correct.
 */
function readRows(
  { db }: Mirror,
  shape: TableShape,
  state: RecordState,
  columns: readonly string[],
): Iterator<unknown[]> {
  const name = tableName(shape, state);
  const existing = new Set(db.prepare("SELECT lower(name) FROM pragma_table_info(?)").pluck().all(name));
  if (!columns.every((column) => existing.has(column.toLowerCase()))) return [][Symbol.iterator]();
  const select = `SELECT ${columns.map(quote).join(", ")} FROM ${quote(name)} ORDER BY ${rowIdColumn(shape)}`;
  return db.prepare(select).raw().iterate() as Iterator<unknown[]>;
}

function isSameRow(expected: TableRow, stored: readonly unknown[]): boolean {
  return expected.every(
    (value, index) =>
      value === stored[index] || (typeof value === "bigint" && Number(value) === stored[index]),
  );
}

/** Returns, for example, `25 rows missing, 3 changed, 1 too many`. */
export function describeDifference({ missing, changed, extra }: TableDifference): string {
  const counts: [number, string][] = [
    [missing, "missing"],
    [changed, "changed"],
    [extra, "too many"],
  ];
  const parts = counts.filter(([count]) => count > 0);
  return parts
    .map(([count, what], index) => `${index === 0 ? pluralize(count, "row") : count} ${what}`)
    .join(", ");
}

/** The differences that the last check of a resource's tables found. */
export interface TableCheck {
  /** ISO 8601. */
  at: string;
  error: string;
}

/**
 * Stores the differences found in a resource's tables, for `status`: a sync does not check tables.
 * @param differences empty if the tables match, which deletes what an earlier check stored
 */
export function saveTableCheck(
  mirror: Mirror,
  resource: string,
  differences: readonly TableDifference[],
  at: string,
): TableCheck | null {
  const texts = differences.map((difference) => `${difference.table}: ${describeDifference(difference)}`);
  const check =
    differences.length === 0 ? null : { at, error: `tables differ from the records (${texts.join("; ")})` };
  mirror.transaction(() => {
    if (check) writeInfo(mirror, infoName(resource), JSON.stringify(check));
    else deleteInfo(mirror, infoName(resource));
  });
  return check;
}

export function readTableCheck(mirror: Mirror, resource: string): TableCheck | null {
  const text = readInfo(mirror, infoName(resource));
  return text === null ? null : (JSON.parse(text) as TableCheck);
}

function infoName(resource: string): string {
  return `tables:${resource}`;
}

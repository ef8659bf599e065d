import type { Resource } from "../resources/resource.js";
import { type TableShape, tablesOf } from "../resources/table-shape.js";
import { deleteInfo, type Mirror, readInfo, writeInfo } from "./database.js";
import { openRows, type RowValues } from "./projection.js";
import { readRecords, type StoredRecord, stateOf } from "./stored-record.js";
import { quote, type RecordState, rowIdColumn, tableName } from "./table-sql.js";

/** How a typed table differs from its records, in rows. */
export interface TableDifference {
  table: string;
  /** Rows that a record should have, and has not. */
  missing: number;
  changed: number;
  /** Rows that belong to no record. */
  extra: number;
}

/**
 * Compares the tables of these resources with their records, by the code that writes them: it finds whatever another
 * program did to a row, and nothing that it did to a record. Rows and records come in the same order, so neither are
 * kept in memory.
 * @returns the tables that differ
 */
export function compareTables(mirror: Mirror, resources: readonly Resource[]): TableDifference[] {
  /** The tables of each resource, the main one first. */
  const tables = new Map<string, ShapeComparison[]>();
  const all = () => [...tables.values()].flat().flatMap(({ current, removed }) => [current, removed]);
  try {
    for (const resource of resources) {
      const shapes = tablesOf(resource);
      tables.set(resource.name, []);
      for (const shape of shapes)
        tables.get(resource.name)?.push(openShapeComparison(mirror, shape, shapes[0] ?? shape));
    }
    for (const record of readRecords(mirror, [...tables.keys()]))
      compareRecord(tables.get(record.row.resource) ?? [], record);
    for (const table of all()) table.end();
    return all()
      .map(({ found }) => found)
      .filter(({ changed, extra, missing }) => missing + changed + extra > 0);
  } finally {
    for (const table of all()) table.close();
  }
}

/** A record's rows belong into one of two tables, so a row in the other one is one too many there. */
function compareRecord([main, ...children]: readonly ShapeComparison[], record: StoredRecord): void {
  if (!main) return;
  const part = stateOf(record);
  const parent = main.rows.main(record);
  main[part].compare(parent);
  for (const child of children) child.rows.items(record, parent, child[part].compare);
}

type ShapeComparison = ReturnType<typeof openShapeComparison>;

function openShapeComparison(mirror: Mirror, shape: TableShape, main: TableShape) {
  const rows = openRows(mirror, shape, main, false, () => {});
  const open = (part: RecordState) => openTableComparison(mirror, shape, part, rows.names(part));
  return { rows, current: open("current"), removed: open("removed") };
}

function openTableComparison(mirror: Mirror, shape: TableShape, part: RecordState, names: readonly string[]) {
  const stored = readTable(mirror, shape, part, names);
  const found = { table: tableName(shape, part), missing: 0, changed: 0, extra: 0 };
  let next = stored.next();
  return {
    found,
    /** Compares the table's next row with one as it would be written. */
    compare(wanted: RowValues): void {
      const id = Number(wanted.at(-1));
      for (; !next.done && Number(next.value.at(-1)) < id; next = stored.next()) found.extra += 1;
      if (next.done || next.value.at(-1) !== id) {
        found.missing += 1;
        return;
      }
      if (!isSame(wanted, next.value)) found.changed += 1;
      next = stored.next();
    },
    /** Counts the rows that are left: they belong to no record. */
    end(): void {
      for (; !next.done; next = stored.next()) found.extra += 1;
    },
    close: () => void stored.return?.(),
  };
}

/** Returns a table's rows by the integer that orders them; none if it lacks a column: no row is right then. */
function readTable(
  { db }: Mirror,
  shape: TableShape,
  part: RecordState,
  names: readonly string[],
): Iterator<unknown[]> {
  const name = tableName(shape, part);
  const there = new Set(db.prepare("SELECT lower(name) FROM pragma_table_info(?)").pluck().all(name));
  if (!names.every((column) => there.has(column.toLowerCase()))) return [][Symbol.iterator]();
  const columns = names.map(quote).join(", ");
  const select = db.prepare(`SELECT ${columns} FROM ${quote(name)} ORDER BY ${rowIdColumn(shape)}`);
  return select.raw().iterate() as Iterator<unknown[]>;
}

function isSame(wanted: RowValues, stored: readonly unknown[]): boolean {
  return wanted.every(
    (value, index) =>
      value === stored[index] || (typeof value === "bigint" && Number(value) === stored[index]),
  );
}

/** The differences found in a resource's tables, and when; ISO 8601. */
export interface TableCheck {
  at: string;
  error: string;
}

/** Returns `25 rows missing, 3 changed, 1 too many`. */
export function differenceText({ missing, changed, extra }: TableDifference): string {
  const parts = [`${missing} missing`, `${changed} changed`, `${extra} too many`];
  const [first = "", ...others] = parts.filter((part) => !part.startsWith("0 "));
  const count = Number.parseInt(first, 10);
  return [first.replace(" ", count === 1 ? " row " : " rows "), ...others].join(", ");
}

/**
 * Notes the differences found in a resource's tables, until none are found: a sync does not look at tables.
 * @param differences empty: the tables match
 */
export function saveTableCheck(
  mirror: Mirror,
  resource: string,
  differences: readonly TableDifference[],
  at: string,
): TableCheck | null {
  const found = differences.map((one) => `${one.table}: ${differenceText(one)}`).join("; ");
  const note = differences.length === 0 ? null : { at, error: `tables differ from the records (${found})` };
  mirror.transaction(() => {
    if (note) writeInfo(mirror, `tables:${resource}`, JSON.stringify(note));
    else deleteInfo(mirror, `tables:${resource}`);
  });
  return note;
}

export function readTableCheck(mirror: Mirror, resource: string): TableCheck | null {
  const text = readInfo(mirror, `tables:${resource}`);
  return text === null ? null : (JSON.parse(text) as TableCheck);
}

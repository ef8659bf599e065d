import type { Deps } from "../deps.js";
import { inParts } from "../lib/in-parts.js";
import { type Mirror, quote } from "../mirror/index.js";
import { type TableShape, tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { recordBatches } from "./record-batches.js";
import type { StoredRecord } from "./stored-record.js";
import { openRows, type TableRows, type Values } from "./table-rows.js";

/** How a typed table differs from what its records say, in rows. */
export interface TableDifference {
  table: string;
  /** Rows that a record should have, and has not. */
  missing: number;
  /** Rows that say something else than their record. */
  changed: number;
  /** Rows that belong to no record. */
  extra: number;
}

/**
 * Compares the tables of these resources with their records, by the code that writes them: whatever another program
 * did to a row is found. The API is not asked, so what was done to a record itself is not. Rows and records come in
 * the same order, so neither are held.
 * Nothing may be written meanwhile.
 * @param looked hears at how many records it has looked
 * @returns the tables that differ
 */
export async function compareTables(
  mirror: Mirror,
  resources: readonly Resource[],
  { looked, ...waiting }: Pick<Deps, "clock" | "signal"> & { looked?(records: number): void },
): Promise<TableDifference[]> {
  return await inParts(compareInParts(mirror, resources, looked), waiting);
}

function* compareInParts(
  mirror: Mirror,
  resources: readonly Resource[],
  looked: ((records: number) => void) | undefined,
): Generator<void, TableDifference[]> {
  const tables: TableComparison[] = [];
  /** The tables of a resource, the main one first. */
  const ofResource = new Map<string, readonly TableComparison[]>();
  let records = 0;
  try {
    for (const resource of resources) {
      const shapes = tablesOf(resource);
      // Each is closed, should the next one's rows be damaged.
      for (const shape of shapes) tables.push(openComparison(mirror, shape, shapes[0] ?? shape));
      ofResource.set(resource.name, tables.slice(-shapes.length));
    }
    for (const batch of recordBatches(mirror, resources)) {
      for (const { resource, record } of batch) yield* look(ofResource.get(resource) ?? [], record);
      records += batch.length;
      looked?.(records);
    }
    for (const table of tables) yield* table.end();
    return tables.map(({ found }) => found).filter((one) => one.missing + one.changed + one.extra > 0);
  } finally {
    for (const table of tables) table.close();
  }
}

/** So many rows of no record are one part of the work. */
const rowsPerPart = 1_000;

function* look([main, ...children]: readonly TableComparison[], record: StoredRecord): Generator<void> {
  const parent = main?.rows.main(record) ?? [];
  main?.look(parent, record);
  for (const child of children)
    for (let part = 0; !child.rows.items(record, parent, part, (row) => child.look(row, record)); part += 1)
      yield;
  yield;
}

interface TableComparison {
  rows: TableRows;
  found: TableDifference;
  /** Looks at the next row as it would be written. */
  look(wanted: Values, record: StoredRecord): void;
  /** All rows were looked at: what is left belongs to no record. */
  end(): Generator<void>;
  close(): void;
}

function openComparison(mirror: Mirror, shape: TableShape, main: TableShape): TableComparison {
  const rows = openRows(mirror, shape, main, false, () => {});
  const names = rows.names();
  const syncedAt = names.indexOf("synced_at");
  const held = readTable(mirror, shape, names);
  const found = { table: shape.name, missing: 0, changed: 0, extra: 0 };
  let next = held.next();

  return {
    rows,
    found,
    look(wanted, record) {
      const id = Number(wanted.at(-1));
      // What lies before it belongs to no record.
      for (; !next.done && Number(next.value.at(-1)) < id; next = held.next()) found.extra += 1;
      if (next.done || next.value.at(-1) !== id) {
        found.missing += 1;
        return;
      }
      // Of a removal without history nobody remembers when its row was written.
      const ignored = record.removedAt !== null && !shape.resource.history ? syncedAt : -1;
      if (!isSame(wanted, next.value, ignored)) found.changed += 1;
      next = held.next();
    },
    *end() {
      for (; !next.done; next = held.next()) {
        found.extra += 1;
        if (found.extra % rowsPerPart === 0) yield;
      }
    },
    close: () => void held.return?.(),
  };
}

/** A table's rows, by the integer that orders them. One that lacks a column has no row that could be right. */
function readTable(
  { db }: Mirror,
  { list, name }: TableShape,
  names: readonly string[],
): Iterator<unknown[]> {
  const there = db.prepare("SELECT lower(name) FROM pragma_table_info(?)").pluck();
  const known = new Set(there.all(name));
  if (!names.every((column) => known.has(column.toLowerCase()))) return [][Symbol.iterator]();
  const order = list ? "row_id" : "record_id";
  const select = db.prepare(`SELECT ${names.map(quote).join(", ")} FROM ${quote(name)} ORDER BY ${order}`);
  return select.raw().iterate() as Iterator<unknown[]>;
}

function isSame(wanted: Values, held: readonly unknown[], ignored: number): boolean {
  return wanted.every(
    (value, index) =>
      value === held[index] ||
      index === ignored ||
      (typeof value === "bigint" && Number(value) === held[index]),
  );
}

import { hasInexactNumbers, parseExact } from "../exact.js";
import {
  columnNames,
  createTable,
  type Mirror,
  positionsPerRecord,
  quote,
  type Schema,
  type StoredColumn,
} from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import { type CellSource, cellOf } from "./cells.js";
import { openColumns } from "./open-columns.js";
import type { StoredRecord } from "./stored-record.js";
import { type Complaint, isObject, type SqlValue, valueAt } from "./values.js";

/** A row as it is bound, in the order of the table's columns. */
type Values = (SqlValue | bigint)[];

/** Writes the rows of one table. */
export interface TableWriter {
  /** Writes a record's row of the main table. @returns its values, for the rows of its children */
  writeMain(record: StoredRecord): readonly (SqlValue | bigint)[];
  /** Writes the rows of a record's list; `replace` first takes away those it had. */
  writeItems(record: StoredRecord, parent: readonly (SqlValue | bigint)[], replace: boolean): void;
}

/**
 * Prepares a table, creating it where it is missing. A temporary one has the columns of the mirror's, and discovers
 * none.
 * @param main the resource's main table, which children take their parent's columns from
 */
export function openTable(
  mirror: Mirror,
  schema: Schema,
  shape: TableShape,
  main: TableShape,
  complain: (complaint: Complaint) => void,
): TableWriter {
  const { db } = mirror;
  const table = `${schema}.${quote(shape.name)}`;
  const known = openColumns(mirror, shape, complain);
  createIfMissing(mirror, shape, known.all(), schema);
  let cells = prepareCells();
  let insert = prepareInsert();
  const removeItems = shape.list
    ? db.prepare(`DELETE FROM ${table} WHERE row_id BETWEEN ? AND ?`)
    : undefined;

  function prepareCells() {
    return known.all().map((column) => cellOf(column, shape.name, main, complain));
  }

  function prepareInsert() {
    const names = columnNames(shape, known.all());
    const places = names.map(() => "?").join(", ");
    return db.prepare(`INSERT OR REPLACE INTO ${table} (${names.map(quote).join(", ")}) VALUES (${places})`);
  }

  function valuesOf(row: CellSource): Values {
    if (shape.open && schema === "main" && known.discover(row.item, row.context)) {
      cells = prepareCells();
      insert = prepareInsert();
    }
    const values: Values = [];
    for (const cell of cells) values.push(cell(row));
    return values;
  }

  /** Only open columns can hold integers that a number cannot: they are then kept as text. */
  const exactOf = (record: StoredRecord) =>
    shape.open && hasInexactNumbers(record.json) ? parseExact(record.json) : undefined;

  function mismatch(path: readonly string[], found: string): void {
    complain({ kind: "type", table: shape.name, column: path.join("."), found });
  }

  return {
    writeMain(record) {
      const { value: item, context } = record;
      const values = valuesOf({ item, context, parent: [], position: 0, exact: exactOf(record) });
      insert.run(values, record.sinceAt, record.removedAt, record.recordId);
      return values;
    },
    writeItems(record, parent, replace) {
      if (!shape.list) return;
      const { path } = shape.list;
      const first = record.recordId * positionsPerRecord;
      if (replace) removeItems?.run(first, first + positionsPerRecord - 1);
      const items = valueAt(record.value, path);
      if (items === undefined || items === null) return;
      if (!Array.isArray(items)) return mismatch(path, typeof items);
      const exactItems = valueAt(exactOf(record), path);
      for (const [position, item] of items.slice(0, positionsPerRecord).entries()) {
        if (!isObject(item)) {
          mismatch(path, "not an object");
          continue;
        }
        const exact = Array.isArray(exactItems) ? exactItems[position] : undefined;
        // The values first: they may bring a new column, and so another statement.
        const { context } = record;
        const values = valuesOf({ item, context, parent, position, exact });
        values.push(record.sinceAt, first + position);
        insert.run(values);
      }
    },
  };
}

export function createIfMissing(
  { db }: Mirror,
  shape: TableShape,
  columns: readonly StoredColumn[],
  schema: Schema = "main",
): void {
  const find = db.prepare(`SELECT 1 FROM ${schema}.sqlite_master WHERE type = 'table' AND name = ?`);
  if (find.get(shape.name) === undefined) db.exec(createTable(shape, columns, schema));
}

import { hasInexactNumbers, parseExact } from "../exact.js";
import { columnNames, type Mirror, positionsPerRecord, type StoredColumn } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import { type CellSource, cellOf } from "./cells.js";
import { openColumns } from "./open-columns.js";
import type { StoredRecord } from "./stored-record.js";
import { type Complaint, isObject, type SqlValue, valueAt } from "./values.js";

/** A row as it is bound, in the order of `names`. */
export type Values = (SqlValue | bigint)[];

/** Makes the rows of one table: what is written, and what a table is compared with. */
export interface TableRows {
  columns(): readonly StoredColumn[];
  /** All columns; the integer that orders the rows comes last. They grow with each column that is discovered. */
  names(): readonly string[];
  /** A record's row of the main table. */
  main(record: StoredRecord): Values;
  /** The rows of a record's list. @param parent the record's row of the main table */
  items(record: StoredRecord, parent: Readonly<Values>): Iterable<Values>;
}

/**
 * @param main the resource's main table, which children take their parent's columns from
 * @param discovers whether scalars that are seen for the first time become columns
 */
export function openRows(
  mirror: Mirror,
  shape: TableShape,
  main: TableShape,
  discovers: boolean,
  complain: (complaint: Complaint) => void,
): TableRows {
  const known = openColumns(mirror, shape, complain);
  const prepareCells = () => known.all().map((column) => cellOf(column, shape.name, main, complain));
  let cells = prepareCells();

  function valuesOf(row: CellSource): Values {
    if (shape.open && discovers && known.discover(row.item, row.context)) cells = prepareCells();
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
    columns: known.all,
    names: () => columnNames(shape, known.all()),
    main(record) {
      const { value: item, context, sinceAt, removedAt, recordId } = record;
      const values = valuesOf({ item, context, parent: [], position: 0, exact: exactOf(record) });
      values.push(sinceAt, removedAt, recordId);
      return values;
    },
    *items(record, parent) {
      if (!shape.list) return;
      const { path } = shape.list;
      const items = valueAt(record.value, path);
      if (items === undefined || items === null) return;
      if (!Array.isArray(items)) return mismatch(path, typeof items);
      const exactItems = valueAt(exactOf(record), path);
      const { context, recordId, sinceAt } = record;
      for (const [position, item] of items.slice(0, positionsPerRecord).entries()) {
        if (!isObject(item)) {
          mismatch(path, "not an object");
          continue;
        }
        const exact = Array.isArray(exactItems) ? exactItems[position] : undefined;
        const values = valuesOf({ item, context, parent, position, exact });
        values.push(sinceAt, recordId * positionsPerRecord + position);
        yield values;
      }
    },
  };
}

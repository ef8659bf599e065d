import { columnNames, type Mirror, positionsPerRecord, type StoredColumn } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import { type CellSource, cellOf, type Values } from "./cells.js";
import { openColumns } from "./open-columns.js";
import type { StoredRecord } from "./stored-record.js";
import { type Complain, isObject, typeName, valueAt } from "./values.js";

/** Makes the rows of one table, to write them or to compare a table with them. */
export interface TableRows {
  columns(): readonly StoredColumn[];
  /** All column names in the order of a row's values; the integer key comes last. They grow with discovered columns. */
  names(): readonly string[];
  /** Returns a record's row of the main table. */
  main(record: StoredRecord): Values;
  /**
   * Makes the rows of a record's list.
   * @param parent the record's row of the main table
   * @param take is given each row before the next one is made, which may bring a new column
   */
  items(record: StoredRecord, parent: Readonly<Values>, take: (values: Values) => void): void;
}

/**
 * @param main the resource's main table, from which children take their parent's columns
 * @param discovers whether scalars that are seen for the first time become columns
 */
export function openRows(
  mirror: Mirror,
  shape: TableShape,
  main: TableShape,
  discovers: boolean,
  complain: Complain,
): TableRows {
  const known = openColumns(mirror, shape, complain);
  const prepareCells = () => known.all().map((column) => cellOf(column, shape.name, main, complain));
  let cells = prepareCells();

  function valuesOf(source: CellSource): Values {
    if (shape.open && discovers && known.discover(source.item, source.context)) cells = prepareCells();
    const values: Values = [];
    for (const cell of cells) values.push(cell(source));
    return values;
  }

  function mismatch(found: string): void {
    complain({ kind: "type", table: shape.name, column: (shape.list?.path ?? []).join("."), found });
  }

  return {
    columns: known.all,
    names: () => columnNames(shape, known.all()),
    main({ context, recordId, removedAt, sinceAt, value }) {
      const values = valuesOf({ item: value, context, parent: [], position: 0 });
      values.push(sinceAt, removedAt, recordId);
      return values;
    },
    items({ context, recordId, sinceAt, value }, parent, take) {
      const list = shape.list ? (valueAt(value, shape.list.path) ?? []) : [];
      if (!Array.isArray(list)) return mismatch(typeName(list));
      for (const [position, item] of list.entries()) {
        if (!isObject(item)) {
          mismatch("not an object");
          continue;
        }
        const values = valuesOf({ item, context, parent, position });
        values.push(sinceAt, recordId * positionsPerRecord + position);
        take(values);
      }
    },
  };
}

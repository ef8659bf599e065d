import { hasInexactNumbers, parseExact } from "../lib/exact.js";
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
  /**
   * Makes the rows of a part of a record's list, which may be as long as an answer can hold.
   * @param parent the record's row of the main table
   * @param take is given each row before the next one is made, which may bring a new column
   * @returns whether it was the last part
   */
  items(
    record: StoredRecord,
    parent: Readonly<Values>,
    part: number,
    take: (values: Values) => void,
  ): boolean;
}

const itemsPerPart = 1_000;

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
  let lately: { record: StoredRecord | null; exact: unknown } = { record: null, exact: undefined };

  function valuesOf(row: CellSource): Values {
    if (shape.open && discovers && known.discover(row.item, row.context)) cells = prepareCells();
    const values: Values = [];
    for (const cell of cells) values.push(cell(row));
    return values;
  }

  /** Only open columns can hold integers that a number cannot: they are then kept as text. */
  function exactOf(record: StoredRecord): unknown {
    if (!shape.open) return undefined;
    // A long list is taken part by part.
    if (lately.record !== record)
      lately = { record, exact: hasInexactNumbers(record.json) ? parseExact(record.json) : undefined };
    return lately.exact;
  }

  function mismatch(found: string): void {
    complain({ kind: "type", table: shape.name, column: (shape.list?.path ?? []).join("."), found });
  }

  /** As much of it as there are positions for. */
  function listOf(record: StoredRecord): readonly unknown[] {
    const list = shape.list ? (valueAt(record.value, shape.list.path) ?? []) : [];
    if (Array.isArray(list))
      return list.length > positionsPerRecord ? list.slice(0, positionsPerRecord) : list;
    mismatch(typeof list);
    return [];
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
    items(record, parent, part, take) {
      const list = listOf(record);
      const { context, recordId, sinceAt } = record;
      const exactItems = shape.list ? valueAt(exactOf(record), shape.list.path) : undefined;
      const end = (part + 1) * itemsPerPart;
      for (let position = part * itemsPerPart; position < Math.min(end, list.length); position += 1) {
        const item = list[position];
        if (!isObject(item)) {
          mismatch("not an object");
          continue;
        }
        const exact = Array.isArray(exactItems) ? exactItems[position] : undefined;
        const values = valuesOf({ item, context, parent, position, exact });
        values.push(sinceAt, recordId * positionsPerRecord + position);
        take(values);
      }
      return end >= list.length;
    },
  };
}

import { readTimestamp, utcText } from "../lib/timestamp.js";
import { columnNames, type Mirror, mainTimestamp, type Part, positionsPerRecord } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import { isObject } from "../resources/types.js";
import { type CellSource, cellOf, type Values } from "./cells.js";
import { openColumns } from "./open-columns.js";
import type { StoredRecord } from "./stored-record.js";
import { type Complain, typeName, valueAt } from "./values.js";

/**
 * Prepares the rows of one table, to write them or to compare a table with them.
 * @param main the resource's main table, from which children take their parent's columns
 * @param discovers whether scalars that are seen for the first time become columns
 */
export function openRows(
  mirror: Mirror,
  shape: TableShape,
  main: TableShape,
  discovers: boolean,
  complain: Complain,
) {
  const known = openColumns(mirror, shape, complain);
  const prepareCells = () => known.all().map((column) => cellOf(column, shape.name, main, complain));
  let cells = prepareCells();
  const date = mainTimestamp(shape);
  const dateIndex = date && shape.columns.indexOf(date);

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
    /** Returns all column names in the order of a row's values, the integer key last. Discovered columns add to them. */
    names: (part: Part) => columnNames(shape, known.all(), part),
    /** Returns a record's row of the main table. */
    main({ context, recordId, removedAt, sinceAt, value }: StoredRecord): Values {
      const values = valuesOf({ item: value, context, parent: [], position: 0 });
      if (dateIndex !== undefined) values.push(...dateCells(values[dateIndex]));
      if (removedAt === null) values.push(sinceAt, recordId);
      else values.push(sinceAt, removedAt, recordId);
      return values;
    },
    /** Makes the rows of a record's list. @param take is given each before the next, which may bring a new column */
    items(
      { context, recordId, removedAt, sinceAt, value }: StoredRecord,
      parent: Readonly<Values>,
      take: (values: Values) => void,
    ): void {
      const list = shape.list ? (valueAt(value, shape.list.path) ?? []) : [];
      if (!Array.isArray(list)) mismatch(typeName(list));
      for (const [position, item] of Array.isArray(list) ? list.entries() : []) {
        if (!isObject(item)) {
          mismatch("not an object");
          continue;
        }
        const values = valuesOf({ item, context, parent, position });
        const rowId = recordId * positionsPerRecord + position;
        if (removedAt === null) values.push(sinceAt, rowId);
        else values.push(sinceAt, removedAt, rowId);
        take(values);
      }
    },
  };
}

/** Returns the values of `dateColumns`: the day, the month and the time of a date in UTC; nulls if it is unreadable. */
function dateCells(date: Values[number] | undefined): [string | null, string | null, string | null] {
  const timestamp = typeof date === "string" ? readTimestamp(date) : undefined;
  if (!timestamp) return [null, null, null];
  const text = utcText(timestamp);
  return [text.slice(0, 10), text.slice(0, 7), text];
}

import type { StoredColumn } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { JsonObject } from "../resources/types.js";
import { type Complaint, columnValue, type SqlValue, valueAt } from "./values.js";

/** What a row's cells are made from. */
export interface CellSource {
  item: JsonObject;
  context: JsonObject;
  /** The main table's values, in the order of its columns. */
  parent: readonly (SqlValue | bigint)[];
  position: number;
  exact: unknown;
}

/** Prepares the making of one column's cells: it runs for every cell of every row. */
export function cellOf(
  column: StoredColumn,
  table: string,
  main: TableShape | undefined,
  complain: (complaint: Complaint) => void,
): (source: CellSource) => SqlValue | bigint {
  const { from, path } = column;
  if (from === "position") return ({ position }) => position;
  if (from === "parent") {
    const index = main?.columns.findIndex(({ name }) => name === path[0]) ?? -1;
    return ({ parent }) => parent[index] ?? null;
  }
  const read = readerOf(path);
  if (!column.open && from !== "context")
    return ({ item, exact }) => columnValue(column, read(item), table, complain, exact);
  const holder = from === "context" ? ({ context }: CellSource) => context : ({ item }: CellSource) => item;
  if (!column.open)
    return (source) => columnValue(column, read(holder(source)), table, complain, source.exact);
  return (source) => {
    const value = valueAt(holder(source), path);
    return bindable(value, columnValue(column, value, table, complain, source.exact));
  };
}

/** `valueAt` for one path: straight to the member, where its name is not one that every object has. */
function readerOf(path: readonly string[]): (object: JsonObject) => unknown {
  const [first, second] = path;
  if (first === undefined || path.length > 2 || path.some((member) => member in Object.prototype))
    return (object) => valueAt(object, path);
  if (second === undefined) return (object) => object[first];
  return (object) => {
    const inner = object[first];
    return typeof inner === "object" && inner !== null ? (inner as JsonObject)[second] : undefined;
  };
}

/**
 * A discovered column has no type to make an integer of what better-sqlite3 binds, a double; and numbers that are
 * kept as text would compare as text. Text are only integers that SQLite's reader could not give back.
 */
function bindable(value: unknown, cell: SqlValue): SqlValue | bigint {
  if (typeof cell === "number") return Number.isSafeInteger(cell) ? BigInt(cell) : cell;
  const isHuge = Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "number" && !isHuge ? value : cell;
}

import type { StoredColumn } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { JsonObject } from "../resources/types.js";
import { type Complain, columnValue, type SqlValue, valueAt } from "./values.js";

/** A row as it is bound. */
export type Values = (SqlValue | bigint)[];

/** The source of a row's cells. */
export interface CellSource {
  item: JsonObject;
  context: JsonObject;
  /** The row of the main table. */
  parent: Readonly<Values>;
  position: number;
}

/** Returns the function that makes a column's cells: it runs for every cell of every row. */
export function cellOf(
  column: StoredColumn,
  table: string,
  main: TableShape,
  complain: Complain,
): (source: CellSource) => SqlValue | bigint {
  const { from, path } = column;
  if (from === "position") return ({ position }) => position;
  if (from === "parent") {
    const index = main.columns.findIndex(({ name }) => name === path[0]);
    return ({ parent }) => parent[index] ?? null;
  }
  const read = readerOf(path);
  if (from === "context") return ({ context }) => columnValue(column, read(context), table, complain);
  return ({ item }) => columnValue(column, read(item), table, complain);
}

/** Returns `valueAt` for one path: a plain access, unless a name is one that every object has. */
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

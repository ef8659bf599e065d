import { freeName } from "../lib/free-name.js";
import type { Mirror, StoredColumn } from "../mirror/index.js";
import type { ScalarType } from "../resources/fields.js";
import type { TableShape } from "../resources/shape.js";
import type { JsonObject } from "../resources/types.js";
import { isReadable, mixed, readDiscovered, saveDiscovered, setMixed, valueNames } from "./discovered.js";
import type { Complain } from "./values.js";

const mostColumns = 300;
const longestName = 63;
/** Members below two objects stay in the records only. */
const deepest = 2;
const technical = ["synced_at", "removed_at", "record_id", "row_id"];

/**
 * Opens a table's columns: those declared, and those discovered if the API document shows no fields. Characters that SQL
 * takes only in quotes become `_`; a name that is taken (in any case), or that SQL reads as a value, ends in `_2`, `_3` and
 * so on.
 * @param complain is given names that were changed, and members that are in the records only
 */
export function openColumns(mirror: Mirror, shape: TableShape, complain: Complain = () => {}) {
  const declared = shape.columns.map((column): StoredColumn => ({ ...column, open: false }));
  const discovered = shape.open ? readDiscovered(mirror, shape.name) : [];
  const own = [...declared, ...discovered];
  const taken = new Set(own.map(({ name }) => name.toLowerCase()).concat(technical, valueNames));
  /** By path; null: the member is in the records only. */
  const known = new Map<string, StoredColumn | null>();
  for (const column of own) if (column.from === "record") known.set(keyOf(column.path), column);

  function complainOfNone(path: readonly string[]): void {
    complain({ kind: "column", table: shape.name, path: path.join("."), name: null });
  }

  function add(path: readonly string[], type: ScalarType): boolean {
    if (discovered.length >= mostColumns || !path.every(isReadable)) {
      complainOfNone(path);
      return false;
    }
    const name = freeName(plainName(path), taken, longestName);
    if (name !== path.join("_")) complain({ kind: "column", table: shape.name, path: path.join("."), name });
    const column = saveDiscovered(mirror, shape.name, { name, path, type }, discovered.length);
    discovered.push(column);
    taken.add(name.toLowerCase());
    known.set(keyOf(path), column);
    return true;
  }

  function scan(object: JsonObject, holder: readonly string[], context: JsonObject): boolean {
    let found = false;
    for (const [member, value] of Object.entries(object)) {
      if (value === null || Array.isArray(value)) continue;
      const path = [...holder, member];
      if (typeof value === "object") {
        if (path.length <= deepest) found = scan(value, path, {}) || found;
        else complainOfNone(path);
        continue;
      }
      // A parameter of the request has a column already.
      if (Object.hasOwn(context, member) && String(context[member]) === String(value)) continue;
      const column = known.get(keyOf(path));
      const type = typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
      if (!column) found = add(path, type) || found;
      // A 1 could be a number or `true` from then on: only the record tells.
      else if (column.open && column.type !== mixed && (column.type === "boolean") !== (type === "boolean"))
        setMixed(mirror, shape.name, column);
    }
    return found;
  }

  return {
    all: (): readonly StoredColumn[] => [...declared, ...discovered],
    /** Adds columns for scalars seen for the first time. @returns true if there were any */
    discover: (item: JsonObject, context: JsonObject) => scan(item, [], context),
  };
}

function keyOf(path: readonly string[]): string {
  return path.length === 1 ? (path[0] ?? "") : path.join("\u0000");
}

function plainName(path: readonly string[]): string {
  const name = path.join("_").replaceAll(/[^A-Za-z0-9_]/g, "_");
  return name.replace(/^(?![A-Za-z_])/, "_");
}

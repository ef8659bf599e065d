import { Exact } from "../lib/exact.js";
import type { Column } from "../resources/shape.js";
import type { JsonObject } from "../resources/types.js";

/** What SQLite stores. */
export type SqlValue = string | number | null;

/**
 * What is not as declared. `type`: a field of another type, which stays in the record and is null in its column.
 * `attribute`: a member that this version does not know, by its path; it stays in the record.
 * `column`: a member whose column has another name, or null: it stays in the record only.
 * `repeat`: several records of one answer have the same id.
 */
export type Complaint =
  | { kind: "type"; table: string; column: string; found: string }
  | { kind: "attribute"; table: string; path: string }
  | { kind: "column"; table: string; path: string; name: string | null }
  | { kind: "repeat"; table: string };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object as it is, and one without members for anything else. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value at a path of members; undefined where a member is missing or its holder is null. */
export function valueAt(source: unknown, path: readonly string[]): unknown {
  let value = source;
  // Members that every object inherits, such as `constructor`, are none of the record's.
  for (const member of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.hasOwn(value, member) ? (value as Record<string, unknown>)[member] : undefined;
  }
  return value;
}

/** A field's value as its column stores it. `exact` is the same record with exact numbers, where they differ. */
export function columnValue(
  column: Column & { open: boolean },
  value: unknown,
  table: string,
  complain: (complaint: Complaint) => void,
  exact: unknown,
): SqlValue {
  if (value === undefined || value === null) return null;
  if (column.open) return openValue(column, value, exact);
  switch (column.type) {
    case "text":
    case "timestamp":
    case "date":
      // Half a character, alone, would be stored as bytes that no other reader takes for text.
      if (typeof value === "string") return value.toWellFormed();
      break;
    case "integer":
      if (typeof value === "number" && Number.isSafeInteger(value)) return value;
      break;
    case "number":
      if (typeof value === "number") return value;
      break;
    case "boolean":
      if (typeof value === "boolean") return value ? 1 : 0;
      break;
    case "json":
      return JSON.stringify(value);
  }
  complain({
    kind: "type",
    table,
    column: column.name,
    found: Array.isArray(value) ? "array" : typeof value,
  });
  return null;
}

/** A discovered column takes every scalar as it is. */
function openValue(column: Column, value: unknown, exact: unknown): SqlValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "number") return null;
  const literal = valueAt(exact, column.path);
  return literal instanceof Exact && String(value) !== literal.literal ? literal.literal : value;
}

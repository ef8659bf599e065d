import type { ScalarType } from "../resources/fields.js";
import { numberFromText } from "../util/amounts.js";
import type { TableColumn } from "./table-sql.js";

/** A value as SQLite stores it. */
export type SqlValue = string | number | null;

/**
 * A part of an answer that is not as declared. `type`: a value of an unexpected type, which stays in the record and is null
 * in its column, unless it is a number as text. `attribute`: a member that this version does not know, by its path; it stays in the record.
 * `column`: a member whose column has another name, or null: it stays in the record only.
 */
export type SchemaIssue =
  | { kind: "type"; table: string; column: string; found: string }
  | { kind: "attribute"; table: string; path: string }
  | { kind: "column"; table: string; path: string; name: string | null };

/** `found` of a number as text: its column has the number. */
export const numberAsText = "number as text";

export type ReportIssue = (complaint: SchemaIssue) => void;

/** Returns the value at a path of members; undefined if a member is missing or its holder is null. */
export function valueAt(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const member of path) {
    if (typeof value !== "object" || value === null) return undefined;
    // Members that every object inherits, such as `constructor`, are not the record's.
    value = Object.hasOwn(value, member) ? (value as Record<string, unknown>)[member] : undefined;
  }
  return value;
}

/** Returns a field's value as its column stores it: null, and a complaint, if it has another type than declared. */
export function toColumnValue(
  column: TableColumn,
  value: unknown,
  table: string,
  complain: ReportIssue,
): SqlValue | bigint {
  if (value === undefined || value === null) return null;
  const { type } = column;
  // A lone surrogate would be stored as bytes that are not text.
  if (typeof value === "string" && (column.isDiscovered || isText(type))) return value.toWellFormed();
  // A column without a type keeps an integer only if it is bound as one.
  if (typeof value === "boolean" && (column.isDiscovered || type === "boolean"))
    return column.isDiscovered ? BigInt(value) : Number(value);
  if (typeof value === "number") {
    if (column.isDiscovered) return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (type === "number" || (type === "integer" && Number.isSafeInteger(value))) return value;
  }
  if (column.isDiscovered) return null;
  if (type === "json") return JSON.stringify(value);
  const number = typeof value === "string" ? parseNumber(value, type) : undefined;
  const found = number === undefined ? jsonType(value) : numberAsText;
  complain({ kind: "type", table, column: column.name, found });
  return number ?? null;
}

/** Returns the number that a text is, if a column of this type can have it. */
function parseNumber(text: string, type: ScalarType): number | undefined {
  if (type !== "number" && type !== "integer") return undefined;
  const number = numberFromText(text);
  return type === "integer" && !Number.isSafeInteger(number) ? undefined : number;
}

function isText(type: string): boolean {
  return type === "text" || type === "timestamp" || type === "date";
}

export function jsonType(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

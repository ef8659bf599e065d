import type { ScalarType } from "../../resources/fields.js";
import { numberFromText } from "../../util/amounts.js";
import { numberAsText, type ReportIssue } from "./schema-issues.js";
import type { TableColumn } from "./table-sql.js";

export type SqlValue = string | number | null;

/**
 * Converts a value to the type of its column. Reports a value of an unexpected type, and returns null for it.
 */
export function toColumnValue(
  column: TableColumn,
  value: unknown,
  table: string,
  report: ReportIssue,
): SqlValue | bigint {
  if (value === undefined || value === null) return null;
  const { isDiscovered, type } = column;
  // SQLite would store a lone surrogate as invalid UTF-8.
  if (typeof value === "string" && (isDiscovered || isText(type))) return value.toWellFormed();
  // A column without a declared type stores an integer only if it is bound as a bigint.
  if (typeof value === "boolean" && (isDiscovered || type === "boolean"))
    return isDiscovered ? BigInt(value) : Number(value);
  if (typeof value === "number") {
    if (isDiscovered) return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (type === "number" || (type === "integer" && Number.isSafeInteger(value))) return value;
  }
  if (isDiscovered) return null;
  if (type === "json") return JSON.stringify(value);
  const number = typeof value === "string" ? parseNumber(value, type) : undefined;
  const found = number === undefined ? jsonType(value) : numberAsText;
  report({ kind: "type", table, column: column.name, found });
  return number ?? null;
}

/** Returns the number in a text, if a column of this type can store it. */
function parseNumber(text: string, type: ScalarType): number | undefined {
  if (type !== "number" && type !== "integer") return undefined;
  const number = numberFromText(text);
  return type === "integer" && !Number.isSafeInteger(number) ? undefined : number;
}

function isText(type: ScalarType): boolean {
  return type === "text" || type === "timestamp" || type === "date";
}

export function jsonType(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

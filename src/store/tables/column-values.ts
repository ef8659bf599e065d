import type { ScalarType } from "../../resources/fields.js";
import { numberFromText } from "../../util/amounts.js";
import { numberAsText, type ReportIssue } from "./schema-issues.js";
import type { TableColumn } from "./table-sql.js";

export type SqlValue = string | number | null;

/**
 * Converts a value to its column's type. If the value has an unexpected type, reports it, and returns null unless it is
 * a string that contains a number.
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
  // better-sqlite3 binds numbers as REAL, and a column without a declared type would store them that way.
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

/** Parses a string as a number if the column can store that number. */
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

import { formatInstant } from "../lib/times.js";
import { daysSince1970, readTimestamp } from "../lib/timestamp.js";
import type { ReadableColumn, RowValue } from "../query/index.js";

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Returns the JSON schema of a column. JSON and what has several types is sent as text, because few targets take more. */
export function singerSchema(type: ReadableColumn["type"], isKey: boolean): object {
  const isTime = type === "timestamp" || type === "date";
  const jsonType = type === "integer" || type === "number" || type === "boolean" ? type : "string";
  const format = type === "timestamp" ? "date-time" : type;
  return { type: isKey ? [jsonType] : ["null", jsonType], ...(isTime ? { format } : {}) };
}

/** Returns a value as its column's schema wants it; undefined if it does not fit. */
export function singerValue(value: Exclude<RowValue, null>, type: ReadableColumn["type"]): unknown {
  if (type === "boolean") return value === 0 || value === 1 ? value === 1 : undefined;
  if (type === "integer") return Number.isInteger(value) ? value : undefined;
  if (type === "number") return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  const text = String(value);
  if (type === "date") return daysSince1970(text) === undefined ? undefined : text;
  if (type !== "timestamp") return text;
  const at = readTimestamp(text);
  return at && (rfc3339.test(text) ? text : formatInstant(at.ms));
}

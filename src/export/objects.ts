import type { ReadableColumn, Row, RowValue, Source } from "../query/index.js";

/** Writes rows as JSON objects of their columns: booleans as such, JSON columns as JSON, numbers as the API sent them. */
export function objectWriter({ columns }: Source): (row: Row) => string {
  const members = columns.map((column, index) => {
    const name = `${index === 0 ? "" : ","}${JSON.stringify(column.name)}:`;
    return { name, write: valueWriter(column) };
  });
  return (row) => `{${members.map(({ name, write }, index) => name + write(row[index] ?? null)).join("")}}`;
}

function valueWriter(column: ReadableColumn): (value: RowValue) => string {
  // A column without a declared type comes as JSON already.
  if (column.stored?.open) return writeJson;
  if (column.type === "json") return column.stored ? writeJson : writeIfJson;
  if (column.type === "boolean") return (value) => (value === null ? "null" : value === 0 ? "false" : "true");
  if (column.stored && (column.type === "number" || column.type === "integer")) return writeNumber;
  return writeValue;
}

function writeValue(value: RowValue): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

function writeJson(value: RowValue): string {
  return value === null ? "null" : String(value);
}

/** A view's column is JSON by its name alone. */
function writeIfJson(value: RowValue): string {
  if (typeof value !== "string") return writeValue(value);
  try {
    return JSON.stringify(JSON.parse(value));
  } catch {
    return JSON.stringify(value);
  }
}

/** A number that is text is the API's own literal. */
function writeNumber(value: RowValue): string {
  if (value === null) return "null";
  return typeof value === "number" && !Number.isFinite(value) ? "null" : String(value);
}

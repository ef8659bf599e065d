import type { ReadableColumn } from "../query/readable-tables.js";
import type { RowValue } from "../query/rows.js";
import type { RowSource } from "../query/select.js";
import { parseJson } from "../util/json-value.js";
import type { Chunk, RowSources } from "./formats.js";

/**
 * Writes JSON objects in batches, with a separator between the objects in a batch. Complete records are written as the
 * API returned them. Other rows become objects with one key per column.
 */
export function* writeJsonRows(source: RowSource, separator: ",\n" | "\n"): Iterable<Chunk> {
  if (source.records) {
    for (const { bytes, rows } of source.records(separator)) yield { data: bytes, rows };
    return;
  }
  const members = source.columns.map((column) => ({
    name: `${JSON.stringify(column.name)}:`,
    write: valueWriter(column),
  }));
  for (const rows of source.rows()) {
    const objects = rows.map((row) => {
      const pairs = members.map(({ name, write }, index) => name + write(row[index] ?? null));
      return `{${pairs.join(",")}}`;
    });
    yield { data: objects.join(separator), rows: rows.length };
  }
}

function valueWriter({ type, stored }: ReadableColumn): (value: RowValue) => string {
  if (stored?.isDiscovered && type === "json") return writeValue;
  if (stored && type === "json") return (value) => String(value);
  if (type === "json")
    return (value) => (parseJson(String(value)) === undefined ? writeValue(value) : String(value));
  if (type === "boolean") return (value) => (value === null ? "null" : String(value !== 0));
  return writeValue;
}

function writeValue(value: RowValue): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

/** Writes a single array with one record per line. */
export function* write([source]: RowSources): Iterable<Chunk> {
  let isEmpty = true;
  for (const chunk of writeJsonRows(source, ",\n")) {
    yield { data: isEmpty ? "[\n" : ",\n", rows: 0 };
    isEmpty = false;
    yield chunk;
  }
  yield { data: isEmpty ? "[]\n" : "\n]\n", rows: 0 };
}

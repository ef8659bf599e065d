import type { ReadableColumn } from "../query/readable-tables.js";
import { type Row, type RowSource, type RowValue, readRows } from "../query/select.js";
import { exportsRawRecords } from "../resources/table-shape.js";
import { parseJson } from "../util/json-value.js";
import type { Chunk, RowSources } from "./formats.js";

/**
 * Writes JSON objects in batches, with a separator between the objects in a batch. Complete records are written exactly
 * as the API returned them. Other rows become objects with one key per column.
 */
export function* writeJsonRows(source: RowSource, separator: ",\n" | "\n"): Iterable<Chunk> {
  const records = readRawRecords(source);
  if (records) {
    for (const batch of records)
      yield { data: batch.map(([json]) => json).join(separator), rows: batch.length };
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

/** Reads the API records behind the rows as JSON. Returns undefined if the rows are not complete records. */
function readRawRecords({ columns, origin }: RowSource): Iterable<Row[]> | undefined {
  if (!origin || origin.selection.columns || !exportsRawRecords(origin.selection.table.shape))
    return undefined;
  const json = "(SELECT r.json FROM records AS r WHERE r.record_id = t.record_id)";
  const hasRemoved = columns.some(({ name }) => name === "removed_at");
  const value = hasRemoved ? `json_set(${json}, '$.removed_at', t.removed_at)` : json;
  return readRows(origin.mirror, origin.selection, [value]);
}

function valueWriter({ type, isDiscovered }: ReadableColumn): (value: RowValue) => string {
  // In a column for an undocumented field, values of type `json` are plain strings, numbers and booleans instead of
  // JSON text.
  if (type === "json" && !isDiscovered)
    return (value) => (parseJson(String(value)) === undefined ? writeValue(value) : String(value));
  if (type === "boolean") return (value) => (value === null ? "null" : String(value !== 0));
  return writeValue;
}

function writeValue(value: RowValue): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

export function* write([source]: RowSources): Iterable<Chunk> {
  let isEmpty = true;
  for (const chunk of writeJsonRows(source, ",\n")) {
    yield { data: isEmpty ? "[\n" : ",\n", rows: 0 };
    isEmpty = false;
    yield chunk;
  }
  yield { data: isEmpty ? "[]\n" : "\n]\n", rows: 0 };
}

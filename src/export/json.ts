import type { RowSource, RowValue } from "../query/open-rows.js";
import type { Column } from "../resources/table-shape.js";
import { parseJson } from "../util/json-value.js";
import type { Chunk, RowSources } from "./formats.js";

export function* encode([source]: RowSources): Iterable<Chunk> {
  let isEmpty = true;
  for (const objects of encodeObjects(source)) {
    const separator = isEmpty ? "[\n" : ",\n";
    yield { data: separator + objects.join(",\n"), rows: objects.length, table: source.name };
    isEmpty = false;
  }
  yield { data: isEmpty ? "[]\n" : "\n]\n" };
}

/**
 * Yields the rows as JSON objects, in batches. If each row represents a complete record, the objects are exactly as the
 * API returned them. Otherwise, rows become objects with one key per column.
 */
export function* encodeObjects(source: RowSource): Iterable<readonly string[]> {
  if (source.rawRecords) {
    yield* source.rawRecords();
    return;
  }
  const members = source.columns.map((column) => ({
    name: `${JSON.stringify(column.name)}:`,
    encode: valueEncoder(column),
  }));
  for (const batch of source.batches())
    yield batch.map((row) => {
      const pairs = members.map(
        ({ name, encode: encodeCell }, index) => name + encodeCell(row[index] ?? null),
      );
      return `{${pairs.join(",")}}`;
    });
}

function valueEncoder({ type, isDiscovered }: Column): (value: RowValue) => string {
  // A column for an undocumented field can have the `json` type even if it contains plain strings, numbers and booleans
  // instead of JSON text.
  if (type === "json" && !isDiscovered)
    return (value) => (parseJson(String(value)) === undefined ? encodeValue(value) : String(value));
  if (type === "boolean") return (value) => (value === null ? "null" : String(value !== 0));
  return encodeValue;
}

function encodeValue(value: RowValue): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

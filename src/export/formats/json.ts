import type { Chunk, Sources } from "../format.js";
import { jsonRows } from "../json-rows.js";

/** JSON: one array, one record per line. */
export function* write([source]: Sources): Iterable<Chunk> {
  let isEmpty = true;
  for (const chunk of jsonRows(source, ",\n")) {
    yield { data: isEmpty ? "[\n" : ",\n", rows: 0 };
    isEmpty = false;
    yield chunk;
  }
  yield { data: isEmpty ? "[]\n" : "\n]\n", rows: 0 };
}

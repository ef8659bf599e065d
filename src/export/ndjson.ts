import type { Chunk, Sources } from "./format.js";
import { jsonRows } from "./json.js";

/** NDJSON: one record per line. */
export function* write([source]: Sources): Iterable<Chunk> {
  for (const chunk of jsonRows(source, "\n")) {
    yield chunk;
    yield { data: "\n", rows: 0 };
  }
}

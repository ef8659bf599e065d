import type { Source } from "../../query/index.js";
import type { Chunk } from "../format.js";
import { objectWriter } from "../objects.js";

/** JSON: one array, a record a line, exactly as the API sent it; rows that are part of an answer as their columns. */
export function* write(source: Source): Iterable<Chunk> {
  let started = false;
  for (const chunk of elements(source)) {
    yield { data: started ? ",\n" : "[\n", rows: 0 };
    started = true;
    yield chunk;
  }
  yield { data: started ? "\n]\n" : "[]\n", rows: 0 };
}

function* elements(source: Source): Iterable<Chunk> {
  if (source.whole) {
    for (const { bytes, rows } of source.records(",\n")) yield { data: bytes, rows };
    return;
  }
  const toObject = objectWriter(source);
  for (const rows of source.rows("json")) yield { data: rows.map(toObject).join(",\n"), rows: rows.length };
}

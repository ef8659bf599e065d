import type { Source } from "../../query/index.js";
import type { Chunk } from "../format.js";
import { objectWriter } from "../objects.js";

/** NDJSON: one record a line, exactly as the API sent it; rows that are part of an answer as their columns. */
export function* write(source: Source): Iterable<Chunk> {
  if (source.whole) {
    for (const { bytes, rows } of source.records("\n")) {
      yield { data: bytes, rows };
      yield { data: "\n", rows: 0 };
    }
    return;
  }
  const toObject = objectWriter(source);
  for (const rows of source.rows("json"))
    yield { data: `${rows.map(toObject).join("\n")}\n`, rows: rows.length };
}

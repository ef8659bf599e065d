import type { Chunk, RowSources } from "./formats.js";
import { writeJsonRows } from "./json.js";

export function* write([source]: RowSources): Iterable<Chunk> {
  for (const chunk of writeJsonRows(source, "\n")) {
    yield chunk;
    yield { data: "\n", rows: 0 };
  }
}

import type { Chunk, RowSources } from "./formats.js";
import { encodeObjects } from "./json.js";

export function* encode([source]: RowSources): Iterable<Chunk> {
  for (const objects of encodeObjects(source))
    yield { data: `${objects.join("\n")}\n`, rows: objects.length, table: source.name };
}

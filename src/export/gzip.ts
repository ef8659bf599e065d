import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Chunk } from "./format.js";

/** The same, compressed on the way: no more than a few pieces are held, and the same rows give the same bytes. */
export async function* gzipped(chunks: Iterable<Chunk> | AsyncIterable<Chunk>): AsyncIterable<Chunk> {
  let taken = 0;
  async function* bytes(): AsyncIterable<Chunk["data"]> {
    for await (const { data, rows } of chunks) {
      taken += rows;
      yield data;
    }
  }
  const gzip = createGzip();
  // What goes wrong at one end comes out at the other.
  pipeline(Readable.from(bytes()), gzip, () => {});
  for await (const data of gzip as AsyncIterable<Buffer>) {
    const rows = taken;
    taken = 0;
    yield { data, rows };
  }
}

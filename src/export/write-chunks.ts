import { once } from "node:events";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { OutputStream } from "../deps.js";
import { escapeData } from "../util/terminal.js";
import type { Chunk } from "./formats.js";

export type Chunks = Iterable<Chunk> | AsyncIterable<Chunk>;

export interface WriteResult {
  /** The number of bytes written, after compression. */
  bytes: number;
  /** The number of rows by table. A table without rows may be missing. */
  rows: ReadonlyMap<string, number>;
  /** True if the reader of a pipe closed it before all data was written. */
  isCutShort: boolean;
}

/**
 * Writes an export to stdout. On a terminal, control characters in the data are escaped. Errors of stdout, such as a
 * pipe that its reader has closed, are handled in `main.ts`.
 */
export async function writeToStdout(chunks: Chunks, stdout: OutputStream): Promise<void> {
  for await (const { data } of chunks) {
    const output = stdout.isTTY && typeof data === "string" ? escapeData(data) : data;
    if (!stdout.write(output)) await once(stdout, "drain");
  }
}

/** Passes the data of all chunks to `write`, compressed if requested, and counts rows and bytes. */
export async function writeChunks(
  chunks: Chunks,
  write: (data: Uint8Array) => Promise<void>,
  { isCompressed = false } = {},
): Promise<WriteResult> {
  const rows = new Map<string, number>();
  let bytes = 0;
  async function* readData(): AsyncIterable<Chunk["data"]> {
    for await (const { data, rows: count = 0, table } of chunks) {
      if (table !== undefined) rows.set(table, (rows.get(table) ?? 0) + count);
      yield data;
    }
  }
  for await (const data of isCompressed ? compress(readData()) : readData()) {
    const encoded = typeof data === "string" ? Buffer.from(data) : data;
    await write(encoded);
    bytes += encoded.length;
  }
  return { bytes, rows, isCutShort: false };
}

async function* compress(data: AsyncIterable<Uint8Array | string>): AsyncIterable<Uint8Array> {
  const gzip = createGzip();
  // If generating the data fails, `pipeline` destroys `gzip`, and then `yield*` throws the error.
  pipeline(Readable.from(data), gzip, () => {});
  yield* gzip as AsyncIterable<Uint8Array>;
}

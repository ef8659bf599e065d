import { closeSync, openSync, readSync } from "node:fs";
import { UsageError } from "../errors.js";

/** More than any statement, key or settings file: an input that goes on beyond this has no end, or is a mistake. */
export const mostInputBytes = 16 * 2 ** 20;

/**
 * Reads a file that a person's editor wrote: UTF-8, or UTF-16 as Windows PowerShell redirects to, without the byte order mark.
 * @throws UsageError if it has more than `mostInputBytes`, as an endless device or pipe does
 */
export function readText(path: string): string {
  const chunks: Buffer[] = [];
  const file = openSync(path, "r");
  try {
    for (let size = 0; size <= mostInputBytes; ) {
      const chunk = Buffer.alloc(65_536);
      const read = readSync(file, chunk);
      if (read === 0) return decode(Buffer.concat(chunks));
      chunks.push(chunk.subarray(0, read));
      size += read;
    }
  } finally {
    closeSync(file);
  }
  throw tooLong(path);
}

/**
 * Reads a stream to its end.
 * @param name of the stream, for the error
 * @throws UsageError if it has more than `mostInputBytes`
 */
export async function readStream(stream: AsyncIterable<Uint8Array | string>, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    const chunk = Buffer.from(piece as Uint8Array);
    chunks.push(chunk);
    size += chunk.length;
    if (size > mostInputBytes) throw tooLong(name);
  }
  return decode(Buffer.concat(chunks));
}

function decode(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

function tooLong(name: string): UsageError {
  return new UsageError(`The input from ${name} is longer than 16 MiB, or has no end.`, {
    hint: "check what writes it",
  });
}

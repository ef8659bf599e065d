import { readFileSync } from "node:fs";

/** Reads a file that a person's editor wrote: UTF-8, or UTF-16 as Windows PowerShell redirects to, without the byte order mark. */
export function readText(path: string): string {
  const bytes = readFileSync(path);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

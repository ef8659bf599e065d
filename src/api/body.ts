import { AnswerRefused } from "../errors.js";
import type { Reply } from "../lib/fetch.js";
import { bounds } from "./bounds.js";

/**
 * Reads a whole body as UTF-8 text, without a byte order mark.
 * @throws AnswerRefused if it is larger, and what `faultOf` knows: if it is not UTF-8, or the stream breaks off
 */
export async function readBody({ body }: Reply, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bounds.bytes)
      throw new AnswerRefused(
        `The API's answer to ${path} is larger than ${bounds.bytes / 2 ** 20} MiB: it is refused.`,
        { hint: "check that the base URL is the brand API's" },
      );
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

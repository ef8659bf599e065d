import { isUtf8 } from "node:buffer";
import { AnswerRefused } from "../errors.js";
import { bounds } from "./bounds.js";
import { Garbled } from "./faults.js";

/**
 * Reads a whole body as UTF-8 text, without a byte order mark.
 * @throws AnswerRefused if it is larger, Garbled if it is not UTF-8, and what the stream throws when it breaks off
 */
export async function readBody({ body }: Response, path: string): Promise<string> {
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
  const whole = Buffer.concat(chunks);
  if (!isUtf8(whole)) throw new Garbled("its body is not UTF-8 text");
  return whole.toString("utf8").replace(/^\uFEFF/, "");
}

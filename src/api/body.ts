import { isUtf8 } from "node:buffer";
import { AnswerRefused } from "../errors.js";
import { Garbled } from "./faults.js";

/**
 * Reads a whole body as UTF-8 text, without a byte order mark.
 * @param maxBytes after decompression
 * @throws AnswerRefused if it is larger, Garbled if it is not UTF-8, and what the stream throws when it breaks off
 */
export async function readBody(
  response: Response,
  path: string,
  maxBytes: number,
): Promise<{ text: string; bytes: number }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  try {
    for (let each = await reader?.read(); each && !each.done; each = await reader?.read()) {
      bytes += each.value.byteLength;
      if (bytes > maxBytes) throw tooLarge(path, maxBytes);
      chunks.push(each.value);
    }
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  }
  const whole = Buffer.concat(chunks);
  if (!isUtf8(whole)) throw new Garbled("its body is not UTF-8 text");
  return { text: whole.toString("utf8").replace(/^\uFEFF/, ""), bytes };
}

function tooLarge(path: string, maxBytes: number): AnswerRefused {
  const size = maxBytes >= 2 ** 20 ? `${Math.round(maxBytes / 2 ** 20)} MiB` : `${maxBytes} bytes`;
  return new AnswerRefused(`The API's answer to ${path} is larger than ${size}: it is refused.`, {
    hint: "check that the base URL is the brand API's",
  });
}

import { isUtf8 } from "node:buffer";
import type { Clock } from "../deps.js";
import { AnswerRefused } from "../errors.js";
import { Garbled, TooSlow } from "./faults.js";

export interface BodyLimits {
  /** Most bytes after decompression. */
  maxBytes: number;
  /** Most milliseconds from the headers to the last byte; a body that drips is cut off at the next piece. */
  totalMs: number;
}

/**
 * Reads a whole body: the bytes of UTF-8 text, without a byte order mark.
 * Throws `AnswerRefused` when it is too large, `TooSlow` when it takes too long, `Garbled` when it is not
 * UTF-8, and what the stream throws when it breaks off.
 */
export async function readBody(
  response: Response,
  path: string,
  limits: BodyLimits,
  clock: Clock,
): Promise<{ content: Buffer; bytes: number }> {
  if (!response.body) return { content: Buffer.alloc(0), bytes: 0 };
  const since = clock.monotonic();
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (let each = await reader.read(); !each.done; each = await reader.read()) {
      const chunk: Uint8Array = each.value;
      bytes += chunk.byteLength;
      if (bytes > limits.maxBytes) throw tooLarge(path, limits.maxBytes);
      if (clock.monotonic() - since > limits.totalMs) throw new TooSlow("the answer took too long");
      chunks.push(chunk);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
  return { content: join(chunks), bytes };
}

/** Node's own check is several times faster than a `TextDecoder` that is fatal. */
function join(chunks: readonly Uint8Array[]): Buffer {
  const whole = Buffer.concat(chunks);
  if (!isUtf8(whole)) throw new Garbled("its body is not UTF-8 text");
  const hasMark = whole[0] === 0xef && whole[1] === 0xbb && whole[2] === 0xbf;
  return hasMark ? whole.subarray(3) : whole;
}

function tooLarge(path: string, maxBytes: number): AnswerRefused {
  const size = maxBytes >= 2 ** 20 ? `${Math.round(maxBytes / 2 ** 20)} MiB` : `${maxBytes} bytes`;
  return new AnswerRefused(`The API's answer to ${path} is larger than ${size}: it is refused.`, {
    hint: "check that the base URL is the brand API's",
  });
}

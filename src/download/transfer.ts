import type { FileHandle } from "node:fs/promises";
import { faultOf } from "../api/index.js";
import type { Deps } from "../deps.js";
import type { Fetch, Reply } from "../lib/fetch.js";
import { unlessAborted } from "../lib/unless-aborted.js";
import { FileFailed } from "./failure.js";

export interface FileHost {
  fetch: Fetch;
  signal: AbortSignal;
  later?: Deps["later"] | undefined;
  userAgent: string;
  /** `--max-wait`, in milliseconds. */
  maxWaitMs: number;
}

/** The largest file that is taken if neither the API nor the file host says its size. */
const mostBytes = 16 * 2 ** 30;
/** A try lasts as long as this rate needs for the file, and `--max-wait` longer. */
const slowestBytesPerMs = 64;

/**
 * Downloads a file, or the rest of it, through a signed URL, without the key. The part keeps the bytes that arrived.
 * @param from the bytes that the part has already; only if the size is known
 * @param size as the library says; null if it does not
 * @param onLength called with the part's length as it grows
 */
export async function transfer(
  url: URL,
  part: FileHandle,
  { from, size }: { from: number; size: number | null },
  host: FileHost,
  onLength: (length: number) => void,
): Promise<void> {
  const limit = new AbortController();
  const limitMs = host.maxWaitMs + (size ?? mostBytes) / slowestBytesPerMs;
  const endLimit = host.later?.(Math.min(limitMs, 86_400_000), () => limit.abort());
  const signal = AbortSignal.any([host.signal, limit.signal]);
  const headers: Record<string, string> = { "user-agent": host.userAgent, "accept-encoding": "identity" };
  if (from > 0) headers.range = `bytes=${from}-`;
  try {
    const answer = await unlessAborted(host.fetch(url, { headers, signal }), signal).catch(explain);
    let length = startOf(answer, from, size);
    if (length < from) await part.truncate(length);
    onLength(length);
    const pieces = answer.body?.[Symbol.asyncIterator]();
    for (;;) {
      const next = await unlessAborted(Promise.resolve(pieces?.next()), signal).catch(explain);
      if (!next || next.done) break;
      length += next.value.byteLength;
      if (length > (size ?? mostBytes)) throw wrongSize(size, length);
      await part.appendFile(next.value);
      onLength(length);
    }
    if (size === null || length === size) return;
    throw answer.status === 206
      ? new FileFailed("the file host sent only a part of it", "again")
      : wrongSize(size, length);
  } finally {
    endLimit?.();
    // The rest of the answer is not wanted.
    limit.abort();
  }

  /** Throws the network's failure in words, without its cause, which could quote the URL. */
  function explain(error: unknown): never {
    host.signal.throwIfAborted();
    if (limit.signal.aborted) throw new FileFailed("the file host took too long", "host");
    const fault = faultOf(error, "the file host");
    throw new FileFailed(fault?.reason ?? "the connection to the file host broke off", "host");
  }
}

/** Returns the position of the first byte that an answer brings. @throws FileFailed if it brings none */
function startOf({ status, headers }: Reply, from: number, size: number | null): number {
  const coding = headers.get("content-encoding");
  if (status === 200) {
    const stated = Number(headers.get("content-length") ?? size ?? 0);
    if (size !== null && stated !== size && coding === null) throw wrongSize(size, stated);
    return 0;
  }
  if (status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range")?.trim() ?? "");
    const isRest = from > 0 && Number(range?.[1]) === from && coding === null;
    if (isRest && (range?.[2] === "*" || Number(range?.[2]) === size)) return from;
  }
  if (status === 206 || status === 416) throw new FileFailed("the file host cannot continue it", "restart");
  if (status === 401 || status === 403 || status === 410)
    throw new FileFailed(`the file host refuses the download URL (${status})`, "again");
  if (status >= 300 && status < 400)
    throw new FileFailed(`the file host redirects it (${status}); redirects are not followed`);
  if (status === 404) throw new FileFailed("the file host does not have it (404)");
  const isPassing = status === 408 || status === 429 || status >= 500;
  const retryAfterMs = Number(headers.get("retry-after") ?? 0) * 1_000 || undefined;
  throw new FileFailed(`the file host answered ${status}`, isPassing ? "host" : "final", retryAfterMs);
}

function wrongSize(size: number | null, found: number): FileFailed {
  if (size === null) return new FileFailed(`it is longer than ${mostBytes} bytes`);
  return new FileFailed(`the file host sends ${found} bytes, the library says ${size}`, "restart");
}

import { inspect } from "node:util";
import type { Deps, HttpResponse } from "../deps.js";
import { BrandapiError, ResponseRejected } from "../errors.js";
import { unlessAborted } from "../util/abort.js";
import { formatDuration } from "../util/times.js";
import type { ApiEvents } from "./client.js";
import { readDateHeader } from "./headers.js";
import { classifyError, type RequestFailure, RequestTimeout, statusFailure } from "./request-failure.js";
import { type ApiResponse, type ResponseChecks, readEnvelope, responseLimits } from "./response.js";

/**
 * Reads a whole body as UTF-8 text, without a byte order mark.
 * @throws ResponseRejected if it is larger, and what `faultOf` knows: if it is not UTF-8, or the stream breaks off
 */
export async function readBody({ body }: HttpResponse, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > responseLimits.bytes)
      throw new ResponseRejected(
        `The API's answer to ${path} is larger than ${responseLimits.bytes / 2 ** 20} MiB: it is refused.`,
        { hint: "check that the base URL is the brand API's" },
      );
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

/** One request gets at least so long, however little patience there is: an answer takes its time. */
const leastDeadlineMs = 5_000;

/** Does work with a signal of its own, which aborts when the program stops, when the patience ends, and after the work. */
export async function withDeadline<T>(
  leftMs: number,
  { setTimer, signal }: Pick<Deps, "setTimer" | "signal">,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const ms = Math.max(leastDeadlineMs, leftMs);
  const deadline = new AbortController();
  const callOff = setTimer?.(ms, () =>
    deadline.abort(new RequestTimeout(`no whole answer came within ${formatDuration(ms)}`)),
  );
  try {
    return await work(AbortSignal.any([signal, deadline.signal]));
  } finally {
    callOff?.();
    // The rest of an answer that is not read would occupy a connection.
    deadline.abort();
  }
}

/** A GET, whatever number of requests it takes. */
export interface ApiRequest {
  url: URL;
  headers: Record<string, string>;
  expected: ResponseChecks;
}

/**
 * Sends one request and reads its answer.
 * @param leftMs how much patience is left
 * @param onHeaders called once: with the answer's headers when they come, or with null if none come
 * @returns the answer, or what went wrong with it
 * @throws UnexpectedResponse if it is not as documented, or the signal's reason
 */
export async function sendRequest(
  { url, headers, expected }: ApiRequest,
  leftMs: number,
  onHeaders: (headers: HttpResponse["headers"] | null) => void,
  deps: Pick<Deps, "clock" | "fetch" | "setTimer" | "signal">,
  { onRequest }: ApiEvents,
): Promise<ApiResponse | { fault: RequestFailure }> {
  const { clock, fetch, signal } = deps;
  const { path, key } = expected;
  const requestedAt = clock.now();
  const sentAt = clock.monotonic();
  let status = 0;
  try {
    return await withDeadline(leftMs, deps, async (until) => {
      const reply = await unlessAborted(fetch(url, { headers, signal: until }), until);
      status = reply.status;
      onHeaders(reply.headers);
      if (status !== 200) return { fault: statusFailure(reply, clock.now()) };
      const text = await unlessAborted(readBody(reply, path), until);
      return { ...readEnvelope(text, expected), requestedAt, serverTime: readDateHeader(reply.headers) };
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const fault = error instanceof BrandapiError ? null : classifyError(error, url.host);
    if (!fault) throw error;
    // The cause is shown with `--verbose`, unless a library quotes the key in it.
    return { fault: inspect(error).includes(key) ? { ...fault, cause: undefined } : fault };
  } finally {
    if (status === 0) onHeaders(null);
    onRequest?.({ path, status, ms: clock.monotonic() - sentAt });
  }
}

import { inspect } from "node:util";
import type { Deps, HttpResponse } from "../deps.js";
import { BrandapiError, UnsafeResponse } from "../errors.js";
import { rejectOnAbort } from "../util/reject-on-abort.js";
import { formatDuration } from "../util/times.js";
import type { ApiEvents } from "./client.js";
import { readDateHeader } from "./headers.js";
import { classifyError, type RequestFailure, RequestTimeout, statusFailure } from "./request-errors.js";
import { type ApiResponse, readEnvelope, responseLimits } from "./response.js";

export interface ApiRequest {
  path: string;
  url: URL;
  headers: Record<string, string>;
  maxItems: number;
  key: string;
}

interface RequestEvents {
  onRequest: ApiEvents["onRequest"] | undefined;
  /** Called when the response headers arrive, or with null if there is no response. */
  onHeaders(headers: HttpResponse["headers"] | null): void;
}

/** The minimum timeout of a request. It applies even if `--max-wait` expires earlier. */
const minTimeoutMs = 5_000;

/**
 * Sends a request once and reads the response.
 * @param remainingMs the remaining `--max-wait`
 * @throws UnexpectedResponse if the response has an undocumented shape
 * @throws UnsafeResponse if the response exceeds a limit or contains the key
 * @throws the signal's abort reason
 */
export async function sendRequest(
  request: ApiRequest,
  remainingMs: number,
  deps: Pick<Deps, "clock" | "fetch" | "setTimer" | "signal">,
  { onHeaders, onRequest }: RequestEvents,
): Promise<ApiResponse | { failure: RequestFailure }> {
  const { clock, fetch, signal } = deps;
  const { path, url, headers, key } = request;
  const requestedAt = clock.now();
  const startedAt = clock.monotonic();
  let status = 0;
  try {
    return await withTimeout(Math.max(minTimeoutMs, remainingMs), url.host, deps, async (until) => {
      const response = await rejectOnAbort(fetch(url, { headers, signal: until }), until);
      status = response.status;
      onHeaders(response.headers);
      if (status !== 200) return { failure: statusFailure(response, clock.now()) };
      const text = await rejectOnAbort(readBody(response, path), until);
      return { ...readEnvelope(text, request), requestedAt, serverTime: readDateHeader(response.headers) };
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const failure = error instanceof BrandapiError ? null : classifyError(error, url.host);
    if (!failure) throw error;
    // Omits a cause that quotes the key, because `--verbose` prints it. Errors from libraries can quote request
    // headers.
    return { failure: inspect(error).includes(key) ? { ...failure, cause: undefined } : failure };
  } finally {
    if (status === 0) onHeaders(null);
    onRequest?.({ path, status, ms: clock.monotonic() - startedAt });
  }
}

async function withTimeout<T>(
  ms: number,
  host: string,
  { setTimer, signal }: Pick<Deps, "setTimer" | "signal">,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const cancel = setTimer?.(ms, () =>
    timeout.abort(new RequestTimeout(`no complete response from ${host} within ${formatDuration(ms)}`)),
  );
  try {
    return await work(AbortSignal.any([signal, timeout.signal]));
  } finally {
    cancel?.();
    // Releases the connection if the body has not been read.
    timeout.abort();
  }
}

async function readBody({ body }: HttpResponse, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > responseLimits.bytes)
      throw new UnsafeResponse(
        `The API's response to ${path} is larger than ${responseLimits.bytes / 2 ** 20} MiB; it was rejected.`,
        { hint: "check that the base URL points to the brand API" },
      );
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

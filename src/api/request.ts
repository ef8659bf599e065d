import type { Deps } from "../deps.js";
import { BrandapiError } from "../errors.js";
import { readBody } from "./body.js";
import { type Answer, type Expected, readEnvelope } from "./envelope.js";
import { type Fault, faultOf, statusFault, withoutKey } from "./faults.js";
import type { ApiEvents } from "./requesting.js";
import { followUntil, unlessAborted } from "./sending.js";
import { dateOf } from "./server-limit.js";

/** One request of a GET. */
export interface Request {
  url: URL;
  headers: Record<string, string>;
  expected: Expected;
  maxBytes: number;
  deadlineMs: number;
  signal: AbortSignal;
  /** Called once: with the answer's headers when they come, or with null if none come. */
  onHeaders(headers: Headers | null): void;
}

/**
 * Sends one request and reads its answer. Redirects are not followed, because the key would go with them.
 * @returns the answer, or what went wrong with it
 * @throws UnexpectedAnswer if it is not as documented, or the signal's reason
 */
export async function sendRequest(
  { url, headers, expected, maxBytes, deadlineMs, signal, onHeaders }: Request,
  deps: Pick<Deps, "clock" | "fetch" | "later">,
  { onRequest }: ApiEvents,
): Promise<Answer | { fault: Fault }> {
  const { clock, fetch } = deps;
  const { path, key } = expected;
  const sending = followUntil(signal, deadlineMs, deps);
  const askedAt = clock.now();
  const sentAt = clock.monotonic();
  let [status, bytes] = [0, 0];
  try {
    const init = { method: "GET", headers, redirect: "manual", signal: sending.signal } as const;
    const response = await unlessAborted(fetch(url, init), sending.signal);
    status = response.status;
    onHeaders(response.headers);
    if (status !== 200) {
      response.body?.cancel().catch(() => {});
      return { fault: statusFault(response, clock.now()) };
    }
    const body = await unlessAborted(readBody(response, path, maxBytes), sending.signal);
    bytes = body.bytes;
    return { ...readEnvelope(body.text, expected), askedAt, date: dateOf(response.headers) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof BrandapiError) throw error;
    const fault = faultOf(error, url.host);
    if (!fault) throw error;
    return { fault: withoutKey(fault, key) };
  } finally {
    sending.end();
    if (status === 0) onHeaders(null);
    onRequest?.({ method: "GET", path, status, ms: clock.monotonic() - sentAt, bytes });
  }
}

import { inspect } from "node:util";
import type { Deps } from "../deps.js";
import { BrandapiError } from "../errors.js";
import type { Reply } from "../lib/fetch.js";
import { unlessAborted } from "../lib/unless-aborted.js";
import { readBody } from "./body.js";
import { withDeadline } from "./deadline.js";
import { type Answer, type Expected, readEnvelope } from "./envelope.js";
import { type Fault, faultOf, statusFault } from "./faults.js";
import type { ApiEvents } from "./requesting.js";
import { dateOf } from "./server-limit.js";

/** A GET, whatever number of requests it takes. */
export interface Call {
  url: URL;
  headers: Record<string, string>;
  expected: Expected;
}

/**
 * Sends one request and reads its answer.
 * @param leftMs how much patience is left
 * @param onHeaders called once: with the answer's headers when they come, or with null if none come
 * @returns the answer, or what went wrong with it
 * @throws UnexpectedAnswer if it is not as documented, or the signal's reason
 */
export async function sendRequest(
  { url, headers, expected }: Call,
  leftMs: number,
  onHeaders: (headers: Reply["headers"] | null) => void,
  deps: Pick<Deps, "clock" | "fetch" | "later" | "signal">,
  { onRequest }: ApiEvents,
): Promise<Answer | { fault: Fault }> {
  const { clock, fetch, signal } = deps;
  const { path, key } = expected;
  const askedAt = clock.now();
  const sentAt = clock.monotonic();
  let status = 0;
  try {
    return await withDeadline(leftMs, deps, async (until) => {
      const reply = await unlessAborted(fetch(url, { headers, signal: until }), until);
      status = reply.status;
      onHeaders(reply.headers);
      if (status !== 200) return { fault: statusFault(reply, clock.now()) };
      const text = await unlessAborted(readBody(reply, path), until);
      return { ...readEnvelope(text, expected), askedAt, date: dateOf(reply.headers) };
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const fault = error instanceof BrandapiError ? null : faultOf(error, url.host);
    if (!fault) throw error;
    // The cause is shown with `--verbose`, unless a library quotes the key in it.
    return { fault: inspect(error).includes(key) ? { ...fault, cause: undefined } : fault };
  } finally {
    if (status === 0) onHeaders(null);
    onRequest?.({ path, status, ms: clock.monotonic() - sentAt });
  }
}

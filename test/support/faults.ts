import type { Brand } from "../../src/sandbox/brand.js";

/** A failure, or a response that differs from the API's. */
export type Fault =
  /** A response with this status, as the API or a proxy would send it. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The response for another brand, such as an earlier copy of this brand, or a copy with a record missing. */
  | { from: Brand }
  /** A 200 response with the JSON envelope that the function returns. */
  | { envelope: (envelope: Record<string, unknown>) => unknown }
  /** A 200 response with this body. */
  | { body: string | Uint8Array; headers?: Record<string, string> }
  /** The correct response, delayed by this many milliseconds. */
  | { delay: number }
  /**
   * The connection is reset before the response, the response is cut off, a captive portal responds, or nothing
   * responds.
   */
  | "reset"
  | "cut"
  | "html"
  | "stall"
  /** A body that never ends. */
  | "endless";

const json = { "content-type": "application/json; charset=utf-8" };
const portal = "<!doctype html><title>Sign in</title><p>Welcome to Hotel WiFi.</p>";

/**
 * Responds to a request with a fault.
 * @param respond returns the correct response
 * @param sleep advances the clock
 */
export async function injectFault(
  fault: Exclude<Fault, { from: Brand }>,
  respond: () => Promise<Response>,
  sleep: (ms: number) => Promise<void>,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  if (fault === "reset") throw connectionError("fetch failed", "ECONNRESET");
  if (fault === "stall") return await untilAborted(signal);
  if (fault === "html") return new Response(portal, { headers: { "content-type": "text/html" } });
  if (fault === "endless")
    return new Response(new ReadableStream({ pull: (to) => to.enqueue(chunk) }), { headers: json });
  if (fault === "cut") return truncateBody(await (await respond()).text());
  if ("status" in fault)
    return new Response(fault.body ?? "", { status: fault.status, headers: fault.headers ?? {} });
  if ("body" in fault)
    return new Response(typeof fault.body === "string" ? fault.body : new Uint8Array(fault.body), {
      headers: { ...json, ...fault.headers },
    });
  if ("envelope" in fault) {
    const changed = fault.envelope((await (await respond()).json()) as Record<string, unknown>);
    return new Response(JSON.stringify(changed), { headers: json });
  }
  await sleep(fault.delay);
  return await respond();
}

const chunk = new TextEncoder().encode("a".repeat(65_536));

/** Returns a response whose body fails halfway through with the error that undici throws. */
function truncateBody(body: string): Response {
  const half = new TextEncoder().encode(body.slice(0, body.length / 2));
  const stream = new ReadableStream({
    start: (to) => to.enqueue(half),
    pull: (to) => to.error(connectionError("terminated", "UND_ERR_SOCKET")),
  });
  return new Response(stream, { headers: json });
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function connectionError(message: string, code: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(code), { code }) });
}

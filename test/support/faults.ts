import type { Brand } from "../../src/sandbox/brand.js";

/** An answer other than the API's own. */
export type Fault =
  /** Another status, in the API's manner or in that of whatever stands before it. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The right answer of another brand: of this one as it was, or lacking a record. */
  | { from: Brand }
  /** A 200 whose envelope was changed; what is returned is sent as JSON. */
  | { envelope: (envelope: Record<string, unknown>) => unknown }
  /** A 200 with this body. */
  | { body: string | Uint8Array; headers?: Record<string, string> }
  /** The right answer, so many milliseconds later. */
  | { delay: number }
  /** The connection is cut before the answer, or in the middle of it; a captive portal; nothing ever comes. */
  | "reset"
  | "cut"
  | "html"
  | "stall"
  /** A body without an end. */
  | "endless";

const json = { "content-type": "application/json; charset=utf-8" };
const portal = "<!doctype html><title>Sign in</title><p>Welcome to Hotel WiFi.</p>";

/**
 * Spoils one answer.
 * @param sleep lets time pass
 */
export async function injectFault(
  fault: Exclude<Fault, { from: Brand }>,
  answer: () => Promise<Response>,
  sleep: (ms: number) => Promise<void>,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  if (fault === "reset") throw connectionError("fetch failed", "ECONNRESET");
  if (fault === "stall") return await untilAborted(signal);
  if (fault === "html") return new Response(portal, { headers: { "content-type": "text/html" } });
  if (fault === "endless")
    return new Response(new ReadableStream({ pull: (to) => to.enqueue(chunk) }), { headers: json });
  if (fault === "cut") return truncateBody(await (await answer()).text());
  if ("status" in fault)
    return new Response(fault.body ?? "", { status: fault.status, headers: fault.headers ?? {} });
  if ("body" in fault)
    return new Response(typeof fault.body === "string" ? fault.body : new Uint8Array(fault.body), {
      headers: { ...json, ...fault.headers },
    });
  if ("envelope" in fault) {
    const changed = fault.envelope((await (await answer()).json()) as Record<string, unknown>);
    return new Response(JSON.stringify(changed), { headers: json });
  }
  await sleep(fault.delay);
  return await answer();
}

const chunk = new TextEncoder().encode("a".repeat(65_536));

/** A body that ends in the middle, as undici reports it. */
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

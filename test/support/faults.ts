import type { SandboxApi, SandboxRequest } from "../../src/sandbox/api.js";
import type { Brand } from "../../src/sandbox/brand.js";
import { createVariantApi, type VariantApi } from "../sandbox/api-variants.js";

/** A network failure or an incorrect response. */
export type Fault =
  /** A response with the given status, from the API or a proxy. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The response for different data, such as an earlier state of the brand. */
  | { from: Brand }
  /** The correct response with a modified JSON envelope. */
  | { envelope(envelope: Record<string, unknown>): unknown }
  /** A response with status 200 and the given body. */
  | { body: string | Uint8Array; headers?: Record<string, string> }
  /** The connection is reset before the response. */
  | "reset"
  /** The connection is reset halfway through the body. */
  | "cut"
  /** A web page with status 200, as sent by a captive portal. */
  | "html"
  /** A body that never ends. */
  | "endless";

const json = { "content-type": "application/json; charset=utf-8" };
const portal = "<!doctype html><title>Sign in</title><p>Welcome to Hotel WiFi.</p>";

/** Sends a request to the API. If there is a fault, returns the faulty response or throws the network failure. */
export async function fetchWithFault(
  fault: Fault | undefined,
  api: VariantApi,
  now: () => number,
  url: string | URL,
  init: RequestInit,
): Promise<Response> {
  const respond = () => fetchOf(api)(url, init);
  if (fault === undefined) return await respond();
  if (fault === "reset") throw connectionError("fetch failed", "ECONNRESET");
  if (fault === "html") return new Response(portal, { headers: { "content-type": "text/html" } });
  if (fault === "endless")
    return new Response(new ReadableStream({ pull: (to) => to.enqueue(chunk) }), { headers: json });
  if (fault === "cut") return truncateBody(await (await respond()).text());
  if ("from" in fault) {
    const other = createVariantApi({ brands: [fault.from], now, variants: api.variants });
    return await fetchOf(other)(url, init);
  }
  if ("status" in fault)
    return new Response(fault.body ?? "", { status: fault.status, headers: fault.headers ?? {} });
  if ("body" in fault)
    return new Response(typeof fault.body === "string" ? fault.body : new Uint8Array(fault.body), {
      headers: { ...json, ...fault.headers },
    });
  const changed = fault.envelope((await (await respond()).json()) as Record<string, unknown>);
  return new Response(JSON.stringify(changed), { headers: json });
}

/** Returns a `fetch` that calls the API directly, without a network. */
function fetchOf(api: SandboxApi) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    init.signal?.throwIfAborted();
    const { origin, pathname, search } = new URL(url);
    const request: SandboxRequest = {
      method: init.method ?? "GET",
      url: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      address: "127.0.0.1",
    };
    const { status, headers, body } = origin === api.filesUrl ? api.handleFile(request) : api.handle(request);
    return new Response(typeof body === "string" ? body : new Uint8Array(body), { status, headers });
  };
}

const chunk = new TextEncoder().encode("a".repeat(65_536));

/** Returns a response that fails halfway through the body with undici's error for a closed connection. */
function truncateBody(body: string): Response {
  const half = new TextEncoder().encode(body.slice(0, body.length / 2));
  const stream = new ReadableStream({
    start: (to) => to.enqueue(half),
    pull: (to) => to.error(connectionError("terminated", "UND_ERR_SOCKET")),
  });
  return new Response(stream, { headers: json });
}

function connectionError(message: string, code: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(code), { code }) });
}

import type { FetchOptions, HttpResponse } from "../../src/deps.js";
import type { SandboxApi } from "../../src/sandbox/api.js";
import type { Brand } from "../../src/sandbox/brand.js";
import { createVariantApi, type VariantApi } from "../sandbox/api-variants.js";

/** A network failure or an incorrect response. */
export type Fault =
  /** A response with the given status, from the API or a proxy. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The response that the API would return for a different brand or for an earlier state of the brand. */
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
  options: FetchOptions = {},
): Promise<HttpResponse> {
  options.signal?.throwIfAborted();
  if (fault === undefined) return createResponse(respond(api, url, options));
  if (fault === "reset") throw connectionError("fetch failed", "ECONNRESET");
  if (fault === "html") return createResponse({ headers: { "content-type": "text/html" }, body: portal });
  if (fault === "endless") return { ...createResponse({ headers: json }), body: repeatForever(chunk) };
  if (fault === "cut") {
    const body = String(respond(api, url, options).body);
    return { ...createResponse({ headers: json }), body: failHalfway(body) };
  }
  if ("from" in fault) {
    const other = createVariantApi({ brands: [fault.from], now, variants: api.variants });
    return createResponse(respond(other, url, options));
  }
  if ("status" in fault) return createResponse(fault);
  if ("body" in fault) return createResponse({ headers: { ...json, ...fault.headers }, body: fault.body });
  const envelope = JSON.parse(String(respond(api, url, options).body)) as Record<string, unknown>;
  return createResponse({ headers: json, body: JSON.stringify(fault.envelope(envelope)) });
}

function respond(api: SandboxApi, url: string | URL, { method, headers = {} }: FetchOptions) {
  const { origin, pathname, search } = new URL(url);
  const request = { method: method ?? "GET", url: pathname + search, headers, address: "127.0.0.1" };
  return origin === api.filesUrl ? api.handleFile(request) : api.handle(request);
}

interface ResponseParts {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

/**
 * Creates a response without the web streams of a `Response`. Creating them would take up a tenth of a sync's time in a
 * test.
 */
function createResponse({ status = 200, headers = {}, body = "" }: ResponseParts): HttpResponse {
  return { status, headers: { get: (name) => headers[name] ?? null }, body: inOneChunk(body) };
}

async function* inOneChunk(body: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof body === "string" ? Buffer.from(body) : body;
}

const chunk = Buffer.from("a".repeat(65_536));

async function* repeatForever(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (;;) yield bytes;
}

/** Fails halfway through the body with undici's error for a closed connection. */
async function* failHalfway(body: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(body.slice(0, body.length / 2));
  throw connectionError("terminated", "UND_ERR_SOCKET");
}

function connectionError(message: string, code: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(code), { code }) });
}

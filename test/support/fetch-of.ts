import type { SandboxApi } from "../../src/sandbox/api.js";
import type { SandboxRequest } from "../../src/sandbox/protocol.js";

/** Returns a `fetch` that calls the API without sockets. The base URL is `https://brand.test/api/brand/v1`. */
export function fetchOf(api: SandboxApi) {
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
    const bytes = typeof body === "string" ? body : new Uint8Array(body);
    return new Response(request.method === "HEAD" ? null : bytes, { status, headers });
  };
}

export const testBaseUrl = "https://brand.test/api/brand/v1";

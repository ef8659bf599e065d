import { pipeline } from "node:stream";
import { constants, createBrotliDecompress, createUnzip } from "node:zlib";
import { EnvHttpProxyAgent, request } from "undici";
import type { Env, Fetch } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { ProxyUnreachable } from "./request-failure.js";

const [connectTimeoutMs, stallTimeoutMs] = [10_000, 60_000];

/**
 * Creates the function that sends all requests, with the proxy from `HTTPS_PROXY` and `NO_PROXY`. Redirects are not
 * followed, because that would forward the key. undici's `request` takes half the CPU time of Node's `fetch`.
 */
export function createFetch(env: Env): Fetch {
  const dispatcher = new EnvHttpProxyAgent({
    // Plain http is used only on loopback. The empty string keeps undici from using HTTP_PROXY, which would send the
    // key to the proxy unencrypted.
    httpProxy: "",
    httpsProxy: readProxy(env) ?? "",
    noProxy: env.no_proxy ?? env.NO_PROXY ?? "",
    connect: { timeout: connectTimeoutMs },
    headersTimeout: stallTimeoutMs,
    bodyTimeout: stallTimeoutMs,
    connections: 8,
    // A connection handles one request at a time, so a reset affects only one request.
    pipelining: 1,
  });
  return async (url, options = {}) => {
    // The URL may contain a password, so the message does not quote it.
    if (new URL(url).protocol === "https:" && readProxy(env) === null)
      throw new ConfigurationError("HTTPS_PROXY is not the URL of an HTTP proxy.", {
        hint: "use a URL such as http://proxy.example.com:8080",
      });
    const headers = { "accept-encoding": "gzip", "user-agent": "brandapi", ...options.headers };
    const {
      statusCode,
      headers: received,
      body,
    } = await request(url, { ...options, headers, dispatcher }).catch((error: unknown) => {
      throw asProxyError(error, new URL(url), readProxy(env));
    });
    const get = (name: string) => (name in received ? [received[name]].flat().join(", ") : null);
    const decoder = createDecoder(get("content-encoding") ?? "");
    const decoded = decoder ? pipeline(body, decoder, () => {}) : body;
    return { status: statusCode, headers: { get }, body: decoded };
  };
}

/** Wraps an error from the connection to the proxy, because it would otherwise be reported as an API error. */
function asProxyError(error: unknown, { protocol, port }: URL, proxyUrl: string | null): unknown {
  if (!proxyUrl || protocol !== "https:") return error;
  const proxy = new URL(proxyUrl);
  const proxyPort = proxy.port || (proxy.protocol === "https:" ? "443" : "80");
  // If host names have several addresses, the error contains one error for each.
  const attempts: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const attempt = (attempts[0] ?? {}) as NodeJS.ErrnoException & { port?: number; hostname?: string };
  const isPort =
    attempt.syscall === "connect" && String(attempt.port) === proxyPort && proxyPort !== (port || "443");
  const isHost = attempt.syscall === "getaddrinfo" && attempt.hostname === proxy.hostname;
  return isPort || isHost ? new ProxyUnreachable(`${proxy.hostname}:${proxyPort}`, { cause: error }) : error;
}

/**
 * Returns a decompressor for a Content-Encoding, or null if none is needed. Encodings other than gzip are supported,
 * because a proxy may choose one that was not requested. Truncated data is accepted, as in browsers.
 */
function createDecoder(coding: string) {
  if (/^br$/i.test(coding)) return createBrotliDecompress();
  const isGzipOrDeflate = /^((x-)?gzip|deflate)$/i.test(coding);
  return isGzipOrDeflate ? createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }) : null;
}

/** Returns the URL of the https proxy, an empty string if none is set, or null if the URL is invalid. */
function readProxy(env: Env): string | null {
  const set = env.https_proxy ?? env.HTTPS_PROXY ?? "";
  if (set === "") return "";
  // curl allows `http://` to be omitted as well.
  const url = set.includes("://") ? set : `http://${set}`;
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : null;
}

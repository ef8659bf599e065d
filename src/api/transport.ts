import { pipeline } from "node:stream";
import { constants, createBrotliDecompress, createUnzip } from "node:zlib";
import { type Dispatcher, EnvHttpProxyAgent, Pool, request } from "undici";
import type { Env, Fetch } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { ProxyRejection, ProxyUnreachable } from "./request-errors.js";

const [connectTimeoutMs, stallTimeoutMs] = [10_000, 60_000];

/**
 * Creates the function that sends all requests. Uses the proxy in `HTTPS_PROXY` unless `NO_PROXY` excludes the host.
 * Does not follow redirects, because they would expose the key. undici's `request` uses half the CPU time of Node's
 * `fetch`.
 */
export function createFetch(env: Env): Fetch {
  const dispatcher = new EnvHttpProxyAgent({
    // Prevents undici from falling back to HTTP_PROXY for unencrypted requests (to loopback addresses), because that
    // proxy could read the key.
    httpProxy: "",
    httpsProxy: readProxy(env) ?? "",
    noProxy: env.no_proxy ?? env.NO_PROXY ?? "",
    clientFactory: createProxyPool,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: stallTimeoutMs,
    bodyTimeout: stallTimeoutMs,
    connections: 8,
    // Without pipelining, a connection reset affects only one request.
    pipelining: 1,
  });
  return async (url, options = {}) => {
    // The message does not quote the URL, which may contain a password.
    if (new URL(url).protocol === "https:" && readProxy(env) === null)
      throw new ConfigurationError("HTTPS_PROXY is not the URL of an HTTP proxy.", {
        hint: "use a URL such as http://proxy.example.com:8080",
      });
    const headers = { "accept-encoding": "gzip", "user-agent": "brandapi", ...options.headers };
    const { statusCode, headers: received, body } = await request(url, { ...options, headers, dispatcher });
    // Trim trailing whitespace from header values, because undici does not.
    const get = (name: string) => (name in received ? [received[name]].flat().join(", ").trimEnd() : null);
    const decoder = createDecoder(get("content-encoding") ?? "");
    const decoded = decoder ? pipeline(body, decoder, () => {}) : body;
    return { status: statusCode, headers: { get }, body: decoded };
  };
}

/**
 * Creates a connection pool for the proxy. Converts connection errors to proxy errors, because they would otherwise be
 * reported as API errors. In addition, undici would retry forever if the proxy closed the connection.
 */
function createProxyPool({ host, origin }: URL, options: object): Pool {
  const pool = new Pool(origin, options);
  const send = pool.connect.bind(pool) as (
    request: Dispatcher.ConnectOptions,
  ) => Promise<Dispatcher.ConnectData>;
  const connect = async (request: Dispatcher.ConnectOptions) => {
    const data = await send(request).catch((cause: unknown) => {
      throw new ProxyUnreachable(host, { cause });
    });
    if (data.statusCode === 200) return data;
    data.socket.on("error", () => {}).destroy();
    throw new ProxyRejection(data.statusCode);
  };
  return Object.assign(pool, { connect });
}

/**
 * Returns a decompressor, or null if none is needed. Only gzip is requested, but a proxy may choose a different
 * encoding. Like browsers, the decompressor accepts truncated data.
 */
function createDecoder(coding: string) {
  if (/^br$/i.test(coding)) return createBrotliDecompress();
  const isGzipOrDeflate = /^((x-)?gzip|deflate)$/i.test(coding);
  return isGzipOrDeflate ? createUnzip({ finishFlush: constants.Z_SYNC_FLUSH }) : null;
}

function readProxy(env: Env): string | null {
  const set = env.https_proxy ?? env.HTTPS_PROXY ?? "";
  if (set === "") return "";
  // Like curl, accepts a proxy URL without `http://`.
  const url = set.includes("://") ? set : `http://${set}`;
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : null;
}

import type { Env, Fetch } from "../deps.js";
import { ConfigurationError } from "../errors.js";

/** Milliseconds: until connected; until the headers come, and between two pieces of the body. */
const [connectMs, stallMs] = [10_000, 60_000];

/**
 * Returns the one way out: Node's own `fetch` (which tests can intercept) over a dispatcher with time-outs, kept-alive
 * connections and the environment's proxies (`HTTPS_PROXY`, `NO_PROXY`). undici is loaded at the first request:
 * `--help` must not pay for it.
 */
export function createFetch(env: Env): Fetch {
  let loaded: ReturnType<typeof load> | undefined;
  return async (url, init) => {
    loaded ??= load(env);
    // The value stays out of the message: a proxy's address can carry a password.
    if (new URL(url).protocol === "https:" && proxyOf(env) === null)
      throw new ConfigurationError("HTTPS_PROXY is not the address of an http proxy.", {
        hint: "it reads like http://proxy.example.com:8080",
      });
    const { dispatcher, getGlobalDispatcher, setGlobalDispatcher } = await loaded;
    if (getGlobalDispatcher() !== dispatcher) setGlobalDispatcher(dispatcher);
    return await fetch(url, init);
  };
}

async function load(env: Env) {
  const { EnvHttpProxyAgent, getGlobalDispatcher, setGlobalDispatcher } = await import("undici");
  const dispatcher = new EnvHttpProxyAgent({
    // Plain http is only ever loopback. An empty string, unlike `undefined`, also keeps undici from reading
    // HTTP_PROXY itself: the key would go to that proxy in clear text.
    httpProxy: "",
    httpsProxy: proxyOf(env) ?? "",
    noProxy: env.no_proxy ?? env.NO_PROXY ?? "",
    connect: { timeout: connectMs },
    headersTimeout: stallMs,
    bodyTimeout: stallMs,
    connections: 8,
    // One request at a time on a connection: a reset then costs one request, not several.
    pipelining: 1,
  });
  return { dispatcher, getGlobalDispatcher, setGlobalDispatcher };
}

/** Returns the proxy for https; empty if there is none, null if it is no http address. As for curl, http:// may be missing. */
function proxyOf(env: Env): string | null {
  const set = env.https_proxy ?? env.HTTPS_PROXY ?? "";
  if (set === "") return "";
  const url = set.includes("://") ? set : `http://${set}`;
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : null;
}

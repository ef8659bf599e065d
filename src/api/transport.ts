import type { Dispatcher } from "undici";
import type { Env, Fetch } from "../deps.js";
import { ConfigurationError } from "../errors.js";

/** Milliseconds: until connected, until the headers are there, and between two pieces of the body. */
export interface TimeOuts {
  connectMs: number;
  headersMs: number;
  bodyMs: number;
}

export const timeOuts: TimeOuts = { connectMs: 10_000, headersMs: 60_000, bodyMs: 60_000 };

/**
 * Returns the one way out: Node's own `fetch` (which tests can intercept) over a dispatcher with time-outs, kept-alive
 * connections and the environment's proxies (`HTTPS_PROXY`, `NO_PROXY`). undici is loaded at the first request:
 * `--help` must not pay for it.
 */
export function createFetch(env: Env, limits: TimeOuts = timeOuts): Fetch {
  let dispatcher: Promise<Dispatcher> | undefined;
  return async (url, init) => {
    dispatcher ??= createDispatcher(env, limits);
    if (new URL(url).protocol === "https:" && proxyOf(env) === null) throw noProxy();
    const mine = await dispatcher;
    const { getGlobalDispatcher, setGlobalDispatcher } = await import("undici");
    if (getGlobalDispatcher() !== mine) setGlobalDispatcher(mine);
    try {
      return await fetch(url, init);
    } catch (error) {
      // If there was no connection, it was the proxy that could not be reached.
      if (error instanceof Error && isProxied(new URL(url), env)) Object.assign(error, { viaProxy: true });
      throw error;
    }
  };
}

async function createDispatcher(env: Env, limits: TimeOuts): Promise<Dispatcher> {
  const { EnvHttpProxyAgent } = await import("undici");
  return new EnvHttpProxyAgent({
    // Plain http is only ever loopback. An empty string, unlike `undefined`, also keeps undici from reading
    // HTTP_PROXY itself: the key would go to that proxy in clear text.
    httpProxy: "",
    httpsProxy: proxyOf(env) ?? "",
    noProxy: noProxyOf(env),
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.bodyMs,
    connections: 8,
    // One request at a time on a connection: a reset then costs one request, not several.
    pipelining: 1,
  });
}

function noProxyOf(env: Env): string {
  return env.no_proxy ?? env.NO_PROXY ?? "";
}

function isProxied({ hostname, protocol }: URL, env: Env): boolean {
  const excepted = noProxyOf(env).split(/[\s,]+/);
  const isExcepted = excepted.some(
    (name) => name === "*" || (name !== "" && `.${hostname}`.endsWith(name.replace(/^\*?\.?/, "."))),
  );
  return protocol === "https:" && proxyOf(env) !== "" && !isExcepted;
}

/** Returns the proxy for https; empty if there is none, null if it is not an http address. As for curl, http:// may be missing. */
function proxyOf(env: Env): string | null {
  const set = env.https_proxy ?? env.HTTPS_PROXY ?? "";
  if (set === "") return "";
  const url = set.includes("://") ? set : `http://${set}`;
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) return null;
  const { hash, pathname, search } = new URL(url);
  return pathname + search + hash === "/" ? url : null;
}

/** The value stays out of the message: a proxy's address can carry a password. */
function noProxy(): ConfigurationError {
  return new ConfigurationError("HTTPS_PROXY is not the address of an http proxy.", {
    hint: "it reads like http://proxy.example.com:8080",
  });
}

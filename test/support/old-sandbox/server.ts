import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, authorize, bearer, refuseMisplacedKey } from "./access.js";
import type { Dataset } from "./data/dataset.js";
import { withExtras } from "./data/extra.js";
import { type Endpoint, match } from "./endpoint.js";
import { type Answer, type Fault, faultyAnswer, sendFaulty } from "./faults.js";
import type { KeyRecord } from "./keys.js";
import { createLimiter, rateHeaders, retryAfterHeader } from "./limits.js";
import type { Settings } from "./options.js";
import { errorBody, Refusal } from "./refusal.js";
import { readQuery } from "./rules.js";
import { readTarget, type Target } from "./target.js";
import type { SandboxTime } from "./time.js";

/** The versioned root: every endpoint's path is below it. */
export const root = "/api/brand/v1";

/** The two keyless feeds of before: API document, Versioning 5. */
const retired = ["/api/public/brands/{partner_id}/recommendations", "/api/brands/{domain}/recommendations"];

export interface LogEntry {
  at: number;
  method: string;
  /** Path and query. */
  path: string;
  status: number;
  /** The name of the key; "" for none or an unknown one. */
  key: string;
}

export interface InterceptedRequest {
  /** Below the versioned root, such as `/orders`. */
  path: string;
  query: URLSearchParams;
  /** 1 for the first request that arrived. */
  count: number;
}

// biome-ignore lint/suspicious/noConfusingVoidType: most intercepts only change the data and return nothing.
export type Intercept = (request: InterceptedRequest) => void | Fault | Promise<void | Fault>;

export interface ServerParts {
  settings: Settings;
  time: SandboxTime;
  keys: readonly KeyRecord[];
  endpoints: readonly Endpoint[];
  /** The brand's data, brought up to now. */
  dataset(key: KeyRecord): Dataset;
  holdsKey(text: string): boolean;
  intercept(): Intercept | undefined;
  log(entry: LogEntry): void;
  closing: AbortSignal;
}

/** What answers the API's requests. Everything that arrives is counted and logged. */
export function createHandler(
  parts: ServerParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { settings, time } = parts;
  const limiter = createLimiter();
  const bySecret = new Map(parts.keys.map((key) => [key.secret, key]));
  let arrived = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = time.monotonic();
    const count = ++arrived;
    const target = readTarget(request);
    const key = bySecret.get(bearer(request) ?? "");
    const address = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
    const { headers, over } = countAgainstLimits(address, key);
    const path = target.path.startsWith(`${root}/`) ? target.path.slice(root.length) : target.path;
    const fault = await intercepted({ path, query: target.query, count });
    const delay = settings.latencyMs + (fault?.kind === "delay" ? fault.ms : 0);
    if (delay > 0) await time.sleep(delay, parts.closing);

    let answer: Answer;
    try {
      if (over) throw over;
      const body = successBody(request, target, key, address, startedAt);
      answer = {
        status: 200,
        headers: { ...headers, "content-type": "application/json; charset=utf-8" },
        body,
      };
    } catch (error) {
      answer = errorAnswer(error, headers);
    }
    if (fault) answer = faultyAnswer(fault, answer);
    parts.log({
      at: time.now(),
      method: request.method ?? "",
      path: request.url ?? "",
      status: answer.status,
      key: key?.name ?? "",
    });
    if (fault && sendFaulty(fault, answer, response)) return;
    response.writeHead(answer.status, {
      ...answer.headers,
      "content-length": Buffer.byteLength(answer.body),
    });
    response.end(answer.body);
  }

  async function intercepted(request: InterceptedRequest): Promise<Fault | undefined> {
    try {
      return (await parts.intercept()?.(request)) ?? undefined;
    } catch (error) {
      return { kind: "status", status: 500, body: `The intercept threw: ${String(error)}` };
    }
  }

  function countAgainstLimits(address: string, key: KeyRecord | undefined) {
    const { rateLimit } = settings;
    if (rateLimit === null) return { headers: {}, over: undefined };
    const now = time.monotonic();
    const byAddress = limiter.take(`address ${address}`, rateLimit * 2, now);
    const byKey = key ? limiter.take(`key ${key.id}`, rateLimit, now) : byAddress;
    // The tighter of the two is the one to report.
    const state =
      byAddress.over || (!byKey.over && byAddress.remaining < byKey.remaining) ? byAddress : byKey;
    const waiting = byAddress.over && byKey.over && byKey.resetMs > byAddress.resetMs ? byKey : state;
    const headers = rateHeaders(settings.rateHeaders, waiting, time.now());
    if (!waiting.over) return { headers, over: undefined };
    const retry = retryAfterHeader(settings.retryAfter, waiting, time.now());
    return {
      headers,
      over: new Refusal(429, "rate_limited", "Over the limit of requests per minute.", retry),
    };
  }

  /** Every check in its order, then the envelope. Throws a `Refusal`. */
  function successBody(
    request: IncomingMessage,
    target: Target,
    known: KeyRecord | undefined,
    address: string,
    startedAt: number,
  ): string {
    if (retired.some((path) => match(path, target.path))) {
      throw new Refusal(410, "gone", "This feed is retired: use GET /recommendations with a key.");
    }
    const found = findEndpoint(parts.endpoints, target.path);
    if (!found) throw new Refusal(404, "unknown_path", "No endpoint has this path.");
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw new Refusal(405, "read_only", "Every endpoint is a GET.", { allow: "GET, HEAD" });
    }
    refuseMisplacedKey(request, target.query, parts.holdsKey);
    const key = authenticate(known, time.now(), address);
    const { endpoint, params } = found;
    authorize(key, endpoint);
    const given = endpoint.strict ? target.query : onlyKnown(endpoint, target.query);
    const query = readQuery(endpoint.rules, given);
    const reply = endpoint.answer({ data: parts.dataset(key), key, query, params });
    const data = settings.extra ? extraData(reply.data) : reply.data;
    const envelope = {
      success: true,
      data,
      ...(reply.pagination ? { pagination: reply.pagination } : {}),
      _timing: { duration_ms: Math.round(time.monotonic() - startedAt) },
      ...(settings.extra ? { x_request: "added later" } : {}),
    };
    return JSON.stringify(envelope);
  }

  function errorAnswer(error: unknown, headers: Record<string, string>): Answer {
    const refusal =
      error instanceof Refusal ? error : new Refusal(500, "server_fault", `Server fault: ${String(error)}`);
    const { type, body } = errorBody(settings.errorBody, refusal);
    const typed: Record<string, string> = type === undefined ? {} : { "content-type": type };
    return { status: refusal.status, headers: { ...headers, ...typed, ...refusal.headers }, body };
  }

  return handle;
}

function findEndpoint(
  endpoints: readonly Endpoint[],
  path: string,
): { endpoint: Endpoint; params: string[] } | undefined {
  if (!path.startsWith(`${root}/`)) return undefined;
  for (const endpoint of endpoints) {
    const params = match(root + endpoint.path, path);
    if (params) return { endpoint, params };
  }
  return undefined;
}

function onlyKnown(endpoint: Endpoint, query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([name]) => Object.hasOwn(endpoint.rules, name)));
}

/** Extras go onto each record, so that a record looks the same in every list and by itself. */
export function extraData(data: unknown): unknown {
  return Array.isArray(data) ? data.map((record) => withExtras(record)) : withExtras(data);
}

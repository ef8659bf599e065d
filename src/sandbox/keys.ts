import { type Brand, day } from "./brand.js";
import { createRandom, randomHex, randomUuid } from "./data/random.js";
import { type ApiRequest, type Endpoint, ErrorResponse } from "./endpoint.js";

/** The scopes that a key can carry: API document, Authentication 4. */
export const scopes: readonly string[] =
  "analytics opportunities content roster recommendations gifts codes surveys"
    .split(" ")
    .map((name) => `${name}:read`);

export interface ApiKey {
  name: string;
  secret: string;
  /** In a few words, for the person who chooses one. */
  note: string;
  id: string;
  scopes: readonly string[];
  /** Milliseconds since 1970. */
  expiresAt: number;
  revoked: boolean;
  /** The addresses that the key may be used from; null: any. */
  allowlist: readonly string[] | null;
  /** True if the brand's plan includes Analytics. */
  hasAnalyticsPlan: boolean;
}

/** Returns a key with every scope. */
export function createKey(seed: number, name: string, now: number, differs: Partial<ApiKey> = {}): ApiKey {
  const d = createRandom(seed, `key ${name}`);
  return {
    name,
    id: randomUuid(d),
    secret: `brk_sandbox_${name.replace("-", "_")}_${randomHex(d, 8)}${randomHex(d, 8)}`,
    note: "every scope",
    scopes,
    // The document shows no longest life; this is a believable one.
    expiresAt: now + 3 * 365 * day,
    revoked: false,
    allowlist: null,
    hasAnalyticsPlan: true,
    ...differs,
  };
}

/** Returns a brand's keys, one for each thing that can be wrong with a key; the first has every scope. */
export function createKeys(seed: number, now: number): ApiKey[] {
  const key = (name: string, note: string, differs: Partial<ApiKey> = {}) =>
    createKey(seed, name, now, { note, ...differs });
  return [
    key("all", "every scope"),
    key("expiring", "every scope, expires in 3 days", { expiresAt: now + 3 * day }),
    key("expired", "expired yesterday: 401", { expiresAt: now - day }),
    key("revoked", "revoked: 401", { revoked: true }),
    key("ip-blocked", "allowed from 203.0.113.7 only: 403", { allowlist: ["203.0.113.7"] }),
    key("no-plan", "every scope, a plan without Analytics: 402", { hasAnalyticsPlan: false }),
    key("only-me", "no scope at all: /me only", { scopes: [] }),
    ...scopes.map((scope) => key(`only-${scope.split(":")[0]}`, `${scope} only`, { scopes: [scope] })),
  ];
}

/** Returns the brand's key that a request bears; undefined if its header is missing or malformed, or the key unknown. */
export function findKey({ headers }: ApiRequest, { keys }: Brand): ApiKey | undefined {
  const [, secret] = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(headers.authorization ?? "") ?? [];
  return keys.find((key) => key.secret === secret);
}

/** Names under which people put keys into URLs. */
const keyParameters = ["api_key", "apikey", "api-key", "key", "access_token", "token", "authorization"];

/** A key in the URL or in `x-api-key` is a 400, whatever else is right: API document, Authentication 6. */
export function refuseMisplacedKey(
  { url, headers }: ApiRequest,
  query: URLSearchParams,
  { keys }: Brand,
): void {
  if (headers["x-api-key"] !== undefined)
    throw new ErrorResponse(400, "key_in_header", "Send the key as Authorization: Bearer, not as x-api-key.");
  const isNamed = [...query.keys()].some((name) => keyParameters.includes(name.toLowerCase()));
  if (isNamed || keys.some(({ secret }) => url.includes(secret)))
    throw new ErrorResponse(400, "key_in_url", "Send the key as Authorization: Bearer, never in the URL.");
}

/** Returns the request's key if it may be used for the endpoint: 401, 403 for the address, then for the scope, 402. */
export function authorize(request: ApiRequest, brand: Brand, endpoint: Endpoint, now: number): ApiKey {
  const { scope, needsAnalyticsPlan } = endpoint;
  const key = findKey(request, brand);
  if (!key || key.revoked || key.expiresAt <= now)
    throw new ErrorResponse(
      401,
      "unauthorized",
      "The key is missing, malformed, unknown, expired or revoked.",
      {
        "www-authenticate": "Bearer",
      },
    );
  if (key.allowlist && !key.allowlist.includes(request.address))
    throw new ErrorResponse(403, "ip_not_allowed", "This key may not be used from this address.");
  if (scope !== null && !key.scopes.includes(scope))
    throw new ErrorResponse(403, "missing_scope", `This key lacks the scope ${scope}.`);
  if (needsAnalyticsPlan && !key.hasAnalyticsPlan)
    throw new ErrorResponse(
      402,
      "plan_required",
      "The plan lacks Analytics, or the subscription is inactive.",
    );
  return key;
}

/** Requests are counted over the last 60 seconds, however they fall: API document, Limits. */
const windowMs = 60_000;

/** The verdict of the limits on one request. */
export interface LimitResult {
  refusal: ErrorResponse | null;
  headers: Record<string, string>;
}

/**
 * Counts requests in a sliding window per key, and twice as many per address. Everything counts, refused requests too:
 * the harshest reading of a document that does not say.
 * @param perMinute null: no limit
 * @param now milliseconds of a clock that never jumps
 */
export function createRequestLimits(
  perMinute: number | null,
): (address: string, keyId: string | null, now: number) => LimitResult {
  const arrivals = new Map<string, number[]>();

  /** Returns how many more are let through (-1: not this one either), and the milliseconds until the next is. */
  function count(caller: string, limit: number, now: number) {
    const recent = (arrivals.get(caller) ?? []).filter((time) => now - time < windowMs);
    const times = [...recent, now].slice(-limit - 1);
    arrivals.set(caller, times);
    const left = limit - times.length;
    return { limit, left, waitMs: left < 0 ? (times[1] ?? now) + windowMs - now : 0 };
  }

  return (address, keyId, now) => {
    if (perMinute === null) return { refusal: null, headers: {} };
    const states = [
      count(`address ${address}`, perMinute * 2, now),
      ...(keyId === null ? [] : [count(`key ${keyId}`, perMinute, now)]),
    ];
    const tightest = states.reduce((a, b) => (b.left <= a.left ? b : a));
    const seconds = Math.max(1, Math.ceil(Math.max(...states.map(({ waitMs }) => waitMs)) / 1_000));
    const headers = {
      "x-ratelimit-limit": String(tightest.limit),
      "x-ratelimit-remaining": String(Math.max(0, tightest.left)),
      "x-ratelimit-reset": String(tightest.left < 0 ? seconds : windowMs / 1_000),
    };
    if (tightest.left >= 0) return { refusal: null, headers };
    const retry = { "retry-after": String(seconds) };
    const refusal = new ErrorResponse(429, "rate_limited", "Over the limit of requests per minute.", retry);
    return { refusal, headers };
  };
}

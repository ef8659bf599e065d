import { dayMs } from "../util/timestamps.js";
import type { SandboxRequest } from "./api.js";
import type { Brand } from "./brand.js";
import { type Endpoint, ErrorResponse } from "./endpoint.js";
import { endpoints } from "./endpoints.js";
import { createRandom, randomHex, randomUuid } from "./random.js";

export interface ApiKey {
  name: string;
  secret: string;
  /** A short description of the key, printed when the sandbox starts. */
  note: string;
  id: string;
  scopes: readonly string[];
  expiresAt: number;
  revoked: boolean;
  allowlist: readonly string[] | null;
  hasAnalyticsPlan: boolean;
}

export const scopes: readonly string[] = [
  ...new Set(endpoints.flatMap(({ scope }) => (scope === null ? [] : [scope]))),
];

export function createKey(seed: number, name: string, now: number, overrides: Partial<ApiKey> = {}): ApiKey {
  const random = createRandom(seed, `key ${name}`);
  return {
    name,
    id: randomUuid(random),
    secret: `brk_sandbox_${name.replace("-", "_")}_${randomHex(random, 8)}${randomHex(random, 8)}`,
    note: "all scopes",
    scopes,
    expiresAt: now + 3 * 365 * dayMs,
    revoked: false,
    allowlist: null,
    hasAnalyticsPlan: true,
    ...overrides,
  };
}

/** Creates keys with all scopes, keys with a single scope, and one key for each reason why the API rejects keys. */
export function createKeys(seed: number, now: number): ApiKey[] {
  const key = (name: string, note: string, overrides: Partial<ApiKey> = {}) =>
    createKey(seed, name, now, { note, ...overrides });
  return [
    key("all", "all scopes"),
    key("expiring", "all scopes, expires in 3 days", { expiresAt: now + 3 * dayMs }),
    key("expired", "expired yesterday: 401", { expiresAt: now - dayMs }),
    key("revoked", "revoked: 401", { revoked: true }),
    key("ip-blocked", "allowed only from 203.0.113.7: 403", { allowlist: ["203.0.113.7"] }),
    key("no-plan", "all scopes, on a plan without Analytics: 402", { hasAnalyticsPlan: false }),
    key("only-me", "no scope, only for /me", { scopes: [] }),
    ...scopes.map((scope) => key(`only-${scope.split(":")[0]}`, `${scope} only`, { scopes: [scope] })),
  ];
}

export function findKey({ headers }: SandboxRequest, { keys }: Brand): ApiKey | undefined {
  const [, secret] = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(headers.authorization ?? "") ?? [];
  return keys.find((key) => key.secret === secret);
}

const keyParameters = ["api_key", "apikey", "api-key", "key", "access_token", "token", "authorization"];

/** @throws ErrorResponse if the URL or `x-api-key` contains a key, even if the Authorization header is valid */
export function rejectMisplacedKey(
  { url, headers }: SandboxRequest,
  query: URLSearchParams,
  { keys }: Brand,
): void {
  if (headers["x-api-key"] !== undefined)
    throw new ErrorResponse(400, "key_in_header", "Send the key as Authorization: Bearer, not as x-api-key.");
  const hasKeyParameter = [...query.keys()].some((name) => keyParameters.includes(name.toLowerCase()));
  if (hasKeyParameter || keys.some(({ secret }) => url.includes(secret)))
    throw new ErrorResponse(400, "key_in_url", "Send the key as Authorization: Bearer, never in the URL.");
}

/**
 * Checks the key (401), the IP address (403), the scope (403) and the plan (402), in this order. Returns the key.
 * @throws ErrorResponse for the first check that fails
 */
export function authorize(request: SandboxRequest, brand: Brand, endpoint: Endpoint, now: number): ApiKey {
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

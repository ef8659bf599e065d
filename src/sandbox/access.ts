import type { Brand } from "./brand.js";
import type { ApiRequest, Endpoint } from "./endpoint.js";
import type { ApiKey } from "./keys.js";
import { Refusal } from "./refusal.js";

/** Returns the brand's key that a request bears; undefined if its header is missing or malformed, or the key unknown. */
export function keyOf({ headers }: ApiRequest, { keys }: Brand): ApiKey | undefined {
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
    throw new Refusal(400, "key_in_header", "Send the key as Authorization: Bearer, not as x-api-key.");
  const isNamed = [...query.keys()].some((name) => keyParameters.includes(name.toLowerCase()));
  if (isNamed || keys.some(({ secret }) => url.includes(secret)))
    throw new Refusal(400, "key_in_url", "Send the key as Authorization: Bearer, never in the URL.");
}

/** Returns the request's key if it may be used for the endpoint: 401, 403 for the address, then for the scope, 402. */
export function authorize(request: ApiRequest, brand: Brand, endpoint: Endpoint, now: number): ApiKey {
  const { scope, plan } = endpoint;
  const key = keyOf(request, brand);
  if (!key || key.revoked || key.expiresAt <= now)
    throw new Refusal(401, "unauthorized", "The key is missing, malformed, unknown, expired or revoked.", {
      "www-authenticate": "Bearer",
    });
  if (key.allowlist && !key.allowlist.includes(request.address))
    throw new Refusal(403, "ip_not_allowed", "This key may not be used from this address.");
  if (scope !== null && !key.scopes.includes(scope))
    throw new Refusal(403, "missing_scope", `This key lacks the scope ${scope}.`);
  if (plan && !key.plan)
    throw new Refusal(402, "plan_required", "The plan lacks Analytics, or the subscription is inactive.");
  return key;
}

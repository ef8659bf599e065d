import type { IncomingMessage } from "node:http";
import type { Endpoint } from "./endpoint.js";
import type { KeyRecord } from "./keys.js";
import { Refusal } from "./refusal.js";

/** The secret of a well-formed `Authorization: Bearer …` header. */
export function bearer(request: IncomingMessage): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** Names under which people put keys into URLs. */
const keyParameters = ["api_key", "apikey", "api-key", "key", "access_token", "token", "authorization"];

/** A key in the URL or in `x-api-key` is a 400, whatever else is right: API document, Authentication 6. */
export function refuseMisplacedKey(
  request: IncomingMessage,
  query: URLSearchParams,
  holdsKey: (text: string) => boolean,
): void {
  if (request.headers["x-api-key"] !== undefined) {
    throw new Refusal(400, "key_in_header", "Send the key as Authorization: Bearer, not as x-api-key.");
  }
  const inUrl = [...query.keys()].some((name) => keyParameters.includes(name.toLowerCase()));
  if (inUrl || holdsKey(request.url ?? "")) {
    throw new Refusal(400, "key_in_url", "Send the key as Authorization: Bearer, never in the URL.");
  }
}

/** The key, if it may be used at all: 401 (Authentication 7), then 403 for the address (Authentication 5). */
export function authenticate(key: KeyRecord | undefined, now: number, address: string): KeyRecord {
  if (!key || key.revoked || key.expiresAt <= now) {
    throw new Refusal(401, "unauthorized", "The key is missing, malformed, unknown, expired or revoked.", {
      "www-authenticate": "Bearer",
    });
  }
  if (key.allowlist && !key.allowlist.includes(address)) {
    throw new Refusal(403, "ip_not_allowed", "This key may not be used from this address.");
  }
  return key;
}

/** What the key may read: 403 for the scope (Authentication 8), then 402 for the plan (Authentication 9). */
export function authorize(key: KeyRecord, endpoint: Endpoint): void {
  if (endpoint.scope && !key.scopes.includes(endpoint.scope)) {
    throw new Refusal(403, "missing_scope", `This key lacks the scope ${endpoint.scope}.`);
  }
  if (endpoint.plan && !key.plan) {
    throw new Refusal(
      402,
      "plan_required",
      "The plan does not include Analytics, or the subscription is inactive.",
    );
  }
}

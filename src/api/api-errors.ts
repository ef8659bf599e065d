import {
  ApiUnavailable,
  BadRequest,
  type BrandapiError,
  Forbidden,
  NotFound,
  PaymentRequired,
  Unauthorized,
  UnexpectedResponse,
} from "../errors.js";
import { isObject, type Json } from "../util/json-value.js";
import { formatDuration, formatMinute } from "../util/times.js";
import { dayMs } from "../util/timestamp.js";
import type { Outage } from "./request-failure.js";

interface RequestInfo {
  path: string;
  baseUrl: string;
  rejectedKeyHint: string;
  scope: string | undefined;
  isWebPage: boolean;
  /** The response's `Location` header. */
  location: string | null;
}

const consolePage = "in the brand's console: Settings > Integrations > Brand API";

/**
 * Returns the error for a status other than 403 that is not retried (see "Errors" in the API documentation). Ignores
 * the response body, whose undocumented fields could contain the key.
 */
export function statusError(
  status: number,
  { path, baseUrl, location, rejectedKeyHint }: RequestInfo,
): BrandapiError {
  if (status === 400)
    return new BadRequest(`The API rejected the parameters for ${path} (400).`, {
      status,
      hint: "check the values; if they are correct, this version of brandapi may be incompatible with the API",
    });
  if (status === 401)
    return new Unauthorized("The API rejected the key (401): it is malformed, unknown, expired or revoked.", {
      status,
      hint: rejectedKeyHint,
    });
  if (status === 402)
    return new PaymentRequired(
      `The brand's plan does not include ${path}, or its subscription is inactive (402).`,
      { status, hint: "check the brand's plan; `brandapi sync` still syncs all other data" },
    );
  if (status === 404 && !/\d/.test(path))
    // Only paths with an ID contain digits. All paths without an ID exist, so a 404 for them means that the base URL is
    // wrong.
    return new NotFound(`Nothing found at ${baseUrl}${path} (404): the base URL looks wrong.`, {
      status,
      hint: "set `--base-url` to the API's root URL, which ends in /api/brand/v1",
    });
  if (status === 404)
    return new NotFound(`The API found nothing at ${path} for this brand (404).`, { status });
  if (status === 410)
    return new NotFound(`The API no longer provides ${path} (410).`, {
      status,
      hint: "look for a newer version of brandapi, and check that the base URL ends in /api/brand/v1",
    });
  if (status >= 300 && status < 400 && status !== 304)
    return new UnexpectedResponse(
      `The API redirected ${path} (${status}). Redirects are not followed, because they could expose the key.`,
      { status, hint: redirectHint(location, baseUrl) },
    );
  return new UnexpectedResponse(`The API responded to ${path} with an undocumented status: ${status}.`, {
    status,
    hint: "check that the base URL points to the brand API and ends in /api/brand/v1",
  });
}

/** Returns a hint with the target's host. The complete target could contain the key. */
function redirectHint(location: string | null, baseUrl: string): string {
  if (location === null || !URL.canParse(location, baseUrl)) return "set `--base-url` to the final address";
  const { origin } = new URL(location, baseUrl);
  return `the target is on ${origin}; if this is the API's server, set \`--base-url\` to the final address`;
}

const maxListedScopes = 20;

/** The key's scopes, "forbidden" if access to `/me` is denied as well, or null if the scopes are unknown. */
export type KeyScopes = readonly string[] | "forbidden" | null;

export function forbiddenError({ path, scope, isWebPage }: RequestInfo, keyScopes: KeyScopes): Forbidden {
  const status = 403;
  if (isWebPage)
    return new Forbidden(
      `The request for ${path} was refused with a web page (403), perhaps by a firewall or a proxy instead of the API.`,
      {
        status,
        affectsAllRequests: keyScopes === "forbidden",
        hint: `check the network's firewall and proxy, the base URL, and the key's IP allowlist ${consolePage}`,
      },
    );
  if (keyScopes === "forbidden")
    return new Forbidden(
      "The API refuses requests from this machine (403): its IP address is not on the key's allowlist.",
      {
        status,
        affectsAllRequests: true,
        hint: `add this machine's public IP address to the key's allowlist ${consolePage}`,
      },
    );
  if (keyScopes && scope !== undefined && !keyScopes.includes(scope))
    return new Forbidden(`The key lacks the scope ${scope}, which ${path} requires (403).`, {
      status,
      hint: `create a key with that scope ${consolePage}; then run \`brandapi login\``,
    });
  const list = keyScopes?.slice(0, maxListedScopes).join(", ") || "none";
  const listed = keyScopes ? `; the key's scopes: ${list}` : "";
  return new Forbidden(`The API denied access to ${path} (403)${listed}.`, {
    status,
    hint: `check that the key has ${scope ?? "the required scope"}, and check its IP allowlist, ${consolePage}`,
  });
}

export function readScopes(data: Json): readonly string[] | null {
  const key = isObject(data) ? data.key : undefined;
  const scopes = isObject(key) ? key.scopes : undefined;
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : null;
}

export function unavailableError(
  outage: Outage,
  path: string,
  now: number,
  spent: { attempts: number; elapsedMs: number; affectsOtherEndpoints: boolean },
): BrandapiError {
  const { reason, cause } = outage;
  if (outage.kind === "invalid-body")
    return new UnexpectedResponse(`The API's response to ${path} cannot be read: ${reason}.`, {
      status: 200,
      cause,
      hint: "check the base URL; the network's login page or a proxy may have sent the response",
    });
  if (outage.kind === "permanent")
    return new ApiUnavailable(`The API cannot be reached: ${reason}.`, {
      cause,
      hint: outage.hint,
      affectsAllRequests: true,
    });
  const attempts = spent.attempts === 1 ? "once" : `${spent.attempts} times`;
  const tried = `tried ${attempts} in ${formatDuration(spent.elapsedMs)}`;
  if (outage.kind === "unavailable" && outage.retryAfterMs !== null)
    return new ApiUnavailable(
      `The API is unavailable: ${reason}; it asks for a wait of ${formatDuration(outage.retryAfterMs)}, which is longer than the remaining \`--max-wait\` (${tried}).`,
      {
        status: outage.status,
        cause,
        affectsAllRequests: spent.affectsOtherEndpoints,
        hint: retryAfterHint(outage.retryAfterMs, now),
      },
    );
  return new ApiUnavailable(`The API is unavailable: ${reason} (${tried}).`, {
    status: outage.kind === "unavailable" ? outage.status : undefined,
    cause,
    affectsAllRequests:
      spent.affectsOtherEndpoints || (outage.kind === "network" && outage.cannotConnect === true),
    hint: "check the network, the base URL and any proxy, then try again later or with `--max-wait 30m`",
  });
}

export function retryAfterTooLong(ms: number, now: number): ApiUnavailable {
  return new ApiUnavailable(
    `The API asked brandapi to wait another ${formatDuration(ms)}, which is longer than the remaining \`--max-wait\`.`,
    { status: 429, affectsAllRequests: true, hint: retryAfterHint(ms, now) },
  );
}

/** Suggests a time to retry, because the next command does not know about the wait that the server requested. */
function retryAfterHint(ms: number, now: number): string {
  if (ms > dayMs) return "try again later";
  const minutes = Math.max(30, Math.ceil(ms / 60_000) + 1);
  return `try again after ${formatMinute(now + ms)} UTC, or let brandapi wait with \`--max-wait ${minutes}m\``;
}

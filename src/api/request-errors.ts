import { STATUS_CODES } from "node:http";
import type { HttpResponse } from "../deps.js";
import {
  ApiUnavailable,
  BadRequest,
  type BrandapiError,
  type FailureScope,
  Forbidden,
  NotFound,
  PaymentRequired,
  Unauthorized,
  UnexpectedResponse,
} from "../errors.js";
import { isObject, type Json } from "../util/json-value.js";
import { dayMs, formatDuration, formatMinute } from "../util/timestamps.js";
import { parseRetryAfter } from "./headers.js";
import { InvalidBody } from "./response.js";

/** A response with a status that is not retried. */
export interface RejectedRequest {
  kind: "rejected";
  status: number;
  /** True for an HTML body, which does not come from the API. */
  isWebPage: boolean;
  /** The `Location` header of a redirect. */
  location: string | null;
}

/**
 * A failure without a usable response:
 * - unavailable: a status that is retried (see "Errors" in the API documentation)
 * - network: the connection was refused or lost, or it timed out
 * - invalid-body: a 200 response that is not JSON, such as a login page or a truncated body
 * - permanent: a failure that is not retried, such as an untrusted certificate
 *
 * In error messages, `reason` follows a colon.
 */
export type RequestFailure = { reason: string; cause?: unknown } & (
  | { kind: "unavailable"; status: number; retryAfterMs: number | null }
  | { kind: "network"; cannotConnect?: boolean }
  | { kind: "invalid-body" }
  | { kind: "permanent"; hint: string }
);

export class RequestTimeout extends Error {}

/** Thrown if the proxy is unreachable. The message is the proxy's host and port. */
export class ProxyUnreachable extends Error {}

/** Thrown if the proxy responds with an error instead of connecting to the API. */
export class ProxyRejection extends Error {
  constructor(readonly status: number) {
    super(`HTTP ${status}`);
  }
}

export function classifyStatus(
  { status, headers }: HttpResponse,
  now: number,
): RejectedRequest | RequestFailure {
  const canRetry = status === 408 || status === 429 || (status >= 500 && status < 600);
  if (!canRetry) {
    const isWebPage = /html/i.test(headers.get("content-type") ?? "");
    return { kind: "rejected", status, isWebPage, location: headers.get("location") };
  }
  const name = STATUS_CODES[status];
  const reason = name === undefined ? `HTTP ${status}` : `HTTP ${status} ${name}`;
  return { kind: "unavailable", status, reason, retryAfterMs: parseRetryAfter(headers, now) };
}

const errorTexts: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "timed out",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "the network is unreachable",
  ENOTFOUND: "host name not found (DNS)",
  EAI_AGAIN: "the DNS lookup failed",
  UND_ERR_CONNECT_TIMEOUT: "timed out while connecting",
  UND_ERR_HEADERS_TIMEOUT: "timed out while waiting for the response",
  UND_ERR_BODY_TIMEOUT: "the response stalled",
  UND_ERR_SOCKET: "the connection was closed before the response was complete",
  HTTPParserError: "the response is not HTTP",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the response was truncated",
};
const connectCodes = /^(ECONNREFUSED|EHOST|ENET|ENOTFOUND|EAI_|UND_ERR_CONNECT)/;
const tlsCodes = /^(EPROTO$|ERR_(SSL|OSSL)_)/;
const certificateCodes = /CERT|UNABLE_TO_|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH|^UNSPECIFIED$/;
const decompressionCodes = /^(Z_|ERR__ERROR_|ERR_BROTLI)/;
const networkCodes = /^(E(?!RR_)|ERR_(SOCKET|STREAM|TLS)_|HTTPParser|UND_ERR_(?!INVALID|NOT_SUPPORTED))/;

/** Classifies an error thrown by a request. Returns null if the error is a bug in brandapi. */
export function classifyError(cause: unknown, host: string): RequestFailure | null {
  if (cause instanceof InvalidBody) return { kind: "invalid-body", reason: cause.message };
  if (cause instanceof RequestTimeout) return { kind: "network", reason: cause.message };
  if (cause instanceof ProxyRejection) {
    const reason = `the proxy refused the connection to ${host} (HTTP ${cause.status})`;
    if (cause.status !== 407) return { kind: "network", reason, cause };
    const hint = "add the proxy's username and password to HTTPS_PROXY";
    return { kind: "permanent", reason, hint, cause };
  }
  const server = cause instanceof ProxyUnreachable ? `the proxy ${cause.message} (HTTPS_PROXY)` : host;
  const code = rootCode(cause);
  if (decompressionCodes.test(code))
    return { kind: "invalid-body", reason: "its compressed body is damaged", cause };
  // undici throws an assertion error for a status below 100, which HTTP does not allow.
  if (code === "ERR_ASSERTION") return { kind: "invalid-body", reason: "it is not valid HTTP", cause };
  if (code.startsWith("ERR_ENCODING_")) return { kind: "invalid-body", reason: "its body is not UTF-8 text" };
  if (tlsCodes.test(code)) {
    const hint = "check the base URL's scheme and port, and any proxy";
    return { kind: "permanent", reason: `the TLS handshake with ${server} failed`, hint, cause };
  }
  if (certificateCodes.test(code)) {
    const hint = "if your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file";
    const reason = `the certificate of ${server} is not trusted (${code})`;
    return { kind: "permanent", reason, hint, cause };
  }
  const text = errorTexts[code] ?? "the connection was lost";
  if (cause instanceof ProxyUnreachable && code === "UND_ERR_SOCKET") {
    const reason = `${server} closed the connection to ${host}`;
    return { kind: "network", reason, cause, cannotConnect: true };
  }
  if (connectCodes.test(code))
    return { kind: "network", reason: `cannot connect to ${server}: ${text}`, cause, cannotConnect: true };
  return networkCodes.test(code) ? { kind: "network", reason: `${host}: ${text}`, cause } : null;
}

/** Returns the code of the innermost error, because undici wraps operating system errors. */
function rootCode(error: unknown): string {
  let code = "";
  for (let current = error; current instanceof Error; current = current.cause) {
    if ("code" in current && typeof current.code === "string") code = current.code;
    // Errors from undici's parser have no code, so use their name.
    if (current.name === "HTTPParserError") code = current.name;
  }
  return code;
}

const consolePage = "in the brand's console: Settings > Integrations > Brand API";

/** The key's scopes, "forbidden" if access to `/me` is denied as well, or null if the scopes are unknown. */
export type KeyScopes = readonly string[] | "forbidden" | null;

interface RequestContext {
  path: string;
  baseUrl: string;
  rejectedKeyHint: string;
  keyReplacement: string;
  /** The scope that the path requires. */
  scope: string | undefined;
  /** The key's scopes if the status is 403; otherwise null. */
  keyScopes: KeyScopes;
}

/** Matches the part of a path that precedes an ID (see "Endpoints" in the API documentation). */
export const pathWithId = /^\/(?:content|opportunities|surveys)(?=\/)/;

/**
 * Returns the error for a status that is not retried (see "Errors" in the API documentation). Ignores the response
 * body, whose undocumented fields could contain the key.
 */
export function createRejectionError(rejected: RejectedRequest, context: RequestContext): BrandapiError {
  const { location, status } = rejected;
  const { path, baseUrl, rejectedKeyHint } = context;
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
  if (status === 403) return createForbiddenError(rejected, context);
  if (status === 404 && pathWithId.test(path))
    return new NotFound(`The API found nothing at ${path} for this brand (404).`, { status });
  // Every documented path without an ID exists, so a 404 means that the base URL is wrong.
  if (status === 404)
    return new NotFound(`Nothing found at ${baseUrl}${path} (404): the base URL looks wrong.`, {
      status,
      hint: "set `--base-url` to the API's root URL, which ends in /api/brand/v1",
    });
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

/** Returns a hint that names only the host of a redirect's target, because the full URL could contain the key. */
function redirectHint(location: string | null, baseUrl: string): string {
  if (location === null || !URL.canParse(location, baseUrl)) return "set `--base-url` to the final address";
  const { origin } = new URL(location, baseUrl);
  return `the target is on ${origin}; if this is the API's server, set \`--base-url\` to the final address`;
}

const maxListedScopes = 20;

function createForbiddenError(
  { isWebPage, status }: RejectedRequest,
  { path, scope, keyScopes, keyReplacement }: RequestContext,
): Forbidden {
  if (isWebPage)
    return new Forbidden(
      `The request for ${path} was rejected with a web page (403), perhaps by a firewall or a proxy rather than the API.`,
      {
        status,
        failureScope: keyScopes === "forbidden" ? "command" : "resource",
        hint: `check the network's firewall and proxy, the base URL, and the key's IP allowlist ${consolePage}`,
      },
    );
  if (keyScopes === "forbidden")
    return new Forbidden(
      "The API refuses requests from this machine (403): its IP address is not on the key's allowlist.",
      {
        status,
        failureScope: "command",
        hint: `add this machine's public IP address to the key's allowlist ${consolePage}`,
      },
    );
  if (keyScopes && scope !== undefined && !keyScopes.includes(scope))
    return new Forbidden(`The key lacks the scope ${scope}, which ${path} requires (403).`, {
      status,
      hint: `create a key with that scope ${consolePage}; then ${keyReplacement}`,
    });
  const list = keyScopes?.slice(0, maxListedScopes).join(", ") || "none";
  const listed = keyScopes ? `; the key's scopes: ${list}` : "";
  return new Forbidden(`The API denied access to ${path} (403)${listed}.`, {
    status,
    hint: `check that the key has ${scope ?? "the required scope"}, and check its IP allowlist ${consolePage}`,
  });
}

export function parseScopes(data: Json): readonly string[] | null {
  const key = isObject(data) ? data.key : undefined;
  const scopes = isObject(key) ? key.scopes : undefined;
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : null;
}

/** Returns the error for a request that failed without a usable response. */
export function createFailureError(
  failure: RequestFailure,
  path: string,
  now: number,
  spent: { attempts: number; elapsedMs: number; failureScope: FailureScope },
): BrandapiError {
  const { reason, cause } = failure;
  if (failure.kind === "invalid-body")
    return new UnexpectedResponse(`The API's response to ${path} cannot be read: ${reason}.`, {
      cause,
      hint: "check the base URL, and check for a proxy or a network login page that intercepts requests",
    });
  if (failure.kind === "permanent")
    return new ApiUnavailable(`The API cannot be reached: ${reason}.`, {
      cause,
      hint: failure.hint,
      failureScope: "outage",
    });
  const attempts = spent.attempts === 1 ? "once" : `${spent.attempts} times`;
  const tried = `tried ${attempts} in ${formatDuration(spent.elapsedMs)}`;
  if (failure.kind === "unavailable" && failure.retryAfterMs !== null)
    return new ApiUnavailable(
      `The API is unavailable: ${reason}; it asked brandapi to wait ${formatDuration(failure.retryAfterMs)}, which is longer than the remaining \`--max-wait\` (${tried}).`,
      {
        status: failure.status,
        cause,
        failureScope: spent.failureScope,
        hint: retryAfterHint(failure.retryAfterMs, now),
      },
    );
  return new ApiUnavailable(`The API is unavailable: ${reason} (${tried}).`, {
    status: failure.kind === "unavailable" ? failure.status : undefined,
    cause,
    failureScope: failure.kind === "network" && failure.cannotConnect ? "outage" : spent.failureScope,
    hint: "check the network, the base URL and any proxy, then try again later or with `--max-wait 30m`",
  });
}

export function createRetryAfterError(ms: number, now: number): ApiUnavailable {
  return new ApiUnavailable(
    `The API asked brandapi to wait another ${formatDuration(ms)}, which is longer than the remaining \`--max-wait\`.`,
    { status: 429, failureScope: "outage", hint: retryAfterHint(ms, now) },
  );
}

/** Suggests a time to retry, because the next command does not know about the wait that the server requested. */
function retryAfterHint(ms: number, now: number): string {
  if (ms > dayMs) return "try again later";
  const minutes = Math.max(30, Math.ceil(ms / 60_000) + 1);
  return `try again after ${formatMinute(now + ms)} UTC, or let brandapi wait with \`--max-wait ${minutes}m\``;
}

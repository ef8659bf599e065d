import { STATUS_CODES } from "node:http";
import type { HttpResponse } from "../deps.js";
import { readRetryAfter } from "./headers.js";
import { InvalidBody } from "./response.js";

/** The reason completes the sentence "The API is unavailable: …". */
export type RequestFailure = RefusedRequest | Outage;

export interface RefusedRequest {
  kind: "refused";
  reason: string;
  status: number;
  /** True for an HTML body, which does not come from the API. */
  isWebPage: boolean;
  /** The `Location` header of a redirect. */
  location: string | null;
}

/**
 * A failure without a usable response:
 * - unavailable: a status that is retried (see "Errors" in the API documentation)
 * - network: the connection was refused, was lost or timed out
 * - invalid-body: a 200 response that is not JSON, such as a login page or a truncated body
 * - permanent: a failure that is not retried, such as an untrusted certificate
 */
export type Outage = { reason: string; cause?: unknown } & (
  | { kind: "unavailable"; status: number; retryAfterMs: number | null }
  | { kind: "network"; cannotConnect?: boolean }
  | { kind: "invalid-body" }
  | { kind: "permanent"; hint: string }
);

export class RequestTimeout extends Error {}

/** Thrown if the proxy is unreachable. The message is the proxy's host and port. */
export class ProxyUnreachable extends Error {}

export function statusFailure({ status, headers }: HttpResponse, now: number): RequestFailure {
  const name = STATUS_CODES[status];
  const reason = name === undefined ? `HTTP ${status}` : `HTTP ${status} ${name}`;
  const canRetry = status === 408 || status === 429 || (status >= 500 && status < 600);
  if (!canRetry) {
    const isWebPage = /\bhtml\b/i.test(headers.get("content-type") ?? "");
    return { kind: "refused", status, reason, isWebPage, location: headers.get("location") };
  }
  return { kind: "unavailable", status, reason, retryAfterMs: readRetryAfter(headers, now) };
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
const certificateCodes =
  /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH|^CRL_|^UNSPECIFIED$/;
const decompressionCodes = /^(Z_|ERR__ERROR_|ERR_BROTLI)/;
const networkCodes = /^(E(?!RR_)|ERR_(SOCKET|STREAM|TLS)_|HTTPParser|UND_ERR_(?!INVALID|NOT_SUPPORTED))/;

/** Classifies an error from a request. Returns null for a bug in this program. */
export function classifyError(cause: unknown, host: string): Outage | null {
  if (cause instanceof InvalidBody) return { kind: "invalid-body", reason: cause.message };
  if (cause instanceof RequestTimeout) return { kind: "network", reason: cause.message };
  const server = cause instanceof ProxyUnreachable ? `the proxy ${cause.message} (HTTPS_PROXY)` : host;
  const { code, message } = rootCause(cause);
  if (decompressionCodes.test(code))
    return { kind: "invalid-body", reason: "its compressed body is damaged", cause };
  // undici throws an assertion error for a status below 100.
  if (code === "ERR_ASSERTION") return { kind: "invalid-body", reason: "it is not valid HTTP", cause };
  if (code.startsWith("ERR_ENCODING_")) return { kind: "invalid-body", reason: "its body is not UTF-8 text" };
  if (tlsCodes.test(code)) {
    const hint = "check the base URL's scheme and port, and any proxy";
    return { kind: "permanent", reason: `the TLS handshake with ${server} failed`, hint, cause };
  }
  if (certificateCodes.test(code)) {
    const hint = "if your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file";
    return {
      kind: "permanent",
      reason: `the certificate of ${server} is not trusted (${code})`,
      hint,
      cause,
    };
  }
  const proxyStatus = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (proxyStatus !== undefined) {
    const reason = `the proxy refused the connection to ${host} (HTTP ${proxyStatus})`;
    if (proxyStatus !== "407") return { kind: "network", reason, cause };
    return {
      kind: "permanent",
      reason,
      hint: "add the proxy's user name and password to HTTPS_PROXY",
      cause,
    };
  }
  const text = errorTexts[code] ?? "the connection was lost";
  if (cause instanceof ProxyUnreachable && code === "UND_ERR_SOCKET")
    return {
      kind: "network",
      reason: `${server} closed the connection to ${host}`,
      cause,
      cannotConnect: true,
    };
  if (connectCodes.test(code))
    return { kind: "network", reason: `cannot connect to ${server}: ${text}`, cause, cannotConnect: true };
  return networkCodes.test(code) ? { kind: "network", reason: `${host}: ${text}`, cause } : null;
}

/** Returns the innermost code and message, because undici wraps operating system errors. */
function rootCause(error: unknown): { code: string; message: string } {
  let [code, message] = ["", ""];
  let current: unknown = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    if ("code" in current && typeof current.code === "string") code = current.code;
    // Errors from undici's parser have a name but no code.
    if (current.name === "HTTPParserError") code = current.name;
    message = current.message;
    current = current.cause;
  }
  return { code, message };
}

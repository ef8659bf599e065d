import { STATUS_CODES } from "node:http";
import type { HttpResponse } from "../deps.js";
import { readRetryAfter } from "./headers.js";

/**
 * The reason why a request has no answer.
 * - status:    the API answered something other than 200
 * - network:   no whole answer came: refused, reset, timed out, cut off; `everywhere` if there was no connection
 * - garbled:   a 200 whose body is not JSON: a captive portal, a cut file
 * - permanent: trying again cannot help: a certificate, an unknown protocol
 */
export type RequestFailure = { reason: string; cause?: unknown } & (
  | { kind: "status"; status: number; retryAfterMs: number | null }
  | { kind: "network"; everywhere?: boolean }
  | { kind: "garbled" }
  | { kind: "permanent"; hint: string }
);

/** Thrown for a body that is not JSON text. */
export class InvalidBody extends Error {}

/** Thrown when a request takes longer than its deadline. */
export class RequestTimeout extends Error {}

const words: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "timed out",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ENOTFOUND: "the name is unknown (DNS)",
  EAI_AGAIN: "the name could not be looked up (DNS)",
  UND_ERR_CONNECT_TIMEOUT: "timed out while connecting",
  UND_ERR_HEADERS_TIMEOUT: "no answer came in time",
  UND_ERR_BODY_TIMEOUT: "the answer stalled",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  HTTPParserError: "the answer is not HTTP",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer was cut short",
};
const connecting = /^(ECONNREFUSED|EHOST|ENET|ENOTFOUND|EAI_|UND_ERR_CONNECT)/;
const certificate =
  /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH|^CRL_|^UNSPECIFIED$/;
const compression = /^(Z_|ERR__ERROR_|ERR_BROTLI)/;
/** Codes of the system, of Node and of undici, but for those of a call that is wrong. */
const network = /^(E(?!RR_)|ERR_(SOCKET|STREAM|TLS)_|HTTPParser|UND_ERR_(?!INVALID|NOT_SUPPORTED))/;

/** Returns the fault that an exception of a request or of a body's stream is; null for a defect of this program. */
export function classifyError(cause: unknown, host: string): RequestFailure | null {
  if (cause instanceof InvalidBody) return { kind: "garbled", reason: cause.message };
  if (cause instanceof RequestTimeout) return { kind: "network", reason: cause.message };
  const { code, message } = rootOf(cause);
  if (compression.test(code)) return { kind: "garbled", reason: "its compressed body is damaged", cause };
  // undici asserts that a status is at least 100.
  if (code === "ERR_ASSERTION") return { kind: "garbled", reason: "it is not valid HTTP", cause };
  if (code.startsWith("ERR_ENCODING_")) return { kind: "garbled", reason: "its body is not UTF-8 text" };
  const permanent = (reason: string, hint: string): RequestFailure => ({
    kind: "permanent",
    reason,
    hint,
    cause,
  });
  if (code === "EPROTO" || /^ERR_(SSL|OSSL)_/.test(code))
    return permanent(
      `${host} does not speak TLS as expected`,
      "check the base URL's scheme and port, and any proxy",
    );
  if (certificate.test(code))
    return permanent(
      `the certificate of ${host} cannot be trusted (${code})`,
      "if your network has its own certificate authority, point NODE_EXTRA_CA_CERTS at its PEM file",
    );
  const proxy = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  const byProxy = `the proxy on the way to ${host} answered ${proxy}`;
  if (proxy === "407") return permanent(byProxy, "put the user and password into HTTPS_PROXY");
  if (proxy !== undefined) return { kind: "network", reason: byProxy, cause };
  const said = words[code] ?? "the connection broke off";
  if (connecting.test(code))
    return { kind: "network", reason: `could not connect to ${host}: ${said}`, cause, everywhere: true };
  return network.test(code) ? { kind: "network", reason: `${host}: ${said}`, cause } : null;
}

/** Returns the innermost code and message: errors of connections wrap the system's. */
function rootOf(error: unknown): { code: string; message: string } {
  let [code, message] = ["", ""];
  let each: unknown = error;
  for (let depth = 0; depth < 6 && each instanceof Error; depth += 1) {
    if ("code" in each && typeof each.code === "string") code = each.code;
    // undici's parser gives its errors a name only.
    if (each.name === "HTTPParserError") code = each.name;
    message = each.message;
    each = each.cause;
  }
  return { code, message };
}

/** Returns the fault of an answer that is not a 200. @param now milliseconds since 1970 */
export function statusFailure({ status, headers }: HttpResponse, now: number): RequestFailure {
  const words = STATUS_CODES[status] ? `, ${STATUS_CODES[status].toLowerCase()}` : "";
  const retryAfterMs = readRetryAfter(headers, now);
  return { kind: "status", status, reason: `it answered ${status}${words}`, retryAfterMs };
}

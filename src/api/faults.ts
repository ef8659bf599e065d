import { readRetryAfter } from "./server-limit.js";

/**
 * What went wrong with one request.
 * - status:    the API answered something other than 200
 * - network:   no whole answer came: refused, reset, timed out, cut off; `everywhere` if there was no connection
 * - garbled:   a 200 whose body is not JSON: a captive portal, a cut file
 * - permanent: trying again cannot help: a certificate, an unknown protocol
 */
export type Fault =
  | { kind: "status"; status: number; reason: string; retryAfterMs: number | null }
  | { kind: "network"; reason: string; cause?: unknown; everywhere?: boolean }
  | { kind: "garbled"; reason: string; cause?: unknown }
  | { kind: "permanent"; reason: string; hint: string; cause?: unknown };

/** Thrown for a body that is not JSON text. */
export class Garbled extends Error {}

/** Thrown when a request takes longer than its deadline. */
export class TooSlow extends Error {}

const words: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  ECONNABORTED: "the connection was aborted",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "timed out",
  EHOSTUNREACH: "the host cannot be reached",
  EHOSTDOWN: "the host is down",
  ENETUNREACH: "the network cannot be reached",
  ENETDOWN: "the network is down",
  EADDRNOTAVAIL: "no local address is free",
  EMFILE: "too many open files",
  ENOTFOUND: "the name is unknown (DNS)",
  EAI_AGAIN: "the name could not be looked up (DNS)",
  UND_ERR_CONNECT_TIMEOUT: "timed out while connecting",
  UND_ERR_HEADERS_TIMEOUT: "no answer came in time",
  UND_ERR_BODY_TIMEOUT: "the answer stalled",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer was cut short",
  UND_ERR_CLOSED: "the connection was closed",
  UND_ERR_DESTROYED: "the connection was closed",
  UND_ERR_ABORTED: "the connection was aborted",
};

const connecting = /^(ECONNREFUSED|EHOST|ENET|ENOTFOUND|EAI_|EADDR|UND_ERR_CONNECT)/;
const certificate =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET|UNABLE_TO_DECRYPT|ALTNAME|INVALID_CA|INVALID_PURPOSE/;
const compression = /^(Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZLIB)/;

/** Returns the fault that an exception of `fetch` or of a body's stream is; null for a defect of this program. */
export function faultOf(error: unknown, host: string): Fault | null {
  if (error instanceof Garbled) return { kind: "garbled", reason: error.message, cause: error.cause };
  if (error instanceof TooSlow) return { kind: "network", reason: error.message };
  const { code, message } = rootOf(error);
  const cause = error;
  if (compression.test(code)) {
    return { kind: "garbled", reason: "its compressed body is damaged", cause };
  }
  if (message === "bad port") {
    const reason = `could not connect to ${host}: the port is not one for HTTP`;
    return { kind: "permanent", reason, hint: "check the base URL's port", cause };
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) {
    const reason = `${host} does not speak TLS as expected`;
    return { kind: "permanent", reason, hint: "check the base URL's scheme and port, and any proxy", cause };
  }
  if (certificate.test(code)) {
    const reason = `the certificate of ${host} cannot be trusted (${code})`;
    const hint =
      "if your network has its own certificate authority, point NODE_EXTRA_CA_CERTS at its PEM file";
    return { kind: "permanent", reason, hint, cause };
  }
  const proxyStatus = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (proxyStatus === "407") {
    const reason = `the proxy on the way to ${host} asks for a password (407)`;
    return { kind: "permanent", reason, hint: "put the user and password into HTTPS_PROXY", cause };
  }
  if (proxyStatus !== undefined) {
    return { kind: "network", reason: `the proxy on the way to ${host} answered ${proxyStatus}`, cause };
  }
  const said = words[code];
  if (said !== undefined) {
    const everywhere = connecting.test(code);
    const place = error instanceof Error && "viaProxy" in error ? "the proxy that HTTPS_PROXY names" : host;
    const reason = everywhere ? `could not connect to ${place}: ${said}` : `${host}: ${said}`;
    return { kind: "network", reason, cause, everywhere };
  }
  if (error instanceof TypeError && /^(terminated|fetch failed)$/.test(error.message)) {
    return { kind: "network", reason: `${host}: the connection broke off${code ? ` (${code})` : ""}`, cause };
  }
  return null;
}

/** Returns the innermost code and message: `fetch` wraps the system's error, once or twice. */
function rootOf(error: unknown): { code: string; message: string } {
  let [code, message] = ["", ""];
  for (const each of causesOf(error)) {
    if ("code" in each && typeof each.code === "string") code = each.code;
    message = each.message;
  }
  return { code, message };
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let each = error; each instanceof Error && causes.length < 6; each = each.cause) causes.push(each);
  return causes;
}

/** Removes the cause, which `--verbose` shows, if a library quotes the key in it. */
export function withoutKey(fault: Fault, key: string): Fault {
  const isQuoted =
    "cause" in fault && causesOf(fault.cause).some((each) => `${each.message}${each.stack}`.includes(key));
  return isQuoted ? { ...fault, cause: undefined } : fault;
}

const statusWords: Record<number, string> = {
  408: "it answered 408, request time-out",
  429: "it answered 429, too many requests",
  500: "it answered 500, a fault of the server",
  502: "it answered 502, bad gateway",
  503: "it answered 503, briefly unavailable",
  504: "it answered 504, gateway time-out",
};

/** Returns the fault of an answer that is not a 200. @param now milliseconds since 1970 */
export function statusFault({ status, headers }: Response, now: number): Fault {
  const reason = statusWords[status] ?? `it answered ${status}`;
  return { kind: "status", status, reason, retryAfterMs: readRetryAfter(headers, now) };
}

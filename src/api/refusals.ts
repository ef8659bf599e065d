import {
  AccessForbidden,
  ApiUnavailable,
  type BrandapiError,
  KeyRejected,
  NotFound,
  PlanLacksData,
  RequestRefused,
  UnexpectedAnswer,
} from "../errors.js";
import type { Json, JsonObject } from "../resources/types.js";
import { formatSpan } from "../times.js";
import type { Fault } from "./faults.js";
import { readRetryAfter } from "./limits.js";
import { mayPass } from "./retry.js";

/** Where a refused request went. */
export interface Asked {
  path: string;
  baseUrl: string;
  scope: string | undefined;
}

const inTheConsole = "in the brand's console: settings, integrations, brand API";

/**
 * What a status that is not retried means for the person (API document, Errors). A 403 is `forbidden`'s: it takes
 * a look at `/me`. The answer's body is never read: its fields are not documented, and it may echo the key.
 */
export function refusal(status: number, asked: Asked): BrandapiError {
  const { path, baseUrl } = asked;
  if (status === 401) return keyRejected();
  if (status === 400) {
    return new RequestRefused(`The API refused the parameters of ${path} (400).`, {
      status,
      hint: "check the values given; if they are right, this version of brandapi may not fit the API",
    });
  }
  if (status === 402) {
    return new PlanLacksData(
      `The brand's plan does not include ${path}, or its subscription is inactive (402).`,
      {
        status,
        hint: "check the brand's plan; resources outside it still sync: `brandapi sync roster`, for one",
      },
    );
  }
  if (status === 404 && !namesRecord(path)) {
    return new NotFound(`Nothing is at ${baseUrl}${path} (404): the base URL looks wrong.`, {
      status,
      hint: "set `--base-url` to the API's versioned root, whose path ends in /api/brand/v1",
    });
  }
  if (status === 404) return new NotFound(`The API has no ${path} for this brand (404).`, { status });
  if (status === 410) {
    return new NotFound(`The API has retired ${path} (410).`, {
      status,
      hint: "look for a newer version of brandapi, and check that the base URL ends in /api/brand/v1",
    });
  }
  // 304 sends nobody anywhere: it says "not modified", to a question that was not asked.
  if (status >= 300 && status < 400 && status !== 304) {
    return new UnexpectedAnswer(
      `The API redirected ${path} to another address (${status}); redirects are not followed, so that the key goes nowhere else.`,
      { status, hint: "set `--base-url` to the address that answers itself, without a redirect" },
    );
  }
  if (status === 407) {
    return new ApiUnavailable("The proxy asks for a password (407).", {
      status,
      hint: "put the user and password into HTTPS_PROXY",
    });
  }
  return new UnexpectedAnswer(`The API answered ${path} with an undocumented status: ${status}.`, {
    status,
    hint: "check that the base URL is the brand API's and ends in /api/brand/v1",
  });
}

export function keyRejected(): KeyRejected {
  return new KeyRejected("The API rejected the key (401): it is malformed, unknown, expired or revoked.", {
    status: 401,
    hint: `create a new key ${inTheConsole}; then \`brandapi login\``,
  });
}

/** What a 403 means, given what `/me` said: the key's scopes, a 403 there too, or nothing certain. */
export function forbidden(asked: Asked, me: readonly string[] | "forbidden" | null): AccessForbidden {
  const { path, scope } = asked;
  const status = 403;
  if (me === "forbidden") {
    return new AccessForbidden(
      "The API refuses requests from this machine (403): its address is not on the key's IP allowlist.",
      {
        status,
        reason: "address",
        hint: `add this machine's public address to the key's allowlist ${inTheConsole}`,
      },
    );
  }
  if (me && scope !== undefined && !me.includes(scope)) {
    return new AccessForbidden(`The key lacks the scope ${scope}, which ${path} needs (403).`, {
      status,
      reason: "scope",
      hint: `create a key with that scope ${inTheConsole}; then \`brandapi login\``,
    });
  }
  const has = me ? `; the key's scopes: ${me.length ? me.join(", ") : "none"}` : "";
  const wanted = scope === undefined ? "the scope that it needs" : scope;
  return new AccessForbidden(`The API forbids ${path} (403)${has}.`, {
    status,
    reason: me && scope === undefined ? "scope" : "unknown",
    hint: `check that the key has ${wanted}, and its IP allowlist, ${inTheConsole}`,
  });
}

/** The key's scopes, in the `data` of `/me`; `null` when it has another shape. */
export function scopesIn(data: Json): readonly string[] | null {
  const key = isObject(data) ? data.key : undefined;
  const scopes = isObject(key) ? key.scopes : undefined;
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : null;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The patience has run out: why, and after how long. */
export function gaveUp(fault: Fault, path: string, triedMs: number, tries: number): BrandapiError {
  const cause = "cause" in fault ? fault.cause : undefined;
  if (fault.kind === "garbled") {
    return new UnexpectedAnswer(`The API's answer to ${path} cannot be read: ${fault.reason}.`, {
      status: 200,
      cause,
      hint: "check the base URL; a login page of the network or a proxy may be answering in the API's place",
    });
  }
  const status = fault.kind === "status" ? fault.status : undefined;
  if (fault.kind === "permanent") {
    return new ApiUnavailable(`The API cannot be reached: ${fault.reason}.`, { cause, hint: fault.hint });
  }
  if (!mayPass(fault)) {
    return new ApiUnavailable(`The API cannot do this: ${fault.reason} to ${path}.`, {
      status,
      cause,
      hint: "check that the base URL is the brand API's; trying again does not help",
    });
  }
  const askedMs = fault.kind === "status" ? fault.retryAfterMs : null;
  const asked = askedMs === null ? "" : `, and asks to wait ${duration(askedMs)}, ${tooLong}`;
  const tried = `tried ${tries === 1 ? "once" : `${tries} times`} in ${duration(triedMs)}`;
  return new ApiUnavailable(`The API is unavailable: ${fault.reason}${asked} (${tried}).`, {
    status,
    cause,
    hint:
      askedMs === null
        ? "check the network and the base URL, try again later, or give it longer with `--max-wait 30m`"
        : waitLonger(askedMs),
  });
}

/** The rate limit leaves no room in time. Somebody waits: told at once, they can decide what a minute is worth. */
export function noPlaceInTime(expectedMs: number): ApiUnavailable {
  const wait = formatSpan(Math.ceil(expectedMs / 1_000) * 1_000);
  return new ApiUnavailable(
    `The rate limit is used up, by this machine's other requests with this key: the next request can be sent in ${wait}.`,
    { hint: "try again then, or wait for it with `--max-wait 5m`" },
  );
}

/** What to throw when the server's own headers ask for a longer wait than the person has patience for. */
export function held(leftMs: number): ApiUnavailable {
  return new ApiUnavailable(
    `The API asks for a wait of another ${duration(leftMs)} before the next request, ${tooLong}.`,
    { status: 429, hint: waitLonger(leftMs) },
  );
}

const tooLong = "longer than is left of `--max-wait`";

/** A patience that covers the wait, with a minute for the answer. */
function waitLonger(ms: number): string {
  return `try again later, or wait for it with \`--max-wait ${Math.max(30, Math.ceil(ms / 60_000) + 1)}m\``;
}

export const statusWords: Record<number, string> = {
  408: "it answered 408, request time-out",
  429: "it answered 429, too many requests",
  500: "it answered 500, a fault of the server",
  502: "it answered 502, bad gateway",
  503: "it answered 503, briefly unavailable",
  504: "it answered 504, gateway time-out",
};

/** The fault of an answer that is not a 200. */
export function statusFault(response: Response, now: number): Fault {
  const { status, headers } = response;
  const reason = statusWords[status] ?? `it answered ${status}`;
  return { kind: "status", status, reason, retryAfterMs: readRetryAfter(headers, now) };
}

/** Whether the path names one record, by an id: ids have digits, the API's own words have none. */
function namesRecord(path: string): boolean {
  return /\d/.test(path);
}

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

import {
  AccessForbidden,
  ApiUnavailable,
  type BrandapiError,
  KeyRejected,
  NotFound,
  PlanLacksData,
  RequestRefused,
  UnexpectedResponse,
} from "../errors.js";
import { isObject, type Json } from "../util/json-value.js";
import { dayMs, formatDuration, formatMinute } from "../util/times.js";
import type { RequestFailure } from "./request-failure.js";

/** The address of a refused request, and the scope that it needs. */
export interface RequestInfo {
  path: string;
  baseUrl: string;
  scope: string | undefined;
}

/** The API has eight. */
const mostScopes = 20;

const inTheConsole = "in the brand's console: settings, integrations, brand API";

/**
 * Returns the error of a status that is not retried (API document, Errors). A 403 is `forbidden`'s, because it needs an
 * answer of `/me`. The answer's body is never read: its fields are not documented, and it may echo the key.
 */
export function statusError(status: number, asked: RequestInfo): BrandapiError {
  const { path, baseUrl } = asked;
  if (status === 401) return keyRejected();
  if (status === 400)
    return new RequestRefused(`The API refused the parameters of ${path} (400).`, {
      status,
      hint: "check the values given; if they are right, this version of brandapi may not fit the API",
    });
  if (status === 402)
    return new PlanLacksData(
      `The brand's plan does not include ${path}, or its subscription is inactive (402).`,
      {
        status,
        hint: "check the brand's plan; what it covers still syncs: `brandapi sync`",
      },
    );
  if (status === 404 && !namesRecord(path))
    return new NotFound(`Nothing is at ${baseUrl}${path} (404): the base URL looks wrong.`, {
      status,
      hint: "set `--base-url` to the API's versioned root, whose path ends in /api/brand/v1",
    });
  if (status === 404) return new NotFound(`The API has no ${path} for this brand (404).`, { status });
  if (status === 410)
    return new NotFound(`The API has retired ${path} (410).`, {
      status,
      hint: "look for a newer version of brandapi, and check that the base URL ends in /api/brand/v1",
    });
  // 304 sends nobody anywhere: it says "not modified", to a question that was not asked.
  if (status >= 300 && status < 400 && status !== 304)
    return new UnexpectedResponse(
      `The API redirected ${path} to another address (${status}); redirects are not followed, so that the key goes nowhere else.`,
      { status, hint: "set `--base-url` to the address that answers itself, without a redirect" },
    );
  return new UnexpectedResponse(`The API answered ${path} with an undocumented status: ${status}.`, {
    status,
    hint: "check that the base URL is the brand API's and ends in /api/brand/v1",
  });
}

function keyRejected(): KeyRejected {
  return new KeyRejected("The API rejected the key (401): it is malformed, unknown, expired or revoked.", {
    status: 401,
    hint: `create a new key ${inTheConsole}; then \`brandapi login\``,
  });
}

/** Returns the error of a 403. @param me the key's scopes, a 403 there too, or null if `/me` said nothing certain */
export function forbiddenError(
  asked: RequestInfo,
  me: readonly string[] | "forbidden" | null,
): AccessForbidden {
  const { path, scope } = asked;
  const status = 403;
  if (me === "forbidden")
    return new AccessForbidden(
      "The API refuses requests from this machine (403): its address is not on the key's IP allowlist.",
      {
        status,
        everywhere: true,
        hint: `add this machine's public address to the key's allowlist ${inTheConsole}`,
      },
    );
  if (me && scope !== undefined && !me.includes(scope))
    return new AccessForbidden(`The key lacks the scope ${scope}, which ${path} needs (403).`, {
      status,
      hint: `create a key with that scope ${inTheConsole}; then \`brandapi login\``,
    });
  const has = me ? `; the key's scopes: ${me.length ? me.slice(0, mostScopes).join(", ") : "none"}` : "";
  const wanted = scope === undefined ? "the scope that it needs" : scope;
  return new AccessForbidden(`The API forbids ${path} (403)${has}.`, {
    status,
    hint: `check that the key has ${wanted}, and its IP allowlist, ${inTheConsole}`,
  });
}

/** The key's scopes, in the `data` of `/me`; `null` when it has another shape. */
export function readScopes(data: Json): readonly string[] | null {
  const key = isObject(data) ? data.key : undefined;
  const scopes = isObject(key) ? key.scopes : undefined;
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : null;
}

/** Whether the path names one record, by an id: ids have digits, the API's own words have none. */
function namesRecord(path: string): boolean {
  return /\d/.test(path);
}

/**
 * Returns the error for a request that is given up.
 * @param spent how it was tried; `everywhere` is true if other endpoints did not answer either
 */
export function unavailableError(
  fault: RequestFailure,
  path: string,
  spent: { tries: number; triedMs: number; everywhere: boolean },
  now: number,
): BrandapiError {
  const cause = "cause" in fault ? fault.cause : undefined;
  const status = fault.kind === "status" ? fault.status : undefined;
  if (fault.kind === "garbled")
    return new UnexpectedResponse(`The API's answer to ${path} cannot be read: ${fault.reason}.`, {
      status: 200,
      cause,
      hint: "check the base URL; a login page of the network or a proxy may be answering in the API's place",
    });
  if (fault.kind === "permanent") {
    const { reason, hint } = fault;
    return new ApiUnavailable(`The API cannot be reached: ${reason}.`, { cause, hint, everywhere: true });
  }
  const ms = fault.kind === "status" ? fault.retryAfterMs : null;
  const asked = ms === null ? "" : `, and asks to wait ${formatDuration(ms)}, ${tooLong}`;
  const tried = `tried ${spent.tries === 1 ? "once" : `${spent.tries} times`} in ${formatDuration(spent.triedMs)}`;
  return new ApiUnavailable(`The API is unavailable: ${fault.reason}${asked} (${tried}).`, {
    status,
    cause,
    everywhere: spent.everywhere || (fault.kind === "network" && fault.everywhere),
    hint:
      ms === null
        ? "check the network, the base URL and any proxy, try again later, or give it longer with `--max-wait 30m`"
        : waitLonger(ms, now),
  });
}

/** Returns the error for a wait that the server asked for, and that is longer than the patience. */
export function retryAfterTooLong(ms: number, now: number): ApiUnavailable {
  return new ApiUnavailable(
    `The API asks for a wait of another ${formatDuration(ms)} before the next request, ${tooLong}.`,
    { status: 429, everywhere: true, hint: waitLonger(ms, now) },
  );
}

const tooLong = "longer than is left of `--max-wait`";

/** Names the time to try again, and a patience that covers the wait and the answer. */
function waitLonger(ms: number, now: number): string {
  if (ms > dayMs) return "try again later: no later command waits for this one";
  const minutes = Math.max(30, Math.ceil(ms / 60_000) + 1);
  return `try again after ${formatMinute(now + ms)} UTC, or wait for it with \`--max-wait ${minutes}m\``;
}

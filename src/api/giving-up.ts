import { ApiUnavailable, type BrandapiError, UnexpectedAnswer } from "../errors.js";
import { counted } from "../lib/counted.js";
import { shellWord } from "../lib/shell.js";
import { formatSpan, minuteOf } from "../lib/times.js";
import type { Fault } from "./faults.js";
import { longestHoldMs, readRetryAfter } from "./limits.js";
import { mayPass } from "./retry.js";

/** How long and how often a request was tried; `everywhere`: whether other endpoints were silent, too. */
export interface Spent {
  triedMs: number;
  tries: number;
  everywhere: boolean;
  /** Milliseconds since 1970. */
  now: number;
  /** Where a wait is written down that the server asked for; null where it is not. */
  file: string | null;
}

/** The patience has run out: why, and after how long. */
export function gaveUp(fault: Fault, path: string, spent: Spent): BrandapiError {
  const { triedMs, tries, everywhere, now, file } = spent;
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
    const { reason, hint } = fault;
    return new ApiUnavailable(`The API cannot be reached: ${reason}.`, { cause, hint, everywhere: true });
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
    everywhere: everywhere || (fault.kind === "network" && fault.everywhere),
    hint:
      askedMs === null
        ? "check the network and the base URL, try again later, or give it longer with `--max-wait 30m`"
        : waitLonger({ ms: askedMs, now, file }),
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

/** A wait that a server asked for, and how long it holds here. */
export interface Hold {
  ms: number;
  /** Milliseconds since 1970. */
  now: number;
  /** Where it is written down for every process; null where it is not. */
  file: string | null;
}

/** What to throw when the server's own headers ask for a longer wait than the person has patience for. */
export function held(hold: Hold): ApiUnavailable {
  return new ApiUnavailable(
    `The API asks for a wait of another ${duration(hold.ms)} before the next request, ${tooLong}.`,
    { status: 429, everywhere: true, hint: waitLonger(hold) },
  );
}

const tooLong = "longer than is left of `--max-wait`";
/** The API's limits are by the minute: whoever asks for more than an hour may be mistaken. */
const longWaitMs = 3_600_000;

/** When to come again, a patience that covers the wait, with a minute for the answer, and how to do away with it. */
function waitLonger({ ms, now, file }: Hold): string {
  const until = minuteOf(now + Math.min(ms, longestHoldMs));
  const minutes = Math.max(30, Math.ceil(ms / 60_000) + 1);
  const patience = ms > longestHoldMs ? "" : `, or wait for it with \`--max-wait ${minutes}m\``;
  const mistaken = file && ms > longWaitMs ? `; should the API not mean it: \`rm ${shellWord(file)}\`` : "";
  return `try again after ${until} UTC${patience}${mistaken}`;
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

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? counted(hours, "hour") : counted(Math.round(hours / 24), "day");
}

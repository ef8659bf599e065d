import { ApiUnavailable, type BrandapiError, UnexpectedAnswer } from "../errors.js";
import { counted } from "../lib/counted.js";
import { shellWord } from "../lib/shell.js";
import { formatSpan, minuteOf } from "../lib/times.js";
import type { Fault } from "./faults.js";
import { mayPass } from "./retry.js";
import { longestHoldMs } from "./server-limit.js";

/** How long and how often a request was tried. */
export interface Spent {
  triedMs: number;
  tries: number;
  /** True if other endpoints did not answer either. */
  everywhere: boolean;
  /** Milliseconds since 1970. */
  now: number;
  /** The file that holds a wait that the server asked for; null if there is none. */
  file: string | null;
}

/** Returns the error for a request that is given up. */
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

/** Returns the error for a person who waits, if the rate limit leaves no room in time. */
export function noPlaceInTime(expectedMs: number): ApiUnavailable {
  const wait = formatSpan(Math.ceil(expectedMs / 1_000) * 1_000);
  return new ApiUnavailable(
    `The rate limit is used up, by this machine's other requests with this key: the next request can be sent in ${wait}.`,
    { hint: "try again then, or wait for it with `--max-wait 5m`" },
  );
}

/** A wait that a server asked for. */
export interface Hold {
  ms: number;
  /** Milliseconds since 1970. */
  now: number;
  /** The file in which all processes find it; null if there is none. */
  file: string | null;
}

/** Returns the error for a wait that the server asked for, and that is longer than the patience. */
export function held(hold: Hold): ApiUnavailable {
  return new ApiUnavailable(
    `The API asks for a wait of another ${duration(hold.ms)} before the next request, ${tooLong}.`,
    { status: 429, everywhere: true, hint: waitLonger(hold) },
  );
}

const tooLong = "longer than is left of `--max-wait`";
/** The API's limits are by the minute: a wait of more than an hour may be a mistake. */
const longWaitMs = 3_600_000;

/** Names the time to try again, a patience that covers the wait and the answer, and how to end a mistaken wait. */
function waitLonger({ ms, now, file }: Hold): string {
  const until = minuteOf(now + Math.min(ms, longestHoldMs));
  const minutes = Math.max(30, Math.ceil(ms / 60_000) + 1);
  const patience = ms > longestHoldMs ? "" : `, or wait for it with \`--max-wait ${minutes}m\``;
  const mistaken = file && ms > longWaitMs ? `; should the API not mean it: \`rm ${shellWord(file)}\`` : "";
  return `try again after ${until} UTC${patience}${mistaken}`;
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

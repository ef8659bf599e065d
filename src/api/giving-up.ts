import { ApiUnavailable, type BrandapiError, UnexpectedAnswer } from "../errors.js";
import { dayMs, formatSpan, minuteOf } from "../lib/times.js";
import type { Fault } from "./faults.js";

/**
 * Returns the error for a request that is given up.
 * @param spent how it was tried; `everywhere` is true if other endpoints did not answer either
 */
export function gaveUp(
  fault: Fault,
  path: string,
  spent: { tries: number; triedMs: number; everywhere: boolean },
  now: number,
): BrandapiError {
  const cause = "cause" in fault ? fault.cause : undefined;
  const status = fault.kind === "status" ? fault.status : undefined;
  if (fault.kind === "garbled")
    return new UnexpectedAnswer(`The API's answer to ${path} cannot be read: ${fault.reason}.`, {
      status: 200,
      cause,
      hint: "check the base URL; a login page of the network or a proxy may be answering in the API's place",
    });
  if (fault.kind === "permanent") {
    const { reason, hint } = fault;
    return new ApiUnavailable(`The API cannot be reached: ${reason}.`, { cause, hint, everywhere: true });
  }
  const ms = fault.kind === "status" ? fault.retryAfterMs : null;
  const asked = ms === null ? "" : `, and asks to wait ${formatSpan(ms)}, ${tooLong}`;
  const tried = `tried ${spent.tries === 1 ? "once" : `${spent.tries} times`} in ${formatSpan(spent.triedMs)}`;
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
export function held(ms: number, now: number): ApiUnavailable {
  return new ApiUnavailable(
    `The API asks for a wait of another ${formatSpan(ms)} before the next request, ${tooLong}.`,
    { status: 429, everywhere: true, hint: waitLonger(ms, now) },
  );
}

const tooLong = "longer than is left of `--max-wait`";

/** Names the time to try again, and a patience that covers the wait and the answer. */
function waitLonger(ms: number, now: number): string {
  if (ms > dayMs) return "try again later: no later command waits for this one";
  const minutes = Math.max(30, Math.ceil(ms / 60_000) + 1);
  return `try again after ${minuteOf(now + ms)} UTC, or wait for it with \`--max-wait ${minutes}m\``;
}

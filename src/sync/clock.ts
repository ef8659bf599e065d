import { ConfigurationError } from "../errors.js";
import { formatSpan } from "../lib/times.js";

const mostSkewMs = 5 * 60_000;

/** Returns how far this machine's clock is off the API's, as a sentence; null if it is within five minutes (A10). */
export function clockSkew({ askedAt, date }: { askedAt: number; date: number | null }): string | null {
  const skew = date === null ? 0 : askedAt - date;
  if (Math.abs(skew) <= mostSkewMs) return null;
  return `This machine's clock is ${formatSpan(Math.abs(skew))} ${skew > 0 ? "ahead of" : "behind"} the API's.`;
}

/** Refuses to date records by a clock that is wrong. @throws ConfigurationError */
export function refuseSkew(skew: string | null): void {
  if (skew !== null)
    throw new ConfigurationError(skew, { hint: "set the clock, then run the same command again" });
}

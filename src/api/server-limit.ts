import type { Reply } from "../lib/fetch.js";

/** The rate limit as a server's headers state it. */
export interface ServerLimit {
  /** Requests left in the server's window. */
  remaining: number;
  /** Milliseconds until the window starts anew. */
  resetMs: number;
}

/** After a day, one request asks again: a mistaken header must not lock a key out of this machine for months. */
export const longestHoldMs = 86_400_000;

/**
 * Reads the usual rate-limit headers, because the API document gives no names: `RateLimit-*`, `X-RateLimit-*`,
 * `X-Rate-Limit-*`, and the combined `RateLimit`, of which the tightest policy counts.
 * @param now milliseconds since 1970, for an answer without a `Date`
 * @returns null if the headers do not name both what is left and when the window starts anew
 */
export function readServerLimit(headers: Reply["headers"], now: number): ServerLimit | null {
  const policies = ["ratelimit-", "x-ratelimit-", "x-rate-limit-"].map((prefix) => [
    headers.get(`${prefix}remaining`),
    headers.get(`${prefix}reset`),
  ]);
  // `"default";r=0;t=30, "day";r=900;t=40000`, or `limit=60, remaining=0, reset=30`.
  const combined = /(?:\br|remaining)=(\d+)[\s,;]+(?:t|reset)=(\d+)/gi;
  for (const [, left, reset] of (headers.get("ratelimit") ?? "").matchAll(combined))
    policies.push([left ?? null, reset ?? null]);
  const limits = policies.flatMap(([left, reset]) => {
    const remaining = /^\s*(\d{1,9})/.exec(left ?? "")?.[1];
    const resetMs = readReset(reset ?? "", dateOf(headers) ?? now);
    return remaining === undefined || Number.isNaN(resetMs)
      ? []
      : [{ remaining: Number(remaining), resetMs }];
  });
  return limits.sort((a, b) => a.remaining - b.remaining)[0] ?? null;
}

/** Returns `Retry-After` in milliseconds from now; null if it is missing, past or unreadable. */
export function readRetryAfter(headers: Reply["headers"], now: number): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - (dateOf(headers) ?? now);
  return ms > 0 ? ms : null;
}

/** Returns the server's own time, in milliseconds since 1970, to compare other times in its headers with. */
export function dateOf(headers: Reply["headers"]): number | null {
  const date = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(date) ? null : date;
}

/** Returns milliseconds from now: of seconds, or of an instant as epoch seconds, epoch milliseconds or a date. */
function readReset(text: string, now: number): number {
  const value = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value <= 1e9) return value * 1_000;
  let instant = value > 1e11 ? value : value * 1_000;
  if (Number.isNaN(value)) instant = Date.parse(text);
  return Math.max(0, instant - now);
}

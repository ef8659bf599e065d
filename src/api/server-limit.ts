/** What a server's headers say about its rate limit. The API document gives no names: all usual ones are read. */
export interface ServerLimit {
  /** Requests left in the server's window. */
  remaining: number;
  /** Milliseconds until the window starts anew; null if not said. */
  resetMs: number | null;
}

const remainingNames = ["ratelimit-remaining", "x-ratelimit-remaining", "x-rate-limit-remaining"];
const resetNames = ["ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"];

/**
 * Reads `RateLimit-*`, `X-RateLimit-*`, `X-Rate-Limit-*` and both drafts of the combined `RateLimit`.
 * `now` is the wall clock in milliseconds, used where the answer carries no `Date` of its own.
 */
export function readServerLimit(headers: Headers, now: number): ServerLimit | null {
  const serverNow = dateOf(headers) ?? now;
  const combined = readCombined(headers.get("ratelimit"), serverNow);
  if (combined) return combined;
  const remaining = amount(first(headers, remainingNames));
  if (remaining === null) return null;
  return { remaining, resetMs: readReset(first(headers, resetNames), serverNow) };
}

/** After a day, one request asks again: a mistaken header must not lock a key out of this machine for months. */
export const longestHoldMs = 86_400_000;

/** A longer wait is a mistake. */
const longestRetryAfterMs = 366 * 86_400_000;

/** Returns `Retry-After` in milliseconds from now; null if it is missing, past, absurd or unreadable. */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const text = headers.get("retry-after")?.trim();
  if (!text) return null;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : null;
  const ms = seconds ?? Date.parse(text) - (dateOf(headers) ?? now);
  return ms > 0 && ms <= longestRetryAfterMs ? ms : null;
}

/** `limit=60, remaining=0, reset=30`, or `"default";r=0;t=30, "day";r=900;t=40000`: the tightest policy counts. */
function readCombined(text: string | null, now: number): ServerLimit | null {
  if (!text) return null;
  const old = amount(/(?:^|[\s,;])remaining=(\d+)/i.exec(text)?.[1]);
  if (old !== null)
    return { remaining: old, resetMs: readReset(/(?:^|[\s,;])reset=(\d+)/i.exec(text)?.[1], now) };
  let tightest: ServerLimit | null = null;
  for (const policy of text.split(",")) {
    const remaining = amount(/;\s*r=(\d+)/i.exec(policy)?.[1]);
    if (remaining === null || (tightest && tightest.remaining <= remaining)) continue;
    tightest = { remaining, resetMs: readReset(/;\s*t=(\d+)/i.exec(policy)?.[1], now) };
  }
  return tightest;
}

/** Seconds from now, or an instant as epoch seconds, epoch milliseconds or a date. */
function readReset(text: string | null | undefined, now: number): number | null {
  if (!text) return null;
  const value = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
  if (value === null) return positive(Date.parse(text) - now);
  if (value > 1e11) return positive(value - now);
  if (value > 1e9) return positive(value * 1_000 - now);
  return value * 1_000;
}

function positive(ms: number): number | null {
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function amount(text: string | null | undefined): number | null {
  const digits = /^\s*(\d{1,9})/.exec(text ?? "")?.[1];
  return digits === undefined ? null : Number(digits);
}

function first(headers: Headers, names: readonly string[]): string | null {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) return value;
  }
  return null;
}

/** Returns the server's own time, in milliseconds since 1970, to compare other times in its headers with. */
export function dateOf(headers: Headers): number | null {
  const date = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(date) ? null : date;
}

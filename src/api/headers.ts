import type { HttpResponse } from "../deps.js";
import { dayMs, parseTimestamp } from "../util/timestamps.js";

export interface ServerLimit {
  remaining: number;
  resetMs: number;
}

/**
 * Parses the rate-limit headers. The API documentation does not name them, so all common variants are supported. If a
 * response reports several limits, returns the one with the fewest remaining requests.
 */
export function parseServerLimit(headers: HttpResponse["headers"], now: number): ServerLimit | null {
  const pairs = ["ratelimit-", "x-ratelimit-", "x-rate-limit-"].map((prefix) => [
    headers.get(`${prefix}remaining`),
    headers.get(`${prefix}reset`),
  ]);
  // `"default";r=0;t=30, "day";r=900;t=40000`, or `limit=60, remaining=0, reset=30`.
  const combined = /(?:r|remaining)=(\d+)[\s,;]+(?:t|reset)=(\d+)/g;
  for (const [, remaining, reset] of (headers.get("ratelimit") ?? "").matchAll(combined))
    pairs.push([remaining ?? null, reset ?? null]);
  const limits = pairs.flatMap(([remainingText, resetText]) => {
    const remaining = /^\d+/.exec(remainingText ?? "")?.[0];
    const resetMs = parseReset(resetText ?? "", parseDateHeader(headers) ?? now);
    return remaining === undefined || resetMs === null ? [] : [{ remaining: Number(remaining), resetMs }];
  });
  return limits.sort((a, b) => a.remaining - b.remaining)[0] ?? null;
}

/**
 * Returns the delay in a `Retry-After` header, in milliseconds. Returns null if the header is missing or invalid
 * (proxies can join two values: `2814, 2`), or if the time is in the past or more than a day away.
 */
export function parseRetryAfter(headers: HttpResponse["headers"], now: number): number | null {
  const text = headers.get("retry-after") ?? "";
  if (isNumber(text)) return Number(text) > 0 ? Number(text) * 1_000 : null;
  const ms = (parseDate(text) ?? Number.NaN) - (parseDateHeader(headers) ?? now);
  return ms > 0 && ms <= dayMs ? ms : null;
}

export function parseDateHeader(headers: HttpResponse["headers"]): number | null {
  return parseDate(headers.get("date") ?? "");
}

/**
 * Returns the delay until a reset, in milliseconds. The header can contain seconds, an epoch time in seconds or
 * milliseconds, or a date. Returns null if it is invalid or more than a day away.
 */
function parseReset(text: string, now: number): number | null {
  const value = isNumber(text) ? Number(text) : Number.NaN;
  let ms = value * 1_000;
  if (value > 1e9) ms = Math.max(0, (value > 1e11 ? value : value * 1_000) - now);
  if (Number.isNaN(value)) ms = Math.max(0, (parseDate(text) ?? Number.NaN) - now);
  return ms <= dayMs ? ms : null;
}

function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}

const httpDate =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d) GMT$/;

/** Parses HTTP dates and ISO 8601 timestamps only, because `Date.parse` accepts almost any string with a number. */
function parseDate(text: string): number | null {
  const ms = httpDate.test(text) ? Date.parse(text) : parseTimestamp(text);
  return ms === undefined || Number.isNaN(ms) ? null : ms;
}

import { Refusal } from "./refusal.js";

/** Requests are counted over the last 60 seconds, however they fall: API document, Limits. */
const windowMs = 60_000;

/** The verdict of the limits on one request. */
export interface Limits {
  refusal: Refusal | null;
  headers: Record<string, string>;
}

/**
 * Counts requests in a sliding window per key, and twice as many per address. Everything counts, refused requests too:
 * the harshest reading of a document that does not say.
 * @param perMinute null: no limit
 * @param now milliseconds of a clock that never jumps
 */
export function createLimits(
  perMinute: number | null,
): (address: string, keyId: string | null, now: number) => Limits {
  const arrivals = new Map<string, number[]>();

  /** Returns how many more are let through (-1: not this one either), and the milliseconds until the next is. */
  function count(caller: string, limit: number, now: number) {
    const recent = (arrivals.get(caller) ?? []).filter((time) => now - time < windowMs);
    const times = [...recent, now].slice(-limit - 1);
    arrivals.set(caller, times);
    const left = limit - times.length;
    return { limit, left, waitMs: left < 0 ? (times[1] ?? now) + windowMs - now : 0 };
  }

  return (address, keyId, now) => {
    if (perMinute === null) return { refusal: null, headers: {} };
    const states = [
      count(`address ${address}`, perMinute * 2, now),
      ...(keyId === null ? [] : [count(`key ${keyId}`, perMinute, now)]),
    ];
    const tightest = states.reduce((a, b) => (b.left <= a.left ? b : a));
    const seconds = Math.max(1, Math.ceil(Math.max(...states.map(({ waitMs }) => waitMs)) / 1_000));
    const headers = {
      "x-ratelimit-limit": String(tightest.limit),
      "x-ratelimit-remaining": String(Math.max(0, tightest.left)),
      "x-ratelimit-reset": String(tightest.left < 0 ? seconds : windowMs / 1_000),
    };
    if (tightest.left >= 0) return { refusal: null, headers };
    const retry = { "retry-after": String(seconds) };
    const refusal = new Refusal(429, "rate_limited", "Over the limit of requests per minute.", retry);
    return { refusal, headers };
  };
}

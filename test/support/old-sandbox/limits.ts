/** Requests are counted over the last 60 seconds, however they fall: API document, Limits. */
const windowMs = 60_000;

/** What one request did to a limit. */
export interface LimitState {
  limit: number;
  remaining: number;
  /** Milliseconds until a request would be let through (when `over`), or until the window is empty again. */
  resetMs: number;
  over: boolean;
}

/**
 * A true sliding window per caller. Everything that arrives is counted, refused requests too: the harshest reading
 * of a document that does not say.
 */
export interface Limiter {
  take(caller: string, limit: number, now: number): LimitState;
}

export function createLimiter(): Limiter {
  /** The times of the last `limit` arrivals of each caller: a ring, since older ones cannot matter. */
  const callers = new Map<string, { times: Float64Array; next: number }>();

  function take(caller: string, limit: number, now: number): LimitState {
    let ring = callers.get(caller);
    if (!ring || ring.times.length !== limit) {
      ring = { times: new Float64Array(limit).fill(Number.NEGATIVE_INFINITY), next: 0 };
      callers.set(caller, ring);
    }
    const oldest = ring.times[ring.next] ?? Number.NEGATIVE_INFINITY;
    const over = now - oldest < windowMs;
    ring.times[ring.next] = now;
    ring.next = (ring.next + 1) % limit;
    const used = ring.times.reduce((count, time) => count + (now - time < windowMs ? 1 : 0), 0);
    // After this arrival, the next is let through once the ring's oldest is 60 seconds old.
    const nextFree = (ring.times[ring.next] ?? 0) + windowMs - now;
    return { limit, remaining: over ? 0 : limit - used, resetMs: over ? nextFree : windowMs, over };
  }

  return { take };
}

export type RateHeaders = "ietf" | "x-ratelimit" | "draft" | "none";
export type RetryAfter = "seconds" | "date" | "none";

/** The headers that say how much is left, in one of the styles found in the wild: their names are "not shown". */
export function rateHeaders(style: RateHeaders, state: LimitState, now: number): Record<string, string> {
  const seconds = Math.ceil(state.resetMs / 1000);
  if (style === "x-ratelimit") {
    return {
      "x-ratelimit-limit": String(state.limit),
      "x-ratelimit-remaining": String(state.remaining),
      "x-ratelimit-reset": String(Math.ceil((now + state.resetMs) / 1000)),
    };
  }
  if (style === "draft") {
    return {
      "ratelimit-limit": String(state.limit),
      "ratelimit-remaining": String(state.remaining),
      "ratelimit-reset": String(seconds),
    };
  }
  if (style === "ietf") {
    return {
      "ratelimit-policy": `"minute";q=${state.limit};w=60`,
      ratelimit: `"minute";r=${state.remaining};t=${seconds}`,
    };
  }
  return {};
}

export function retryAfterHeader(style: RetryAfter, state: LimitState, now: number): Record<string, string> {
  const seconds = Math.max(1, Math.ceil(state.resetMs / 1000));
  if (style === "seconds") return { "retry-after": String(seconds) };
  // A date has no fractions: round up, or it would be a second early.
  if (style === "date")
    return { "retry-after": new Date(Math.ceil((now + state.resetMs) / 1000) * 1000).toUTCString() };
  return {};
}

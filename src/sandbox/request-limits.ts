import { ErrorResponse } from "./protocol.js";

/** See "Limits" in the API documentation. */
const windowMs = 60_000;

/**
 * Counts requests in a sliding window for each key and for each IP address. The limit per IP address is twice the limit
 * per key. Rejected requests count as well, which is the strictest interpretation of the API documentation.
 */
export class RequestLimits {
  private readonly arrivals = new Map<string, number[]>();

  constructor(private readonly perMinute: number | null) {}

  /** Counts a request. Returns the response headers, with an error if the request exceeds a limit. */
  count(
    address: string,
    keyId: string | null,
    now: number,
  ): { error: ErrorResponse | null; headers: Record<string, string> } {
    if (this.perMinute === null) return { error: null, headers: {} };
    const states = [this.add(`address ${address}`, this.perMinute * 2, now)];
    if (keyId !== null) states.push(this.add(`key ${keyId}`, this.perMinute, now));
    const tightest = states.reduce((a, b) => (b.remaining <= a.remaining ? b : a));
    const waitMs = Math.max(...states.map((state) => state.waitMs));
    const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
    const isOver = tightest.remaining < 0;
    const headers = {
      "x-ratelimit-limit": String(tightest.limit),
      "x-ratelimit-remaining": String(Math.max(0, tightest.remaining)),
      "x-ratelimit-reset": String(isOver ? seconds : windowMs / 1_000),
    };
    if (!isOver) return { error: null, headers };
    const retry = { "retry-after": String(seconds) };
    const error = new ErrorResponse(429, "rate_limited", "Too many requests per minute.", retry);
    return { error, headers };
  }

  /** `remaining` is -1 if this request exceeds the limit. */
  private add(caller: string, limit: number, now: number) {
    const recent = (this.arrivals.get(caller) ?? []).filter((time) => now - time < windowMs);
    const times = [...recent, now].slice(-limit - 1);
    this.arrivals.set(caller, times);
    const remaining = limit - times.length;
    return { limit, remaining, waitMs: remaining < 0 ? (times[1] ?? now) + windowMs - now : 0 };
  }
}

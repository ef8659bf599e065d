import type { Clock } from "../deps.js";
import type { RequestFailure } from "./request-failure.js";

/**
 * Measures how long the API has failed to respond to any request in a run. All requests share one `--max-wait`, so a
 * run waits out an outage only once. After that, each new request gets a tenth of the time, in case only the previous
 * endpoint is down.
 */
export class OutageTimer {
  #lastResponseAt = Number.NEGATIVE_INFINITY;
  /** The start of the current outage, or null while the API responds. */
  #startedAt: number | null = null;
  readonly #failedEndpoints = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  get affectsSeveralEndpoints(): boolean {
    return this.#failedEndpoints.size > 1;
  }

  /** Ends the outage, because the API has responded, even if it refused the request. */
  recordResponse(): void {
    this.#lastResponseAt = this.clock.monotonic();
    this.#startedAt = null;
    this.#failedEndpoints.clear();
  }

  /** Records a failed attempt. `/orders` and `/orders/ID` count as the same endpoint. */
  recordFailure(path: string, sentAt: number): void {
    this.#startedAt ??= Math.max(sentAt, this.#lastResponseAt);
    this.#failedEndpoints.add(path.split("/", 2).join("/"));
  }

  /** Returns how many milliseconds remain for retrying a request that was first sent at `firstSentAt`. */
  remainingMs(firstSentAt: number): number {
    const now = this.clock.monotonic();
    const sharedMs = this.maxWaitMs - (this.#startedAt === null ? 0 : now - this.#startedAt);
    return Math.max(sharedMs, this.maxWaitMs / 10 - (now - firstSentAt));
  }
}

/** True if a retry may help (API document, "Errors": 5xx means retry later). */
export function isRetryable(failure: RequestFailure): boolean {
  if (failure.kind === "permanent") return false;
  if (failure.kind !== "status") return true;
  return failure.status === 408 || failure.status === 429 || (failure.status >= 500 && failure.status < 600);
}

const [minBackoffMs, maxBackoffMs] = [500, 30_000];
const maxInvalidBodyRetries = 4;
/** Timers are imprecise, so no further attempt is made if less time than this remains. */
const timerPrecisionMs = 5;

/**
 * Returns the number of milliseconds to wait before the next attempt, or null to give up. The backoff is exponential
 * with full jitter, and the last attempt is made when `remainingMs` expires. Honors `Retry-After` unless it exceeds
 * `remainingMs`.
 * @param attempt the number of failed attempts so far
 * @param random a number in [0, 1)
 */
export function retryDelay(
  failure: RequestFailure,
  { attempt, remainingMs, random }: { attempt: number; remainingMs: number; random: number },
): number | null {
  if (!isRetryable(failure) || remainingMs <= timerPrecisionMs) return null;
  if (failure.kind === "invalid-body" && attempt > maxInvalidBodyRetries) return null;
  const retryAfterMs = failure.kind === "status" ? failure.retryAfterMs : null;
  if (retryAfterMs !== null && retryAfterMs > remainingMs) return null;
  const backoffMs = random * Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(attempt - 1, 10));
  // Jitter on top of `Retry-After` keeps processes that received the same value from retrying at the same time.
  return Math.min(remainingMs, retryAfterMs === null ? backoffMs : retryAfterMs + random * 250);
}

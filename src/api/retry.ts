import type { Clock } from "../deps.js";
import type { RequestFailure } from "./request-failure.js";

/**
 * Measures how long no request of a run has had a response. All requests share one `--max-wait`, so an outage is waited
 * out once, not once per resource. After that, each new request gets a tenth of the time, to find out whether only the
 * previous endpoint is down.
 */
export class OutageTimer {
  #lastResponseAt = Number.NEGATIVE_INFINITY;
  /** Start of the current outage; null while the API responds. */
  #startedAt: number | null = null;
  readonly #failedEndpoints = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  /** True if several endpoints have failed since the last response. */
  get affectsSeveralEndpoints(): boolean {
    return this.#failedEndpoints.size > 1;
  }

  /** Ends the outage: the API responded, even if with a refusal. */
  recordResponse(): void {
    this.#lastResponseAt = this.clock.monotonic();
    this.#startedAt = null;
    this.#failedEndpoints.clear();
  }

  /** Records that an attempt sent at `sentAt` failed. `/orders` and `/orders/ID` count as one endpoint. */
  recordFailure(path: string, sentAt: number): void {
    this.#startedAt ??= Math.max(sentAt, this.#lastResponseAt);
    this.#failedEndpoints.add(path.split("/", 2).join("/"));
  }

  /** Returns how many milliseconds a request that was first sent at `firstSentAt` may still be retried. */
  remainingMs(firstSentAt: number): number {
    const now = this.clock.monotonic();
    const sharedMs = this.maxWaitMs - (this.#startedAt === null ? 0 : now - this.#startedAt);
    return Math.max(sharedMs, this.maxWaitMs / 10 - (now - firstSentAt));
  }
}

/** True if retrying may help (API document, Errors: 5xx means retry later). */
export function isRetryable(failure: RequestFailure): boolean {
  if (failure.kind === "permanent") return false;
  if (failure.kind !== "status") return true;
  return failure.status === 408 || failure.status === 429 || (failure.status >= 500 && failure.status < 600);
}

const [minBackoffMs, maxBackoffMs] = [500, 30_000];
const maxInvalidBodyRetries = 4;
/** Timers are imprecise: with less time left than this, no further attempt is made. */
const timerPrecisionMs = 5;

/**
 * Returns how many milliseconds to wait before the next attempt, or null to give up. Backoff is exponential with full
 * jitter, and the last attempt is made when `remainingMs` ends. `Retry-After` is obeyed; if it exceeds `remainingMs`, gives up.
 * @param attempt how many attempts have failed
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
  // Jitter after Retry-After, so that processes that received the same value do not retry at the same time.
  return Math.min(remainingMs, retryAfterMs === null ? backoffMs : retryAfterMs + random * 250);
}

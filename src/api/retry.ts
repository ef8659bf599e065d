import type { Clock } from "../deps.js";
import { pathWithId, type RequestFailure } from "./request-errors.js";

/**
 * Tracks the current outage. All requests in a run share one `--max-wait`, so the run waits out an outage only once.
 * After that, each subsequent request is retried for a tenth of `--max-wait`, because the outage may affect only one
 * endpoint.
 */
export class OutageTimer {
  #lastResponseAt = Number.NEGATIVE_INFINITY;
  #startedAt: number | null = null;
  readonly #failedEndpoints = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  /** True if requests to several endpoints have failed in the current outage. */
  get hasSeveralEndpoints(): boolean {
    return this.#failedEndpoints.size > 1;
  }

  /**
   * Ends the outage, because the API has responded. Responses with a status that is not retried, such as 403, count as
   * well; those with a status that is retried, such as 503, do not.
   */
  recordResponse(): void {
    this.#lastResponseAt = this.clock.monotonic();
    this.#startedAt = null;
    this.#failedEndpoints.clear();
  }

  /** Records a failed attempt. `/surveys` and `/surveys/ID/results` count as the same endpoint. */
  recordFailure(path: string, sentAt: number): void {
    this.#startedAt ??= Math.max(sentAt, this.#lastResponseAt);
    this.#failedEndpoints.add(pathWithId.exec(path)?.[0] ?? path);
  }

  /**
   * Returns the time, in milliseconds, for which a request can still wait or be retried: the remainder of
   * `--max-wait` in the current outage, or the remainder of the request's own tenth of `--max-wait`, whichever is
   * longer.
   * @param firstSentAt the time of the request's first attempt, or null if it has not been sent yet
   */
  remainingMs(firstSentAt: number | null): number {
    const now = this.clock.monotonic();
    const outageDeadline = (this.#startedAt ?? now) + this.maxWaitMs;
    const requestDeadline = (firstSentAt ?? now) + this.maxWaitMs / 10;
    return Math.max(outageDeadline, requestDeadline) - now;
  }
}

const [minBackoffMs, maxBackoffMs] = [500, 30_000];
const maxInvalidBodyRetries = 4;
/** Timers are not precise enough for shorter waits, because they can fire a millisecond early. */
export const timerPrecisionMs = 5;

/**
 * Returns the delay before the next attempt, or null to give up. Uses exponential backoff with full jitter, and makes
 * the last attempt at the end of `remainingMs`. Honors `Retry-After` unless it exceeds `remainingMs`.
 * @param attempt the number of failed attempts
 * @param random a number in [0, 1)
 */
export function retryDelay(
  failure: RequestFailure,
  { attempt, remainingMs, random }: { attempt: number; remainingMs: number; random: number },
): number | null {
  if (failure.kind === "permanent" || remainingMs <= timerPrecisionMs) return null;
  if (failure.kind === "invalid-body" && attempt > maxInvalidBodyRetries) return null;
  const retryAfterMs = failure.kind === "unavailable" ? failure.retryAfterMs : null;
  if (retryAfterMs !== null && retryAfterMs > remainingMs) return null;
  const backoffMs = random * Math.min(maxBackoffMs, minBackoffMs * 2 ** (attempt - 1));
  // Jitter keeps processes that received the same `Retry-After` from retrying simultaneously.
  return Math.min(remainingMs, retryAfterMs === null ? backoffMs : retryAfterMs + random * 250);
}

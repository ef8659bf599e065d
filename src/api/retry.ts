import type { Clock } from "../deps.js";
import type { Outage } from "./request-failure.js";

/**
 * Measures the current outage. All requests in a run share one `--max-wait`, so the run waits out an outage only once.
 * After that time is up, each further request is retried for a tenth of `--max-wait`, because the outage may affect only
 * one endpoint.
 */
export class OutageTimer {
  #lastResponseAt = Number.NEGATIVE_INFINITY;
  #startedAt: number | null = null;
  readonly #failedEndpoints = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  get affectsSeveralEndpoints(): boolean {
    return this.#failedEndpoints.size > 1;
  }

  /** Ends the outage. An error response, such as a 403, counts as a response. */
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

  remainingMs(firstSentAt: number): number {
    const now = this.clock.monotonic();
    const sharedMs = this.maxWaitMs - (this.#startedAt === null ? 0 : now - this.#startedAt);
    return Math.max(sharedMs, this.maxWaitMs / 10 - (now - firstSentAt));
  }
}

const [minBackoffMs, maxBackoffMs] = [500, 30_000];
const maxInvalidBodyRetries = 4;
/** The minimum time that must remain for another attempt to be made. Timers are not precise enough for shorter waits. */
const timerPrecisionMs = 5;

/**
 * Returns the delay before the next attempt, or null to give up. Uses exponential backoff with full jitter, and makes
 * the last attempt when `remainingMs` expires. Honors `Retry-After` unless it exceeds `remainingMs`.
 * @param attempt the number of failed attempts
 * @param random a number in [0, 1)
 */
export function retryDelay(
  outage: Outage,
  { attempt, remainingMs, random }: { attempt: number; remainingMs: number; random: number },
): number | null {
  if (outage.kind === "permanent" || remainingMs <= timerPrecisionMs) return null;
  if (outage.kind === "invalid-body" && attempt > maxInvalidBodyRetries) return null;
  const retryAfterMs = outage.kind === "unavailable" ? outage.retryAfterMs : null;
  if (retryAfterMs !== null && retryAfterMs > remainingMs) return null;
  const backoffMs = random * Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(attempt - 1, 10));
  // Jitter keeps processes that received the same `Retry-After` from retrying simultaneously.
  return Math.min(remainingMs, retryAfterMs === null ? backoffMs : retryAfterMs + random * 250);
}

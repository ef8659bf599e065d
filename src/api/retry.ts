import type { Clock } from "../deps.js";
import type { RequestFailure } from "./request-failure.js";

/**
 * Measures how long the API has not answered any request of a run. All requests share one patience: an API that is gone
 * is waited for once, not once for each resource. A request that begins when it is used up gets a tenth of it, to find
 * out if only the endpoint before it does not answer.
 */
export class OutageTimer {
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** When the silence began; null while the API answers. */
  #since: number | null = null;
  readonly #silent = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  /** True if more than one endpoint did not answer since the last answer. */
  get isEverywhere(): boolean {
    return this.#silent.size > 1;
  }

  /** The API answered, be it with a refusal. */
  answered(): void {
    this.#answeredAt = this.clock.monotonic();
    this.#since = null;
    this.#silent.clear();
  }

  /** A try that was sent at `sentAt` got no answer. A list and its records are one endpoint. */
  failed(path: string, sentAt: number): void {
    this.#since ??= Math.max(sentAt, this.#answeredAt);
    this.#silent.add(path.split("/", 2).join("/"));
  }

  /** Milliseconds that a request, first sent at `begunAt`, may go on without an answer from the API. */
  leftMs(begunAt: number): number {
    const now = this.clock.monotonic();
    const sharedMs = this.maxWaitMs - (this.#since === null ? 0 : now - this.#since);
    return Math.max(sharedMs, this.maxWaitMs / 10 - (now - begunAt));
  }
}

const baseMs = 500;
const capMs = 30_000;
const garbledTries = 4;
/** Less than this is no time left: timers are not exact. */
const noTimeMs = 5;

/**
 * Returns how long to wait before the next try, or null to give up. Full jitter between tries; the last one is made at
 * the very end of what is left. Never earlier than the server asked for: if that is later than the end, there is none.
 * @param situation how many times the request has failed, how long to go on without progress, a number in [0, 1)
 */
export function planRetry(
  fault: RequestFailure,
  { attempt, leftMs, random }: { attempt: number; leftMs: number; random: number },
): { waitMs: number } | null {
  if (!isRetryable(fault) || leftMs <= noTimeMs) return null;
  if (fault.kind === "garbled" && attempt > garbledTries) return null;
  const retryAfterMs = fault.kind === "status" ? fault.retryAfterMs : null;
  if (retryAfterMs !== null && retryAfterMs > leftMs) return null;
  const jitterMs = random * Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 10));
  // A little more than asked, so that processes that were told the same do not come back together.
  const waitMs = retryAfterMs === null ? jitterMs : retryAfterMs + random * 250;
  return { waitMs: Math.min(leftMs, waitMs) };
}

/** True if the fault can pass by itself (API document, Errors: 5xx means retry later). */
export function isRetryable(fault: RequestFailure): boolean {
  if (fault.kind === "permanent") return false;
  if (fault.kind !== "status") return true;
  return fault.status === 408 || fault.status === 429 || (fault.status >= 500 && fault.status < 600);
}

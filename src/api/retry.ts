import type { Fault } from "./faults.js";

/** What is known when a request has failed. Times in milliseconds of the monotonic clock. */
export interface Situation {
  /** How many times this request has failed, this one included: 1, 2, … */
  attempt: number;
  /** Time since the last progress. */
  idleMs: number;
  /** How long to go on without progress; 0 for no retries. */
  maxWaitMs: number;
  /** When this machine's own budget frees its next permit; `null` when it is not full. */
  budgetFreeMs: number | null;
  /** A number in [0, 1). */
  random: number;
}

const baseMs = 500;
const capMs = 30_000;
const garbledTries = 4;
/** Less than this is no time left: timers are not exact. */
const noTimeMs = 5;

/**
 * Whether to try again, and after how long; `null` to give up. Full jitter between tries; the last one is made at the
 * very end of `maxWaitMs`. Never earlier than the server asked for: where that is later than the end, there is none.
 */
export function nextTry(fault: Fault, situation: Situation): { waitMs: number } | null {
  const { attempt, idleMs, maxWaitMs } = situation;
  if (!mayPass(fault)) return null;
  if (fault.kind === "garbled" && attempt > garbledTries) return null;
  const leftMs = maxWaitMs - idleMs;
  if (leftMs <= noTimeMs) return null;
  if (fault.kind === "status" && fault.retryAfterMs !== null && fault.retryAfterMs > leftMs) return null;
  return { waitMs: Math.min(leftMs, wantedMs(fault, situation)) };
}

function wantedMs(fault: Fault, { attempt, budgetFreeMs, random }: Situation): number {
  const jitterMs = random * Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 10));
  if (fault.kind !== "status") return jitterMs;
  // A little more than asked, so that processes told the same do not come back together.
  if (fault.retryAfterMs !== null) return fault.retryAfterMs + random * 250;
  if (fault.status === 429 && budgetFreeMs !== null) return Math.max(budgetFreeMs, jitterMs);
  return jitterMs;
}

/** Whether the fault can pass by itself (API document, Errors: 5xx means retry later). */
export function mayPass(fault: Fault): boolean {
  if (fault.kind === "permanent") return false;
  if (fault.kind !== "status") return true;
  const { status } = fault;
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

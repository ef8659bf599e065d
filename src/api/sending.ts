import type { Deps } from "../deps.js";
import { TooSlow } from "./faults.js";

/** One request gets at least so long, however little patience there is: an answer takes its time. */
export const leastDeadlineMs = 5_000;
const longestDeadlineMs = 300_000;

/** Returns how long one request may take if so much patience is left, in milliseconds. */
export function deadlineOf(leftMs: number): number {
  return Math.min(longestDeadlineMs, Math.max(leastDeadlineMs, leftMs));
}

/** A signal that also aborts when one of others does. */
export interface Following {
  signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following. */
  end(): void;
}

/** Returns a signal that follows others until it is told to end. (`AbortSignal.any` keeps each one it made in memory.) */
export function follow(...signals: (AbortSignal | undefined)[]): Following {
  const own = new AbortController();
  const ends = signals.map((signal) => {
    const pass = () => own.abort(signal?.reason);
    if (signal?.aborted) pass();
    signal?.addEventListener("abort", pass, { once: true });
    return () => signal?.removeEventListener("abort", pass);
  });
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    end() {
      for (const end of ends) end();
    },
  };
}

/** Returns a signal for one request, which aborts at its deadline, too. The deadline needs `deps.later`. */
export function followUntil(
  signal: AbortSignal,
  deadlineMs: number,
  { later }: Pick<Deps, "later">,
): Following {
  const following = follow(signal);
  const seconds = Math.round(deadlineMs / 1_000);
  const callOff = later?.(deadlineMs, () =>
    following.abort(new TooSlow(`no whole answer came within ${seconds} s`)),
  );
  return {
    ...following,
    end() {
      callOff?.();
      following.end();
    },
  };
}

/**
 * Waits for a request, or for a piece of its answer, unless the signal aborts. undici may leave a read that is called off
 * unsettled for ever, and Node ends a program that waits for nothing else.
 * @throws what `work` throws, and the signal's reason
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

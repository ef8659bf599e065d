import type { Deps } from "../deps.js";
import { TooSlow } from "./faults.js";

/** However little patience there is, one request gets so long: an answer takes its time. */
export const leastDeadlineMs = 5_000;
const longestDeadlineMs = 300_000;

/** How long one request may take where so much patience is left. */
export function deadlineOf(leftMs: number): number {
  return Math.min(longestDeadlineMs, Math.max(leastDeadlineMs, leftMs));
}

/** Timers are not exact: a hold that is as long as the patience is waited out. */
export const graceMs = 50;

/** One request under way: it is cut off by whoever asked for it, or at its deadline. */
export interface Sending {
  signal: AbortSignal;
  /** To be called when there is an answer, or a failure. */
  end(): void;
}

/** The deadline covers the whole request, also one whose body drips; it needs `deps.later`. */
export function startSending(
  { later }: Pick<Deps, "later">,
  signal: AbortSignal,
  deadlineMs: number,
): Sending {
  const sending = new AbortController();
  const stop = () => sending.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const seconds = Math.round(deadlineMs / 1_000);
  const callOff = later?.(deadlineMs, () =>
    sending.abort(new TooSlow(`no whole answer came within ${seconds} s`)),
  );
  return {
    signal: sending.signal,
    end() {
      callOff?.();
      signal.removeEventListener("abort", stop);
    },
  };
}

/**
 * Waits for a request, or for a piece of its answer, and no longer than it is wanted. undici may leave a read that is
 * called off unsettled for ever, and Node ends a program that waits for nothing else.
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

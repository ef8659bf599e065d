import type { Deps } from "../deps.js";
import { formatSpan } from "../lib/times.js";
import { TooSlow } from "./faults.js";

/** One request gets at least so long, however little patience there is: an answer takes its time. */
const leastDeadlineMs = 5_000;

/** Does work with a signal of its own, which aborts when the program stops, when the patience ends, and after the work. */
export async function withDeadline<T>(
  leftMs: number,
  { later, signal }: Pick<Deps, "later" | "signal">,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const ms = Math.max(leastDeadlineMs, leftMs);
  const deadline = new AbortController();
  const callOff = later?.(ms, () =>
    deadline.abort(new TooSlow(`no whole answer came within ${formatSpan(ms)}`)),
  );
  try {
    return await work(AbortSignal.any([signal, deadline.signal]));
  } finally {
    callOff?.();
    // The rest of an answer that is not read would occupy a connection.
    deadline.abort();
  }
}

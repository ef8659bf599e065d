import type { Deps } from "./deps.js";

/** Milliseconds of work without a pause, in which no signal is heard. */
const longestMs = 50;

/**
 * Does work that comes in parts, and rests between them as often as a signal needs to be heard.
 * @throws the signal's reason, with which the work ends where it stands, and what the work throws
 */
export async function inParts<Result>(
  parts: Generator<void, Result>,
  { clock, signal }: Pick<Deps, "clock" | "signal">,
): Promise<Result> {
  for (let since = clock.monotonic(); ; ) {
    const { done, value } = parts.next();
    if (done) return value;
    if (clock.monotonic() - since < longestMs) continue;
    await clock.sleep(0, signal).catch((reason: unknown) => parts.throw(reason));
    since = clock.monotonic();
  }
}

/** Does it all at once: it is little, or nobody waits. */
export function atOnce<Result>(parts: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

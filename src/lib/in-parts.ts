import type { Deps } from "../deps.js";

/** Milliseconds of work without a pause, in which no signal is heard. */
const longestMs = 50;

/**
 * Does work that comes in parts. It rests before it, between its parts, and after it where that took long, so that a
 * signal is heard.
 * @throws the signal's reason, with which the work ends where it stands, and what the work throws
 */
export async function inParts<Result>(
  parts: Generator<unknown, Result>,
  { clock, signal }: Pick<Deps, "clock" | "signal">,
): Promise<Result> {
  const rest = async () => {
    await clock.sleep(0, signal).catch((reason: unknown) => parts.throw(reason));
    return clock.monotonic();
  };
  for (let since = await rest(); ; ) {
    const { done, value } = parts.next();
    if (clock.monotonic() - since >= longestMs) since = await rest();
    if (done) return value;
  }
}

/** Does it all at once: it is little, or nobody waits. */
export function atOnce<Result>(parts: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

import type { Deps } from "../../../src/deps.js";

/** The sandbox's own time: it starts where it is told, runs with the real clock, and can be moved on. */
export interface SandboxTime {
  /** Milliseconds since 1970 as the sandbox sees them: for expiry of keys and signed URLs, and for new records. */
  now(): number;
  advance(ms: number): void;
  /** A clock that never jumps: for rate limits and durations. */
  monotonic(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createTime({ clock }: Pick<Deps, "clock">, start: number | undefined): SandboxTime {
  const startedAt = clock.monotonic();
  let origin = start ?? clock.now();
  return {
    now: () => Math.floor(origin + clock.monotonic() - startedAt),
    advance(ms) {
      origin += ms;
    },
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

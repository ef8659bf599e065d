import { leastDeadlineMs, TooSlow } from "../api/index.js";
import type { Clock, Deps } from "../deps.js";

/** A file host that brings less is none that anybody waits for: it drips. */
const leastBytesPerSecond = 1_000;

/**
 * How long to wait for a file host. Time uses the patience up, and each kilobyte gives a second back, up to the whole. So
 * a host that drips is given up like one that is silent.
 */
export interface Patience {
  /** Milliseconds of it that are used up. */
  idleMs(): number;
  grew(bytes: number): void;
  /** Does what the file host is not to blame for: it uses up nothing. */
  apart<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Aborts a call with `TooSlow` when nothing is left. @returns what ends the watch */
  watch(call: AbortController): () => void;
}

export interface Timers {
  clock: Pick<Clock, "monotonic">;
  later?: Deps["later"] | undefined;
}

/** The patience for `--max-wait`; however little that is, one answer gets as long as the API's does. */
export function wholePatienceMs(maxWaitMs: number): number {
  return Math.max(maxWaitMs, leastDeadlineMs);
}

export function openPatience(maxWaitMs: number, { clock, later }: Timers): Patience {
  const wholeMs = wholePatienceMs(maxWaitMs);
  let usedMs = 0;
  let at = clock.monotonic();

  function idleMs(): number {
    return usedMs + clock.monotonic() - at;
  }

  function set(ms: number): void {
    usedMs = Math.max(0, ms);
    at = clock.monotonic();
  }

  return {
    idleMs,
    grew: (bytes) => set(idleMs() - (bytes / leastBytesPerSecond) * 1_000),
    async apart(work) {
      const before = idleMs();
      try {
        return await work();
      } finally {
        set(before);
      }
    },
    watch(call) {
      const until = clock.monotonic() + leastDeadlineMs;
      let callOff: (() => void) | undefined;
      const look = () => {
        const leftMs = Math.max(wholeMs - idleMs(), until - clock.monotonic());
        if (leftMs > 0) callOff = later?.(Math.ceil(leftMs), look);
        else call.abort(new TooSlow(`the file host sent next to nothing for ${seconds(wholeMs)}`));
      };
      look();
      return () => callOff?.();
    },
  };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

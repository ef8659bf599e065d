import type { Clock } from "../deps.js";
import { wholePatienceMs } from "./patience.js";

/** What all files of a run know of the file host together. */
export interface HostWatch {
  /** Whether no other file needs to be tried. */
  readonly isDown: boolean;
  /** It is asked for one more file. */
  called(): void;
  brought(bytes: number): void;
  /** A whole file has come. */
  finished(): void;
  /** A file was given up because of the host. */
  failed(): void;
}

/** So many files in a row that were given up, and it is down. */
const mostFailures = 4;
/** So many bytes, of whichever files, and it is up: what drips does not come to that before it is given up. */
const signOfLifeBytes = 65_536;

/**
 * A host that is down is waited for once, not once for each file: it is down, too, when several files were asked for
 * and none gave a sign of life for a whole patience.
 */
export function watchHost(maxWaitMs: number, clock: Pick<Clock, "monotonic">): HostWatch {
  const patienceMs = wholePatienceMs(maxWaitMs);
  let aliveAt = clock.monotonic();
  let calls = 0;
  let failures = 0;
  let bytes = 0;
  let isDown = false;

  function isAlive(): void {
    aliveAt = clock.monotonic();
    calls = 0;
    failures = 0;
    bytes = 0;
    isDown = false;
  }

  return {
    get isDown() {
      return isDown;
    },
    called() {
      calls += 1;
    },
    brought(more) {
      bytes += more;
      if (bytes >= signOfLifeBytes) isAlive();
    },
    finished: isAlive,
    failed() {
      failures += 1;
      bytes = 0;
      const isSilent = calls > 1 && clock.monotonic() - aliveAt >= patienceMs;
      isDown ||= failures >= mostFailures || isSilent;
    },
  };
}

import { setImmediate } from "node:timers/promises";
import { Stopped, type stopCodes } from "./errors.js";

/** The time limit for a graceful stop, in milliseconds. A signal must end any command within two seconds. */
const gracefulStopMs = 1_500;
const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ends the program on SIGINT, SIGTERM and SIGHUP.
 *
 * Most of the time, the program has no signal handlers, so the operating system ends the process at once. A handler
 * would not run until a long SQLite statement finished. Nothing is lost: SQLite rolls back an open transaction when the
 * mirror is next opened, and an export writes to an unnamed file until it is complete (`export/write-output.ts`).
 *
 * Work that sends requests, prompts the user or creates temporary files runs in `runGracefully`. During that work, the
 * first signal aborts `signal`, so that requests and loops stop and clean up. The process ends on the second signal, or
 * 1.5 seconds after the first one. The signal's reason is then thrown as an uncaught exception, which `main.ts`
 * reports.
 */
export class GracefulStop {
  readonly #abort = new AbortController();
  #isHandling = false;
  #hint: string | undefined;

  /** Aborts on the first signal during `runGracefully`. The reason is a `Stopped` error. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Calls can be nested; the outermost call provides the hint.
   * @param hint the hint for the error that reports the stop
   * @throws Stopped if a signal arrived, even if the work succeeded
   */
  readonly runGracefully = async <T>(
    work: () => Promise<T>,
    hint = "run the same command again",
  ): Promise<T> => {
    if (this.#isHandling) return await work();
    this.#isHandling = true;
    this.#hint = hint;
    for (const name of names) process.on(name, this.#onSignal);
    try {
      const result = await work();
      // Node delivers a signal that arrived during synchronous work when the event loop next polls, which happens
      // within two turns.
      await setImmediate();
      await setImmediate();
      this.signal.throwIfAborted();
      return result;
    } finally {
      for (const name of names) process.off(name, this.#onSignal);
      this.#isHandling = false;
    }
  };

  readonly #onSignal = (name: keyof typeof stopCodes): void => {
    const reason = new Stopped(name, this.#hint);
    if (this.signal.aborted) throw reason;
    setTimeout(() => {
      throw reason;
    }, gracefulStopMs);
    this.#abort.abort(reason);
  };
}

import { setImmediate } from "node:timers/promises";
import { Stopped, stopCodes } from "./errors.js";

/** What a signal does: see `ProcessSignals`. */
export type SignalMode = "clean" | "kill";

/** A signal ends any command within two seconds: a clean stop that takes longer is cut short. */
const cleanStopMs = 1_500;
const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * The signals that end the process.
 *
 * In `clean` mode, the default, the first signal aborts `signal`: requests and loops stop, transactions roll back, and
 * temporary files are removed. A second signal ends the process at once, and so does the first one after 1.5 seconds.
 * Node runs signal handlers between two turns of the event loop, and SQLite is synchronous, so no handler runs during
 * a statement that takes minutes. Such statements run in `kill` mode, in which the handlers are removed and the system
 * ends the process at the first signal; SQLite rolls back an open transaction when the file is next opened. Work
 * inside it that has to clean up after itself, such as replacing a file, switches back to `clean`. Modes nest, but two
 * pieces of work must not run in different modes at the same time.
 */
export class ProcessSignals {
  readonly #stop = new AbortController();
  readonly #endLate: (reason: Stopped) => void;
  readonly #exit: (code: number) => never;
  #mode: SignalMode = "clean";

  /**
   * @param endLate called if a clean stop takes too long
   * @param exit ends the process at once
   */
  constructor(endLate: (reason: Stopped) => void, exit: (code: number) => never) {
    this.#endLate = endLate;
    this.#exit = exit;
    this.#addHandlers();
  }

  /** Aborts at the first signal, with a `Stopped` as its reason. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Runs work during which signals have this effect.
   * @throws Stopped if a signal arrived before work in `kill` mode, or during work in `clean` mode that succeeded
   */
  readonly withSignals = async <T>(mode: SignalMode, work: () => Promise<T>): Promise<T> => {
    if (mode === this.#mode) return await work();
    if (mode === "kill") {
      // A signal that has arrived by now still finds its handler.
      await setImmediate();
      this.signal.throwIfAborted();
    }
    const previous = this.#mode;
    this.#setMode(mode);
    let result: T;
    try {
      result = await work();
    } finally {
      this.#setMode(previous);
    }
    if (mode === "clean") this.signal.throwIfAborted();
    return result;
  };

  /** Leaves signals to the system. */
  removeHandlers(): void {
    for (const name of names) process.off(name, this.#handle);
  }

  #addHandlers(): void {
    for (const name of names) process.on(name, this.#handle);
  }

  #setMode(mode: SignalMode): void {
    this.#mode = mode;
    if (mode === "clean") this.#addHandlers();
    else this.removeHandlers();
  }

  readonly #handle = (name: (typeof names)[number]): void => {
    // A terminal that closes sends SIGHUP after the Ctrl-C that may have preceded it.
    if (this.signal.aborted && name === "SIGHUP") return;
    if (this.signal.aborted) this.#exit(stopCodes[name]);
    const reason = new Stopped(name);
    setTimeout(this.#endLate, cleanStopMs, reason);
    this.#stop.abort(reason);
  };
}

import { setImmediate } from "node:timers/promises";
import { Stopped, stopCodes } from "./errors.js";

/** The time limit for a graceful stop, in milliseconds. A signal must end any command within two seconds. */
const gracefulStopMs = 1_500;
const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type Mode = "graceful" | "killable";

/** Functions that exit the process immediately. */
interface Endings {
  exit(code: number): never;
  /** Reports an error and exits with its code. */
  fail(error: unknown): never;
}

/**
 * Handles the signals that end the process, in one of two modes.
 *
 * In graceful mode, the default, the first signal aborts `signal`, so requests and loops stop, transactions roll back,
 * and temporary files are removed. A second signal ends the process immediately. The process also ends if a graceful
 * stop takes more than 1.5 seconds.
 *
 * Node runs signal handlers between turns of the event loop, and SQLite is synchronous, so no handler runs during a
 * long statement. Such work runs in killable mode: the handlers are removed, so the operating system ends the process
 * on the first signal, without a message. SQLite rolls back an open transaction when the file is next opened. Parts of
 * killable work that must clean up after themselves, such as replacing a file, run in graceful mode. Calls can be
 * nested, but work in different modes must not run concurrently.
 */
export class ProcessSignals {
  /** @param stopHint the hint for the error that is printed when a signal stops the command */
  constructor(private readonly stopHint: string | undefined) {}

  readonly #stop = new AbortController();
  #endings: Endings | undefined;
  #mode: Mode = "graceful";

  /** Aborts on the first signal. The reason is a `Stopped` error. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  handle(endings: Endings): void {
    this.#endings = endings;
    this.#addHandlers();
  }

  /**
   * Runs work during which a signal kills the process.
   * @throws Stopped if a signal has already arrived
   */
  readonly runKillable = async <T>(work: () => Promise<T>): Promise<T> => {
    if (this.#mode === "killable") return await work();
    // A signal that arrived during synchronous work must be handled before the handlers are removed.
    await setImmediate();
    this.signal.throwIfAborted();
    return await this.#runIn("killable", work);
  };

  /** Runs part of killable work in graceful mode. @throws Stopped if a signal arrived, even if the work succeeded */
  readonly runGracefully = async <T>(work: () => Promise<T>): Promise<T> => {
    if (this.#mode === "graceful") return await work();
    const result = await this.#runIn("graceful", work);
    this.signal.throwIfAborted();
    return result;
  };

  removeHandlers(): void {
    for (const name of names) process.off(name, this.#onSignal);
  }

  #addHandlers(): void {
    for (const name of names) process.on(name, this.#onSignal);
  }

  async #runIn<T>(mode: Mode, work: () => Promise<T>): Promise<T> {
    const previous = this.#mode;
    this.#enter(mode);
    try {
      return await work();
    } finally {
      this.#enter(previous);
    }
  }

  #enter(mode: Mode): void {
    this.#mode = mode;
    this.removeHandlers();
    if (mode === "graceful") this.#addHandlers();
  }

  readonly #onSignal = (name: (typeof names)[number]): void => {
    // Closing a terminal sends SIGHUP, possibly right after a Ctrl-C.
    if (this.signal.aborted && name === "SIGHUP") return;
    if (this.signal.aborted) this.#endings?.exit(stopCodes[name]);
    const reason = new Stopped(name, this.stopHint);
    setTimeout(() => this.#endings?.fail(reason), gracefulStopMs);
    this.#stop.abort(reason);
  };
}

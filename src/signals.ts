import { spawn } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { Stopped, stopCodes } from "./errors.js";

/** The time limit for a graceful stop, in milliseconds. A signal must end any command within two seconds. */
const gracefulStopMs = 1_500;
const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The ways to end the process immediately. */
interface Endings {
  exit(code: number): never;
  /** Reports an error and exits with its code. */
  fail(error: unknown): never;
}

/**
 * Handles the signals that end the process.
 *
 * By default a stop is graceful: the first signal aborts `signal`, so requests and loops stop, transactions roll back,
 * and temporary files are removed. A second signal ends the process immediately. The process also ends if a graceful
 * stop takes more than 1.5 seconds. Node runs signal handlers between turns of the event loop, and SQLite is
 * synchronous, so no handler runs during a long statement. Such statements are killable: the handlers are removed, so
 * the operating system ends the process at the first signal. SQLite rolls back an open transaction when the file is
 * next opened. Parts of killable work that have to clean up after themselves, such as replacing a file, run gracefully.
 * Calls can be nested, but killable and graceful work must not run concurrently.
 */
export class ProcessSignals {
  /** @param stopHint the hint in the error that reports a stop */
  constructor(private readonly stopHint: string | undefined) {}

  readonly #stop = new AbortController();
  #endings: Endings | undefined;
  #isKillable = false;

  /** Aborts at the first signal. The reason is a `Stopped` error. */
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
    if (this.#isKillable) return await work();
    // This lets the handlers process any signal that arrived during synchronous work, before they are removed.
    await setImmediate();
    this.signal.throwIfAborted();
    return await this.#run(true, work);
  };

  /** Runs part of killable work gracefully. @throws Stopped if a signal arrived, even if the work succeeded */
  readonly runGracefully = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!this.#isKillable) return await work();
    const result = await this.#run(false, work);
    this.signal.throwIfAborted();
    return result;
  };

  removeHandlers(): void {
    for (const name of names) process.off(name, this.#onSignal);
  }

  #addHandlers(): void {
    for (const name of names) process.on(name, this.#onSignal);
  }

  async #run<T>(isKillable: boolean, work: () => Promise<T>): Promise<T> {
    this.#setKillable(isKillable);
    try {
      return await work();
    } finally {
      this.#setKillable(!isKillable);
    }
  }

  #setKillable(isKillable: boolean): void {
    this.#isKillable = isKillable;
    if (isKillable) this.removeHandlers();
    else this.#addHandlers();
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

/**
 * Starts a shell that prints a message on stderr if this process is killed before the returned function is called. A
 * killed process cannot print anything itself. The shell notices that the process has ended when the pipe between them
 * closes.
 */
export function reportIfKilled(text: string): () => void {
  const script = `trap '' HUP INT TERM; read -r _ || printf '%s\\n' "$1" >&2`;
  const shell = spawn("sh", ["-c", script, "sh", text], { stdio: ["pipe", "ignore", "inherit"] });
  // On systems without a shell, such as Windows, nothing is printed.
  shell.on("error", () => {});
  shell.stdin.on("error", () => {});
  shell.unref();
  const cancel = () => {
    process.off("exit", cancel);
    shell.stdin.end("done\n");
  };
  process.once("exit", cancel);
  return cancel;
}

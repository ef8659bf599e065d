import { homedir, hostname, tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";

/** The time. Tests use a fake. */
export interface Clock {
  /** Returns milliseconds since 1970 (UTC), for times that are stored. */
  now(): number;
  /** Returns milliseconds of a clock that never jumps and that all processes share until a reboot, for waiting times. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds; 0 means the next turn of the event loop. Rejects with the signal's reason when it
   * aborts.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A stream for text, with the properties of Node's `tty.WriteStream` if it is a terminal. */
export interface OutputStream extends NodeJS.WritableStream {
  isTTY?: boolean;
  columns?: number;
}

export interface InputStream extends Readable {
  isTTY?: boolean;
  setRawMode?(mode: boolean): unknown;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** The machine and the paths that a crontab line needs. */
export interface Machine {
  name: string;
  /** The absolute paths of Node and of this program. */
  node: string;
  script: string;
  /** Node's version, such as `20.20.2`. */
  version: string;
}

/**
 * The environment, streams, clock, network and random numbers, which tests replace. Only this file, `main.ts`, `signals.ts`,
 * `bin/` and the code for terminals use Node's own. Files are read and written directly, in folders that tests choose. So are
 * values that no test has to control: the process ID and host name in the names of temporary files, the timeout of a ping,
 * and the IDs in Delta tables.
 */
export interface Deps {
  env: Env;
  cwd: string;
  home: string;
  tmp: string;
  platform: NodeJS.Platform;
  machine: Machine;
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  clock: Clock;
  fetch: Fetch;
  /** The API keys in use. Keys are added when they are read, and hidden in messages and in stored errors. */
  keys: Set<string>;
  /** `setTimeout` that returns a function to cancel it. Tests omit it to disable timeouts. */
  setTimer?(ms: number, call: () => void): () => void;
  /** Opens a file in the system's default program, such as a page in the browser. */
  openInBrowser(path: string): void;
  /** A number in [0, 1), for jitter. */
  random(): number;
  /** Aborts when a signal asks the program to end; the reason is a `Stopped`. */
  signal: AbortSignal;
  /** Runs a long SQLite statement, which a signal cannot interrupt: a signal during this work kills the process. See signals.ts. */
  runKillable<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a part of killable work that has to clean up after itself: a signal aborts `signal` again. */
  runGracefully<T>(work: () => Promise<T>): Promise<T>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  async sleep(ms, signal) {
    try {
      const options = signal ? { signal } : {};
      await (ms === 0 ? turn(undefined, options) : delay(Math.min(ms, 2 ** 31 - 1), undefined, options));
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/** Returns the real machine's dependencies. Standard input is opened when it is first read. */
export function systemDeps(given: Pick<Deps, "signal" | "runKillable" | "runGracefully" | "fetch">): Deps {
  return {
    ...given,
    env: process.env,
    cwd: startedIn,
    home: readOrEmpty(homedir),
    tmp: tmpdir(),
    platform: process.platform,
    get machine() {
      const script = process.argv[1] ?? "";
      const { execPath: node, versions } = process;
      return { name: hostname(), node, script, version: versions.node };
    },
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    clock: systemClock,
    keys: new Set(),
    setTimer(ms, call) {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    openInBrowser(path) {
      const programs: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", win32: "explorer" };
      const { spawn } = process.getBuiltinModule("node:child_process");
      // On a machine without a browser, nothing happens.
      spawn(programs[process.platform] ?? "xdg-open", [path], { stdio: "ignore", detached: true })
        .on("error", () => {})
        .unref();
    },
    random: Math.random,
  };
}

/** The folder that the program was started in; empty if it was deleted. */
const startedIn = readOrEmpty(() => process.cwd());

/** Returns a folder, or an empty text if the system has none: config/folders.ts reports that if the folder is needed. */
function readOrEmpty(ask: () => string): string {
  try {
    return ask();
  } catch {
    return "";
  }
}

export interface FetchOptions {
  /** By default `GET`. */
  method?: "POST";
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** The members of a response that the program uses. A `Response` of Node's own `fetch` has them as well. */
export interface HttpResponse {
  status: number;
  /** Header names are in lower case. */
  headers: Pick<Headers, "get">;
  /** The decompressed body. The request's signal ends it, if it was not read completely. */
  body: AsyncIterable<Uint8Array> | null;
}

/** Sends one request and resolves when the response's headers have arrived. Redirects are not followed. */
export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<HttpResponse>;

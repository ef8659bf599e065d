import { createRequire } from "node:module";
import { homedir, hostname, tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import type { SignalMode } from "./signals.js";

/** Returns this program's version, from package.json. */
export function readVersion(): string {
  return (createRequire(import.meta.url)("../package.json") as { version: string }).version;
}

/** Time as the program sees it: tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970, UTC. For what is recorded. */
  now(): number;
  /** Milliseconds of a clock that never jumps, shared by all processes of one boot. For what is waited for. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds, of 0 in the next turn of the event loop; rejects with the signal's reason when it
   * aborts.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A stream to write text to; `columns` and `isTTY` as Node's own. */
export interface OutputStream extends NodeJS.WritableStream {
  isTTY?: boolean;
  columns?: number;
}

export interface InputStream extends Readable {
  isTTY?: boolean;
  setRawMode?(mode: boolean): unknown;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** The machine and the program's own files, which a schedule names in full. */
export interface Machine {
  name: string;
  /** Absolute paths of Node and of this program. */
  node: string;
  script: string;
  /** Node's version, such as `20.20.2`. */
  version: string;
}

/** All that the program takes from the outside. Only this file, `main.ts`, `bin` and `ui` touch the real ones. */
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
  /** The keys in use. Each one is added when it is read, and hidden in messages and recorded errors. */
  keys: Set<string>;
  /** Calls back after `ms` milliseconds unless it is called off; without it, nothing has a deadline of its own. */
  setTimer?(ms: number, call: () => void): () => void;
  /** Shows a file in the program that the system has for it: a page in the browser. */
  openInBrowser(path: string): void;
  /** A number in [0, 1), for jitter. */
  random(): number;
  /** Aborts, with a `Stopped` as its reason, when the person or the system asks the program to end. */
  signal: AbortSignal;
  /**
   * Runs work during which a signal kills the process (`kill`, for long statements of SQLite) or aborts `signal`
   * (`clean`, the default): see signals.ts.
   */
  withSignals<T>(mode: SignalMode, work: () => Promise<T>): Promise<T>;
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
export function systemDeps(given: Pick<Deps, "signal" | "withSignals" | "fetch">): Deps {
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
      // Nothing happens on a machine without a browser.
      spawn(programs[process.platform] ?? "xdg-open", [path], { stdio: "ignore", detached: true })
        .on("error", () => {})
        .unref();
    },
    random: Math.random,
  };
}

/** The folder that the program was started in; empty if it is gone. */
const startedIn = readOrEmpty(() => process.cwd());

/** Returns the system's answer; empty if it has none, which config/folders.ts reports where it is needed. */
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

/** The parts of an answer that the program uses. A `Response` of Node's own `fetch` has them, too. */
export interface HttpResponse {
  status: number;
  /** Names are asked for in lower case. */
  headers: Pick<Headers, "get">;
  /** Decompressed. The part that is not read ends with the request's signal. */
  body: AsyncIterable<Uint8Array> | null;
}

/** Sends one request and resolves when the answer's headers are here. Redirects are not followed. */
export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<HttpResponse>;

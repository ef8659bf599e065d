import { homedir, hostname, tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import type { ExitCode } from "./errors.js";

export interface Clock {
  /** Returns the current time in milliseconds since the Unix epoch (UTC), for stored timestamps. */
  now(): number;
  /**
   * Returns the time in milliseconds on a monotonic clock, for measuring durations. Until a reboot, all processes share
   * this clock.
   */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds; 0 means the next turn of the event loop. Rejects with the signal's reason when
   * the signal aborts.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** An output stream. If it is a terminal, it also has some of the properties of Node's `tty.WriteStream`. */
export interface OutputStream extends NodeJS.WritableStream {
  isTTY?: boolean;
  columns?: number;
}

export interface InputStream extends Readable {
  isTTY?: boolean;
  setRawMode?(mode: boolean): unknown;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** The host name, Node's version, and the paths of Node and of brandapi. */
export interface Machine {
  name: string;
  /** The absolute path of the Node executable. */
  node: string;
  /** The absolute path of brandapi's script. */
  script: string;
  version: string;
}

/**
 * The environment, streams, clock, network and random numbers, which tests replace. Only this file, `main.ts`,
 * `signals.ts`, `bin/` and the terminal code use the real ones. Files are accessed directly, in folders that tests
 * choose. A few more values come directly from Node, because no test needs to control them: the process ID and host
 * name in the names of temporary files, the ping timeout, and the IDs in Delta tables.
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
  /** The API keys in use, which are redacted in messages and stored errors. Each key is added when it is read. */
  apiKeys: Set<string>;
  /** Like `setTimeout`, but returns a function that cancels the timer. Tests omit `setTimer` to disable timeouts. */
  setTimer?(ms: number, call: () => void): () => void;
  /** Opens a local HTML file in the browser. */
  openInBrowser(path: string): void;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  /** Aborts when a process signal arrives during `runGracefully`. The reason is a `Stopped` error. */
  signal: AbortSignal;
  /**
   * Runs work that must clean up after itself if a signal arrives (see `signals.ts`). At any other time, a signal ends
   * the process at once.
   * @param hint the hint for the error that reports the stop (default: run the same command again)
   * @throws Stopped if a signal arrived, even if the work succeeded
   */
  runGracefully<T>(work: () => Promise<T>, hint?: string): Promise<T>;
}

/** The parts of the command line that are needed before commander has parsed it, or after commander has rejected it. */
export interface CommandLine {
  /** The arguments after `brandapi`. */
  argv: readonly string[];
  command: string | undefined;
  json: boolean;
  verbose: boolean;
  profile: string | undefined;
  db: string | undefined;
  baseUrl: string | undefined;
  keyFile: string | undefined;
}

/** The values that a command receives in addition to its flags and arguments. */
export interface Context {
  deps: Deps;
  commandLine: CommandLine;
  /** The current profile if the command runs for all profiles; otherwise, undefined. */
  profile?: string;
  /** Runs another `brandapi` command and returns its exit code. Rethrows that command's error. */
  runCommand(argv: readonly string[], deps: Deps): Promise<ExitCode>;
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

/** Returns the real dependencies: the machine's clock, network and streams. Standard input is opened on first use. */
export function systemDeps(given: Pick<Deps, "signal" | "runGracefully" | "fetch">): Deps {
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
    apiKeys: new Set(),
    setTimer(ms, call) {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    openInBrowser(path) {
      const programs: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", win32: "explorer" };
      const { spawn } = process.getBuiltinModule("node:child_process");
      // Do not fail if no browser can be opened.
      spawn(programs[process.platform] ?? "xdg-open", [path], { stdio: "ignore", detached: true })
        .on("error", () => {})
        .unref();
    },
    random: Math.random,
  };
}

/** The working directory at startup; empty if the directory was deleted. */
const startedIn = readOrEmpty(() => process.cwd());

/**
 * Returns an empty string if there is no home folder. `config/folders.ts` reports this when a command needs the folder.
 */
function readOrEmpty(ask: () => string): string {
  try {
    return ask();
  } catch {
    return "";
  }
}

export interface FetchOptions {
  /** The request method (default: `GET`). */
  method?: "POST";
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** The parts of a `Response` that the program uses. */
export interface HttpResponse {
  status: number;
  /** Header names are lowercase. */
  headers: Pick<Headers, "get">;
  /** The decompressed body. Aborting the request's signal cancels an unfinished body. */
  body: AsyncIterable<Uint8Array> | null;
}

/** Sends one request, and resolves when the response headers have arrived. Redirects are not followed. */
export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<HttpResponse>;

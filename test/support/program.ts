import { PassThrough, Writable } from "node:stream";
import {
  type Clock,
  type Deps,
  type Env,
  type Fetch,
  type InputStream,
  type Machine,
  type OutputStream,
  systemClock,
} from "../../src/deps.js";
import { runCommandLine } from "../../src/main.js";
import { makeHome } from "./home.js";
import { binPath } from "./process.js";

export interface ProgramOptions {
  env?: Env;
  /** The home folder; by default, a new, empty folder. */
  home?: string;
  /** The current folder; by default, the home folder. */
  cwd?: string;
  /** Text piped into stdin, or typed if stdin is a terminal. */
  stdin?: string;
  /** Which streams are terminals; `true` means all three. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  columns?: number;
  fetch?: Fetch;
  clock?: Partial<Clock>;
  signal?: AbortSignal;
  platform?: NodeJS.Platform;
  machine?: Partial<Machine>;
  /** The value of `random()`. Simultaneous runs need different values for the names of their temporary files. */
  random?: number;
}

export interface ProgramResult {
  code: number;
  out: string;
  err: string;
  home: string;
  /** Each value that the terminal's raw mode was set to. */
  raw: boolean[];
  /** Files that were opened in the browser. */
  opened: string[];
}

/**
 * Returns dependencies for a test: captured streams, a new home folder, and none of this process's environment
 * variables.
 */
export function testDeps(options: ProgramOptions = {}) {
  const { tty = false, columns = 80, home = makeHome() } = options;
  const isTTY = (name: "stdin" | "stdout" | "stderr") =>
    typeof tty === "boolean" ? tty : tty[name] === true;
  const streams = {
    stdin: input(options.stdin, isTTY("stdin")),
    stdout: capture({ isTTY: isTTY("stdout"), columns }),
    stderr: capture({ isTTY: isTTY("stderr"), columns }),
  };
  const opened: string[] = [];
  return {
    env: { LANG: "C.UTF-8", ...options.env },
    cwd: options.cwd ?? home,
    home,
    tmp: home,
    platform: options.platform ?? "linux",
    machine: {
      name: "mill",
      node: process.execPath,
      script: binPath,
      version: process.versions.node,
      ...options.machine,
    },
    ...streams,
    clock: { ...systemClock, ...options.clock },
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    keys: new Set<string>(),
    openInBrowser: (path) => void opened.push(path),
    opened,
    random: () => options.random ?? 0.5,
    signal: options.signal ?? new AbortController().signal,
    runKillable: (work) => work(),
    runGracefully: (work) => work(),
  } satisfies Deps & { opened: string[] };
}

/**
 * Runs a command line in this process: `await brandapi("export orders --csv", { home })`.
 * @param command arguments separated by spaces, or a list of arguments
 */
export async function brandapi(
  command: string | readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const argv = typeof command === "string" ? command.split(/\s+/).filter(Boolean) : command;
  const deps = testDeps(options);
  const code = await runCommandLine(argv, deps);
  return {
    code,
    out: deps.stdout.text,
    err: deps.stderr.text,
    home: deps.home,
    raw: deps.stdin.raw,
    opened: deps.opened,
  };
}

/** A stream that records the text written to it. */
type Captured = OutputStream & { readonly text: string };

function capture(terminal: { isTTY: boolean; columns: number }): Captured {
  const pieces: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(piece: string | Buffer, _encoding, done) {
      pieces.push(piece.toString());
      done();
    },
  });
  const size = terminal.isTTY ? { isTTY: true, columns: terminal.columns } : { isTTY: false };
  return Object.defineProperty(Object.assign(stream, size), "text", {
    get: () => pieces.join(""),
  }) as unknown as Captured;
}

/**
 * Returns a terminal with typed text, or a pipe that ends after the text. `raw` records each change of the raw mode.
 */
function input(text: string | undefined, isTTY: boolean): InputStream & { raw: boolean[] } {
  const stream = new PassThrough();
  const raw: boolean[] = [];
  const setRawMode = (mode: boolean) => raw.push(mode);
  if (text !== undefined) stream.write(text);
  if (!isTTY) stream.end();
  return Object.assign(stream, { isTTY, raw, ...(isTTY ? { setRawMode } : {}) });
}

import type { Fetch } from "../../src/deps.js";
import { type Clock, type Deps, type Env, type Machine, systemClock } from "../../src/deps.js";
import { run } from "../../src/main.js";
import { makeHome } from "./home.js";
import { binPath } from "./process.js";
import { capture, input } from "./streams.js";

export interface ProgramOptions {
  env?: Env;
  /** The HOME folder; by default a new, empty one. */
  home?: string;
  /** By default the HOME folder. */
  cwd?: string;
  /** What is piped into stdin, or typed where it is a terminal. */
  stdin?: string;
  /** Which streams are terminals; `true` for all three. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  columns?: number;
  fetch?: Fetch;
  clock?: Partial<Clock>;
  signal?: AbortSignal;
  platform?: NodeJS.Platform;
  machine?: Partial<Machine>;
  /** What stands for chance: temporary files of two runs at once need two. */
  random?: number;
}

export interface ProgramResult {
  code: number;
  out: string;
  err: string;
  home: string;
  /** Each switch of the terminal's raw mode. */
  raw: boolean[];
  /** Files that were shown in the browser. */
  opened: string[];
}

/** What the program sees of the world in a test: captured streams, a HOME of its own, nothing of this process's env. */
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
    withSignals: (_mode, work) => work(),
  } satisfies Deps & { opened: string[] };
}

/**
 * Runs one command line in this process: `await brandapi("export orders --csv", { home })`.
 * @param command as in a shell without quoting, or the arguments one by one
 */
export async function brandapi(
  command: string | readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const argv = typeof command === "string" ? command.split(/\s+/).filter(Boolean) : command;
  const deps = testDeps(options);
  const code = await run(argv, deps);
  return {
    code,
    out: deps.stdout.text,
    err: deps.stderr.text,
    home: deps.home,
    raw: deps.stdin.raw,
    opened: deps.opened,
  };
}

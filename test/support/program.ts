import { PassThrough, Writable } from "node:stream";
import { scanCommandLine } from "../../src/cli/flags.js";
import {
  type Clock,
  type Deps,
  type InputStream,
  type Machine,
  type OutputStream,
  systemClock,
} from "../../src/deps.js";
import { runCommandLine } from "../../src/main.js";
import { makeHome } from "./home.js";
import { binPath } from "./process.js";

type ReplaceableDeps = Pick<Deps, "env" | "home" | "cwd" | "fetch" | "signal" | "platform">;

export interface ProgramOptions extends Partial<ReplaceableDeps> {
  /** The text that is piped to stdin, or typed if stdin is a terminal. */
  stdin?: string;
  /** The streams that are terminals; true for all three. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  columns?: number;
  clock?: Partial<Clock>;
  machine?: Partial<Machine>;
  /** The value that `random()` returns. Concurrent runs need different values to get distinct temporary file names. */
  random?: number;
}

/**
 * Returns dependencies with captured streams, a new home folder and an empty environment. `opened` lists the files that
 * were opened in the browser. `stdin.raw` lists the values that were passed to `setRawMode`.
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
  const signal = options.signal ?? new AbortController().signal;
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
    signal,
    async runGracefully(work) {
      const result = await work();
      signal.throwIfAborted();
      return result;
    },
  } satisfies Deps & { opened: string[] };
}

/** Runs a command line in this process, such as `brandapi("export orders --csv", { home })`. */
export async function brandapi(command: string | readonly string[], options: ProgramOptions = {}) {
  const argv = typeof command === "string" ? command.split(/\s+/).filter(Boolean) : command;
  const deps = testDeps(options);
  const code = await runCommandLine(scanCommandLine(argv), deps);
  const { home, opened, stdin, stdout, stderr } = deps;
  return { code, out: stdout.text, err: stderr.text, home, raw: stdin.raw, opened };
}

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

/** Returns a terminal in which the text has been typed, or a pipe that ends after the text. */
function input(text: string | undefined, isTTY: boolean): InputStream & { raw: boolean[] } {
  const stream = new PassThrough();
  const raw: boolean[] = [];
  const setRawMode = (mode: boolean) => raw.push(mode);
  if (text !== undefined) stream.write(text);
  if (!isTTY) stream.end();
  return Object.assign(stream, { isTTY, raw, ...(isTTY ? { setRawMode } : {}) });
}

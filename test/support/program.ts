import { PassThrough, Writable } from "node:stream";
import { scanCommandLine } from "../../src/cli/command-line.js";
import { type Clock, type Deps, type InputStream, type OutputStream, systemClock } from "../../src/deps.js";
import { runCommandLine } from "../../src/main.js";
import { makeHome } from "./home.js";
import { binPath } from "./process.js";

export interface ProgramOptions extends Partial<Omit<Deps, "stdin" | "stdout" | "stderr" | "clock">> {
  /** The text that is piped to stdin, or typed if stdin is a terminal. */
  stdin?: string;
  /** The streams that are terminals; `true` if all three are. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  columns?: number;
  clock?: Partial<Clock>;
}

/**
 * Returns dependencies with captured streams, a new home folder and an empty environment, unless `options` replaces
 * them. `stdin.raw` lists the values that were passed to `setRawMode`.
 */
export function testDeps(options: ProgramOptions = {}) {
  const { stdin, tty = false, columns = 80, clock, env, home = makeHome(), ...replaced } = options;
  const isTTY = (name: "stdin" | "stdout" | "stderr") =>
    typeof tty === "boolean" ? tty : tty[name] === true;
  const streams = {
    stdin: input(stdin, isTTY("stdin")),
    stdout: capture({ isTTY: isTTY("stdout"), columns }),
    stderr: capture({ isTTY: isTTY("stderr"), columns }),
  };
  const signal = options.signal ?? new AbortController().signal;
  return {
    env: { LANG: "C.UTF-8", ...env },
    cwd: home,
    home,
    tmp: home,
    platform: "linux" as const,
    machine: { name: "mill", node: process.execPath, script: binPath, version: process.versions.node },
    clock: { ...systemClock, ...clock },
    fetch: (url, init) => fetch(url, init),
    apiKeys: new Set<string>(),
    openInBrowser() {},
    random: () => 0.5,
    signal,
    async runGracefully(work) {
      const result = await work();
      signal.throwIfAborted();
      return result;
    },
    ...replaced,
    ...streams,
  } satisfies Deps;
}

/** Runs a command line in this process, for example `brandapi("export orders --csv", { home })`. */
export async function brandapi(command: string | readonly string[], options: ProgramOptions = {}) {
  const argv = typeof command === "string" ? command.split(/\s+/).filter(Boolean) : command;
  const deps = testDeps(options);
  const code = await runCommandLine(scanCommandLine(argv), deps);
  const { home, stdin, stdout, stderr } = deps;
  return { code, out: stdout.text, err: stderr.text, home, raw: stdin.raw };
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

/** Returns a terminal in which the text has been typed, or a pipe that contains the text. */
function input(text: string | undefined, isTTY: boolean): InputStream & { raw: boolean[] } {
  const stream = new PassThrough();
  const raw: boolean[] = [];
  const setRawMode = (mode: boolean) => raw.push(mode);
  if (text !== undefined) stream.write(text);
  if (!isTTY) stream.end();
  return Object.assign(stream, { isTTY, raw, ...(isTTY ? { setRawMode } : {}) });
}

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { makeHome } from "./home.js";

export const binPath = fileURLToPath(new URL("../../bin/brandapi.js", import.meta.url));

export interface SpawnOptions {
  env?: Record<string, string>;
  home?: string;
  /** The text on stdin, empty by default. If null, stdin stays open without any input. */
  stdin?: string | null;
  /** The user ID to run as; requires root. */
  uid?: number;
  /** The Node executable, followed by Node options. */
  node?: readonly [command: string, ...flags: string[]];
}

export interface ProcessResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface RunningProgram {
  child: ChildProcess;
  home: string;
  /** Resolves when stdout or stderr matches the pattern. Rejects if the process ends first. */
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  ended: Promise<ProcessResult>;
}

/** Runs the program in a child process with only PATH, HOME and `options.env` in its environment. */
export function spawnBrandapi(args: readonly string[], options: SpawnOptions = {}): RunningProgram {
  const { home = makeHome(), node = [process.execPath] } = options;
  const [command, ...flags] = node;
  const child = spawn(command, [...flags, binPath, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.uid !== undefined && { uid: options.uid }),
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => {});
  if (options.stdin !== null) child.stdin.end(options.stdin ?? "");
  const ended = new Promise<ProcessResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, out, err }));
  });
  const until = (pattern: RegExp) =>
    new Promise<RegExpMatchArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(out) ?? pattern.exec(err);
        if (match) resolve(match);
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      look();
      ended
        .then(look)
        .then(() => reject(new Error(`The program ended before ${pattern} appeared: ${out}${err}`)), reject);
    });
  return { child, home, until, ended };
}

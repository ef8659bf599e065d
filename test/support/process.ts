import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { makeHome } from "./home.js";

/** The program as people run it: needs a build, which the tests' global set-up makes. */
export const binPath = fileURLToPath(new URL("../../bin/brandapi.js", import.meta.url));

export interface SpawnOptions {
  env?: Record<string, string>;
  home?: string;
  /** Piped into stdin, which is then closed; without it stdin is empty. Null: it stays open, and nothing comes. */
  stdin?: string | null;
  /** Nobody reads its stdout. */
  isUnread?: boolean;
  /** The user to run as, which only root can choose. */
  uid?: number;
  /** Another Node, or its flags before the script. */
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
  /** What came on stderr or stdout so far. */
  output(): { out: string; err: string };
  /** Resolves when `pattern` has appeared on either stream; rejects when the process ends before. */
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  ended: Promise<ProcessResult>;
}

/** Starts a real process with a HOME of its own and nothing else in its environment but PATH. */
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
  if (!options.isUnread) child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => {});
  if (options.stdin !== null) child.stdin.end(options.stdin ?? "");
  const ended = new Promise<ProcessResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => options.isUnread && child.stdout.destroy());
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
        .then(() => reject(new Error(`It ended before ${pattern} appeared: ${out}${err}`)), reject);
    });
  return { child, home, output: () => ({ out, err }), until, ended };
}

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quoteShellWord } from "../../src/util/format-text.js";
import { makeHome } from "../support/home.js";
import { binPath } from "../support/process.js";

/** True if this machine has the `script` command from util-linux, which runs a program in a pseudo-terminal. */
export const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

export interface TerminalOptions {
  columns?: number;
  env?: Record<string, string>;
  home?: string;
}

/** A program that runs in a pseudo-terminal. The terminal echoes typed text. */
export interface InTerminal {
  home: string;
  output(): string;
  type(text: string): void;
  /** Resolves when the output matches the pattern. Rejects if the program ends first. */
  until(pattern: RegExp): Promise<void>;
  ended: Promise<number | null>;
}

export function inTerminal(args: readonly string[], options: TerminalOptions = {}): InTerminal {
  const { columns = 80, env = {}, home = makeHome() } = options;
  const start = join(home, "start.sh");
  const command = [process.execPath, binPath, ...args].map(quoteShellWord).join(" ");
  writeFileSync(start, `stty cols ${columns} rows 30\nexec ${command}\n`);
  chmodSync(start, 0o700);
  const child = spawn("script", ["-qec", `sh ${quoteShellWord(start)}`, "/dev/null"], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const until = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => pattern.test(output) && resolve();
      child.stdout.on("data", look);
      look();
      ended
        .then(look)
        .then(() => reject(new Error(`The program ended before ${pattern} appeared: ${output}`)), reject);
    });
  return { home, output: () => output, type: (text) => void child.stdin.write(text), until, ended };
}

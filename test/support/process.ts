import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { afterFile, makeHome } from "./home.js";

export const binPath = fileURLToPath(new URL("../../bin/brandapi.js", import.meta.url));

interface SpawnOptions {
  env?: Record<string, string>;
  home?: string;
  /** The text on stdin, empty by default. If null, stdin stays open without any input. */
  stdin?: string | null;
  /** The user ID to run as; requires root. */
  uid?: number;
  /** The Node executable, followed by Node options. */
  node?: readonly [command: string, ...flags: string[]];
}

/** Waits for up to 20 seconds until the condition is true. Vitest's own limit is too short for a busy machine. */
export async function until(condition: () => unknown): Promise<void> {
  await vi.waitUntil(condition, { timeout: 20_000, interval: 10 });
}

/** Runs the program in a child process with only PATH, HOME and `options.env` in its environment. */
export function spawnBrandapi(args: readonly string[], options: SpawnOptions = {}) {
  const { home = makeHome(), node = [process.execPath], stdin = "", uid } = options;
  const [command, ...flags] = node;
  const child = spawn(command, [...flags, binPath, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(uid !== undefined && { uid }),
  });
  // A program left running by a failed test must not outlive the test file.
  afterFile(() => child.kill("SIGKILL"));
  let out = "";
  let err = "";
  let hasEnded = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => {});
  if (stdin !== null) child.stdin.end(stdin);
  const ended = once(child, "close").then(([code, signal]) => {
    hasEnded = true;
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, out, err };
  });
  return {
    child,
    home,
    ended,
    /** Waits until stdout or stderr matches the pattern. Throws if the process ends first. */
    async until(pattern: RegExp): Promise<RegExpMatchArray> {
      for (;;) {
        const match = pattern.exec(out) ?? pattern.exec(err);
        if (match) return match;
        if (hasEnded) throw new Error(`The program ended before ${pattern} appeared: ${out}${err}`);
        await sleep(5);
      }
    },
    /** Waits for the first output on stdout, and then closes the pipe, as `head` does. */
    async closeStdout(): Promise<void> {
      await once(child.stdout, "data");
      child.stdout.destroy();
    },
  };
}

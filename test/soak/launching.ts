import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "../support/old-sandbox/index.js";

/** The program as people run it, in a HOME of its own. */
export interface Launch {
  bin: string;
  home: string;
  args: readonly string[];
  env: Record<string, string>;
}

/** How a process ended, and how long its work took: from its first sign of work to its end, in milliseconds. */
export interface Ended {
  signal: NodeJS.Signals | null;
  code: number | null;
  workMs: number;
  err: string;
}

/** What happens to a process, so many milliseconds after its work began. */
export interface Strike {
  afterMs: number;
  act(child: ChildProcess): void;
}

/**
 * Runs a process to its end, whatever strikes it. Work begins with the first request that reaches the API, or for an
 * export with the file that it writes.
 */
export async function launch(
  { bin, home, args, env }: Launch,
  sign: { requests: Requests } | { folder: string; besides: ReadonlySet<string> },
  strike?: Strike,
): Promise<Ended> {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let err = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  let began: number | undefined;
  const begin = () => {
    if (began !== undefined) return;
    began = performance.now();
    if (strike) setTimeout(() => strike.act(child), strike.afterMs).unref();
  };
  const stopWatching =
    "requests" in sign ? sign.requests.watch(begin, strike !== undefined) : watchFolder(sign, child, begin);
  const ended = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal })),
  );
  stopWatching();
  return { ...ended, err, workMs: began === undefined ? 0 : performance.now() - began };
}

/** Tells when the first request of a process arrives: there is one process at a time. */
export interface Requests {
  /** @param isStruck answers are then slow enough for a strike to find several requests and a transaction under way */
  watch(begin: () => void, isStruck: boolean): () => void;
}

export function requestsOf(sandbox: Sandbox): Requests {
  return {
    watch(begin, isStruck) {
      sandbox.intercept = () => {
        begin();
        return isStruck ? { kind: "delay", ms: 15 } : undefined;
      };
      return () => {
        sandbox.intercept = undefined;
      };
    },
  };
}

function watchFolder(
  { folder, besides }: { folder: string; besides: ReadonlySet<string> },
  child: ChildProcess,
  begin: () => void,
): () => void {
  const timer = setInterval(() => {
    if (child.exitCode !== null || !existsSync(folder)) return;
    if (readdirSync(folder).some((name) => !besides.has(name))) begin();
  }, 1);
  return () => clearInterval(timer);
}

/** Where the mirror of a HOME is. */
export const mirrorIn = (home: string) => join(home, "mirror.sqlite");

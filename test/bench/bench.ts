import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Measured, measure, type Program } from "./measure.js";
import type { Line } from "./table.js";

export interface Bench {
  folder: string;
  rounds: number;
  serve(options: { orders: number; latency?: number }): Promise<Served>;
  say(text: string): void;
}

export interface Scenario {
  name: string;
  about: string;
  /** True for scenarios that take minutes. They run only if they are requested by name. */
  slow?: boolean;
  run(bench: Bench): Promise<Line[]>;
}

export interface Served {
  /** Environment variables that point the program to the sandbox. */
  env: Record<string, string>;
  bytes: number;
}

const own = fileURLToPath(new URL(".", import.meta.url));
export const bin = join(own, "../../../bin/brandapi.js");

export async function withBench(
  rounds: number,
  say: Bench["say"],
  work: (bench: Bench) => Promise<Line[]>,
): Promise<Line[]> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-bench-"));
  const servers: ChildProcess[] = [];
  async function serve({ orders, latency = 0 }: { orders: number; latency?: number }): Promise<Served> {
    const child = spawn(
      process.execPath,
      [join(own, "server.mjs"), "--orders", `${orders}`, "--latency", `${latency}`],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    servers.push(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const { baseUrl, key, bytes } = JSON.parse(line) as { baseUrl: string; key: string; bytes: number };
      return { bytes, env: { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key, BRANDAPI_RATE_LIMIT: "none" } };
    }
    throw new Error("the server did not start");
  }
  try {
    return await work({ folder, rounds, serve, say });
  } finally {
    for (const server of servers) server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function peer(name: "floor" | "fill", args: readonly string[], env: Record<string, string> = {}) {
  return { command: process.execPath, args: [join(own, `${name}.mjs`), ...args], env } satisfies Program;
}

export async function runBrandapi(
  { folder }: Bench,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Measured> {
  const program = { command: process.execPath, args: [bin, ...args], cwd: folder };
  return await measure({ ...program, env: { HOME: folder, ...env } });
}

export function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm", "-lock"]) rmSync(`${path}${end}`, { force: true });
}

import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

export interface Measured {
  wallMs: number;
  /** User and system CPU time, which is less sensitive to other load on the machine than elapsed time. */
  cpuMs: number;
  /** The peak resident set size in megabytes (10^6 bytes). */
  peakMb: number;
}

export interface Program {
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
}

/** A module that makes the process print its resource usage before it exits. */
const usage =
  "data:text/javascript," +
  encodeURIComponent(
    `import { writeSync } from "node:fs";
     process.on("exit", () => { try { writeSync(3, JSON.stringify(process.resourceUsage())); } catch {} });`,
  );

export async function measure(program: Program): Promise<Measured> {
  const isNode = program.command === process.execPath;
  const args = isNode ? ["--import", usage, ...program.args] : [...program.args];
  const started = performance.now();
  const child = spawn(program.command, args, {
    cwd: program.cwd,
    env: { PATH: process.env.PATH ?? "", ...program.env },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const [err, usageText] = [child.stderr, child.stdio[3]].map((stream) => textOf(stream));
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const wallMs = performance.now() - started;
  if (code !== 0)
    throw new Error(`${program.command} ${program.args.join(" ")} ended with ${code}: ${err?.()}`);
  const figures = usageText?.() ? usageOf(usageText()) : { cpuMs: 0, peakMb: 0 };
  return { wallMs, ...figures };
}

function usageOf(text: string): { cpuMs: number; peakMb: number } {
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(text) as NodeJS.ResourceUsage;
  return { cpuMs: (userCPUTime + systemCPUTime) / 1_000, peakMb: (maxRSS * 1_024) / 1e6 };
}

function textOf(stream: unknown): () => string {
  let text = "";
  (stream as Readable | null)?.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  return () => text;
}

/** Runs programs alternately so that other load affects them equally. Returns each program's medians. */
export async function interleaved<Name extends string>(
  rounds: number,
  programs: Record<Name, () => Promise<Measured>>,
): Promise<Record<Name, Measured>> {
  const names = Object.keys(programs) as Name[];
  const runs = new Map<Name, Measured[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) runs.get(name)?.push(await programs[name]());
  return Object.fromEntries(names.map((name) => [name, medianOf(runs.get(name) ?? [])])) as Record<
    Name,
    Measured
  >;
}

export function medianOf(runs: readonly Measured[]): Measured {
  const last = runs.at(-1);
  if (!last) throw new Error("no runs");
  return {
    ...last,
    wallMs: median(runs.map(({ wallMs }) => wallMs)),
    cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
    peakMb: Math.max(...runs.map(({ peakMb }) => peakMb)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

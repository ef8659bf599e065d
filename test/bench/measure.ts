import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

/** What one run of a process took. */
export interface Measured {
  wallMs: number;
  /** User and system time of the process: what a busy machine distorts least. */
  cpuMs: number;
  /** The largest resident set, in MB (10^6 bytes). */
  peakMb: number;
}

export interface Program {
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
}

/** Node tells itself what it used, as it exits: the figures that `wait4` gives. */
const usage =
  "data:text/javascript," +
  encodeURIComponent(
    `import { writeSync } from "node:fs";
     process.on("exit", () => { try { writeSync(3, JSON.stringify(process.resourceUsage())); } catch {} });`,
  );

/**
 * Runs a process to its end.
 * @throws when it fails: a benchmark of a failure says nothing
 */
export async function measure(program: Program): Promise<Measured> {
  const isNode = program.command === process.execPath;
  const args = isNode ? ["--import", usage, ...program.args] : [...program.args];
  const started = performance.now();
  const child = spawn(program.command, args, {
    cwd: program.cwd,
    env: { PATH: process.env.PATH ?? "", ...program.env },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const [err, told] = [child.stderr, child.stdio[3]].map((stream) => textOf(stream));
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const wallMs = performance.now() - started;
  if (code !== 0)
    throw new Error(`${program.command} ${program.args.join(" ")} ended with ${code}: ${err?.()}`);
  const figures = told?.() ? usageOf(told()) : { cpuMs: 0, peakMb: 0 };
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

/** Runs contestants in turns, because another load then disturbs all of them. Returns the median of each. */
export async function interleaved<Name extends string>(
  rounds: number,
  contestants: Record<Name, () => Promise<Measured>>,
): Promise<Record<Name, Measured>> {
  const names = Object.keys(contestants) as Name[];
  const runs = new Map<Name, Measured[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) runs.get(name)?.push(await contestants[name]());
  return Object.fromEntries(names.map((name) => [name, medianOf(runs.get(name) ?? [])])) as Record<
    Name,
    Measured
  >;
}

/** Each figure's own median; the peak is the highest, since it is a promise about every run. */
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

import { spawn } from "node:child_process";
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom, type SoakBrand } from "./brand.js";
import { compare, inspect } from "./inspect.js";

export interface Strikes {
  points: number;
  seed: number;
  bin: string;
  say(line: string): void;
}

export interface Report {
  /** The number of runs that were interrupted. */
  landed: number;
  /** The number of runs that ended before they could be interrupted. */
  late: number;
  lost: string[];
}

interface Ended {
  code: number | null;
  signal: string | null;
  out: string;
}

/** Runs the program, and calls `strike` after `afterMs` milliseconds, or never if `afterMs` is null. */
function run(
  bin: string,
  args: string[],
  env: SoakBrand["env"],
  strike: ((out: string) => void) | null,
  afterMs = 0,
) {
  const child = spawn(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH, ...env } });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (out += String(chunk)));
  let isOver = false;
  const struck = { landed: false };
  if (strike)
    setTimeout(() => {
      if (isOver) return;
      struck.landed = true;
      strike(out);
    }, afterMs);
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code, signal) => {
      isOver = true;
      resolve({ code, signal, out });
    }),
  );
  return { child, ended, struck };
}

const jobs = [["sync", "orders"], ["sync", "orders", "--full"], ["verify", "orders", "--repair"], ["sync"]];

/**
 * Kills processes at random times. The mirror must not lose stored records, or contain records that the API never sent.
 */
export async function strikeProcesses(
  brand: SoakBrand,
  { bin, points, say, seed }: Strikes,
): Promise<Report> {
  const random = createRandom(seed);
  const db = join(brand.folder, "mirror.sqlite");
  const report: Report = { landed: 0, late: 0, lost: [] };
  let longestMs = 1_500;
  while (report.landed < points) {
    if (random() < 0.05) for (const end of ["", "-wal", "-shm", "-lock"]) rmSync(db + end, { force: true });
    brand.live();
    const before = inspect(db, brand).held;
    const job = jobs[Math.floor(random() * jobs.length)] ?? [];
    const startedAt = performance.now();
    const { child, ended, struck } = run(
      bin,
      [...job, "--db", db],
      brand.env,
      () => child.kill("SIGKILL"),
      random() * longestMs,
    );
    await ended;
    if (struck.landed) report.landed += 1;
    else {
      report.late += 1;
      longestMs = Math.max(800, performance.now() - startedAt);
    }
    const { held, wrong } = inspect(db, brand);
    for (const what of wrong.slice(0, 3)) say(`  after \`${job.join(" ")}\`: ${what}`);
    report.lost.push(...wrong.slice(0, 3));
    if (held < before - 50) report.lost.push(`${before - held} fewer orders than before the kill`);
    if (report.landed % 25 === 0 && struck.landed) report.lost.push(...(await finish(brand, bin, db)));
    if (report.landed % 100 === 0 && struck.landed)
      say(`  ${report.landed} runs interrupted, ${report.lost.length} errors`);
    if (report.lost.length > 5) break;
  }
  return report;
}

async function finish(brand: SoakBrand, bin: string, db: string): Promise<string[]> {
  // A run reads only seconds that have ended, so wait for the end of the newest order's second.
  await sleep(1_000);
  for (const job of [
    ["sync", "orders"],
    ["sync", "orders", "--full"],
  ]) {
    const { code, out } = await run(bin, [...job, "--db", db], brand.env, null).ended;
    if (code !== 0) return [`an uninterrupted ${job.join(" ")} exited with code ${code}: ${out.slice(-300)}`];
  }
  return compare(db, brand).slice(0, 3);
}

/** Replaces, deletes or moves the mirror during runs. These runs must exit with code 3 and must not report success. */
export async function strikeFiles(brand: SoakBrand, { bin, points, say, seed }: Strikes): Promise<Report> {
  const random = createRandom(seed);
  const db = join(brand.folder, "mirror.sqlite");
  const copy = join(brand.folder, "copy.sqlite");
  const report: Report = { landed: 0, late: 0, lost: [] };
  await run(bin, ["sync", "orders", "--db", db], brand.env, null).ended;
  copyFileSync(db, copy);
  const strikes = [
    () => {
      copyFileSync(copy, `${copy}.new`);
      renameSync(`${copy}.new`, db);
    },
    () => rmSync(db, { force: true }),
    () => renameSync(db, `${db}.moved`),
  ];
  while (report.landed < points) {
    brand.live();
    const strike = strikes[Math.floor(random() * strikes.length)];
    const args = ["sync", "orders", "--full", "--db", db];
    let isOpen = false;
    const requestsBefore = brand.served();
    const { ended, struck } = run(
      bin,
      args,
      brand.env,
      (output) => {
        // The program opens the mirror between the request to `/me` and the next request. If the mirror changes before
        // it is opened, the run can succeed, so it does not count as interrupted.
        isOpen = brand.served() > requestsBefore + 1 && !output.includes("verified") && existsSync(db);
        if (isOpen) strike?.();
      },
      250 + random() * 900,
    );
    const { code, out } = await ended;
    if (struck.landed && isOpen) report.landed += 1;
    else report.late += 1;
    if (struck.landed && isOpen && code !== 3)
      report.lost.push(`exited with code ${code}: ${out.slice(-200)}`);
    if (struck.landed && isOpen && /, verified/.test(out))
      report.lost.push(`reported success: ${out.slice(-200)}`);
    report.lost.push(...inspect(db, brand).wrong.slice(0, 3));
    for (const end of ["", "-wal", "-shm", "-lock"]) rmSync(db + end, { force: true });
    copyFileSync(copy, db);
    if (report.landed % 50 === 0 && struck.landed)
      say(`  ${report.landed} runs interrupted, ${report.lost.length} errors`);
    if (report.lost.length > 5) break;
  }
  return report;
}

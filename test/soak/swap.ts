import type { ChildProcess } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { basename, join } from "node:path";
import Sqlite from "better-sqlite3";
import { type Brand, prepare, run, type Scenario, type StrikeOptions, scenarios } from "./brand.js";
import { pick } from "./draws.js";
import { unequal } from "./inspect.js";
import { mirrorIn } from "./launching.js";
import { type Point, type Report, strike } from "./strike.js";

/** What somebody does to the mirror's files; `backup` is a mirror that may be moved. */
interface Change {
  name: string;
  make(path: string, backup: string, random: () => number): void;
  /** Afterwards the backup is at the mirror's path, to the byte. */
  restores?: boolean;
}

const parts = (path: string) => ["-wal", "-shm"].map((end) => path + end);
const cut = (path: string, share: number) => truncateSync(path, Math.floor(statSync(path).size * share));

const changes: readonly Change[] = [
  { name: "replaced", make: (path, backup) => renameSync(backup, path), restores: true },
  {
    name: "moved, and replaced",
    make(path, backup) {
      renameSync(path, `${path}.moved`);
      renameSync(backup, path);
    },
    restores: true,
  },
  {
    name: "deleted with its log, and replaced",
    make(path, backup) {
      for (const one of [path, ...parts(path)]) rmSync(one, { force: true });
      copyFileSync(backup, path);
    },
    restores: true,
  },
  { name: "moved", make: (path) => renameSync(path, `${path}.moved`) },
  { name: "deleted", make: (path) => rmSync(path) },
  { name: "log cut to nothing", make: (path) => cut(`${path}-wal`, 0) },
  { name: "log cut anywhere", make: (path, _, random) => cut(`${path}-wal`, random()) },
  { name: "log deleted", make: (path) => rmSync(`${path}-wal`) },
  { name: "lock deleted", make: (path) => rmSync(`${path}-lock`) },
];

const swapped: readonly Scenario[] = [
  ...scenarios.filter(({ file }) => file === undefined),
  { name: "verify", args: ["verify"], from: "older", sets: [], code: 8 },
  { name: "download", args: ["download", "content", "--out", "files"], from: "older", sets: [] },
];

/** Replaces, moves, deletes and cuts the mirror's files while real processes work on them. */
export async function swapPoints(brand: Brand, options: StrikeOptions): Promise<Report> {
  return await strike(brand, options, swapped, swapOnce);
}

async function swapOnce(
  brand: Brand,
  { scenario, afterMs, random }: Point,
  report: Report,
): Promise<boolean> {
  const home = prepare(brand, scenario);
  const path = mirrorIn(home);
  const backup = join(home, "backup.sqlite");
  copyFileSync(mirrorIn(brand.older), backup);
  const change = pick(random, changes);
  let landed = false;
  const { code, err } = await run(brand, home, scenario.args, undefined, {
    afterMs,
    act(child) {
      if (!isOpen(child, path)) return;
      try {
        change.make(path, backup, random);
        landed = true;
      } catch {
        // The file that is meant is not there yet, or any more.
      }
    },
  });
  if (!landed) {
    report.missed += 1;
    rmSync(home, { recursive: true, force: true });
    return false;
  }
  const ending = code === 0 ? "and all was there" : `exit ${code}`;
  report.landed[`${change.name}: ${ending}`] = (report.landed[`${change.name}: ${ending}`] ?? 0) + 1;
  const lose = (what: string) => {
    report.lost.push(`${change.name}, ${scenario.name}, after ${afterMs.toFixed(1)} ms: ${what}`);
    brand.say(report.lost.at(-1) ?? "");
  };
  for (const what of wrong(brand, { scenario, path, change, code, err })) lose(what);
  const isSync = scenario.args[0] === "sync";
  const again = await run(brand, home, isSync ? scenario.args : ["sync", "orders", "--window", "200d"]);
  if (again.code !== 0) lose(`the next run ended with ${again.code}: ${again.err.slice(0, 300)}`);
  else for (const what of unequal(path, brand.api, isSync ? scenario.sets : ["orders"])) lose(what);
  rmSync(home, { recursive: true, force: true });
  return true;
}

/** Whether a process has the mirror open: before that, and after, nothing is in the middle. */
function isOpen({ pid, exitCode }: ChildProcess, path: string): boolean {
  if (exitCode !== null) return false;
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return existsSync(`${path}-wal`);
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(join(folder, fd)) === path;
    } catch {
      return false;
    }
  });
}

interface Left {
  scenario: Scenario;
  path: string;
  change: Change;
  code: number | null;
  err: string;
}

/** What is told and not true, or not there as it was left. */
function wrong(brand: Brand, { scenario, path, change, code, err }: Left): string[] {
  const found: string[] = [];
  if (code === 0) {
    if (!existsSync(path)) return ["exit 0, and there is no mirror"];
    // One that came while the mirror was being opened is the one that was opened.
    if (change.restores && isAsItCame(brand, path)) found.push("exit 0, and the mirror is another file");
  } else if (code === 3) {
    if (
      !/^brandapi: The mirror.* (in the middle of this run|cannot be opened): .*\n {2}hint: .*\n$/m.test(err)
    )
      found.push(`exit 3, and it says: ${err.slice(-300)}`);
    const left = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (left > 0) found.push(`exit 3, and a log of ${left} bytes is left over`);
    if (change.restores && !isAsItCame(brand, path))
      found.push("exit 3, and the file that came is not as it was");
  } else if (code !== scenario.code) found.push(`exit ${code}: ${err.slice(-300)}`);
  for (const one of [path, `${path}.moved`]) {
    const integrity = integrityOf(one);
    if (integrity !== "ok") found.push(`exit ${code}, and ${basename(one)} is not sound: ${integrity}`);
  }
  return found.length === 0 && code === 0 ? unequal(path, brand.api, scenario.sets) : found;
}

function isAsItCame(brand: Brand, path: string): boolean {
  return readFileSync(path).equals(readFileSync(mirrorIn(brand.older)));
}

/** As another program finds it that opens the file. */
function integrityOf(path: string): string {
  if (!existsSync(path)) return "ok";
  try {
    const db = new Sqlite(path);
    const integrity = db.pragma("integrity_check", { simple: true });
    db.close();
    return String(integrity);
  } catch (error) {
    return String(error);
  }
}

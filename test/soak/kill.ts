import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Brand, prepare, run, type StrikeOptions, scenarios } from "./brand.js";
import { damage, unequal } from "./inspect.js";
import { mirrorIn } from "./launching.js";
import { type Point, type Report, strike } from "./strike.js";

/** Kills real processes at random instants of their work, looks at what is left, and goes on from there. */
export async function killPoints(brand: Brand, options: StrikeOptions): Promise<Report> {
  return await strike(brand, options, scenarios, killOnce);
}

const kill = (child: ChildProcess) => void child.kill("SIGKILL");

async function killOnce(brand: Brand, { scenario, afterMs }: Point, report: Report): Promise<boolean> {
  const home = prepare(brand, scenario);
  const path = mirrorIn(home);
  const { signal } = await run(brand, home, scenario.args, scenario.file, { afterMs, act: kill });
  if (signal !== "SIGKILL") {
    report.missed += 1;
    rmSync(home, { recursive: true, force: true });
    return false;
  }
  report.landed[scenario.name] = (report.landed[scenario.name] ?? 0) + 1;
  const lose = (what: string) => {
    report.lost.push(`${scenario.name}, after ${afterMs.toFixed(1)} ms: ${what}`);
    brand.say(report.lost.at(-1) ?? "");
  };
  if (scenario.file) {
    const now = readFileSync(join(home, "out", scenario.file));
    const isOld = now.equals(readFileSync(mirrorIn(brand.older)));
    if (!isOld && !now.toString().endsWith("\n")) lose("the file is half written");
  } else
    for (const what of damage(
      path,
      scenario.byDay ? new Map() : brand.api,
      scenario.from === "nothing" ? null : brand.before,
    ))
      lose(what);
  // Two runs: the first goes on where the killed one stood, the second sees what came behind it.
  const after = await run(brand, home, scenario.args, scenario.file);
  if (after.code !== 0) lose(`the next run ended with ${after.code}: ${after.err.slice(0, 300)}`);
  else if (existsSync(path)) for (const what of unequal(path, brand.api, scenario.sets)) lose(what);
  if (scenario.file) {
    const rows = readFileSync(join(home, "out", scenario.file), "utf8");
    if (!rows.startsWith("id,")) lose("the file is not the export");
    const left = readdirSync(join(home, "out")).length;
    if (left > 3) lose(`${left} files are left over`);
  }
  rmSync(home, { recursive: true, force: true });
  return true;
}

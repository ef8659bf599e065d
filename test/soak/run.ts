import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { collectFaults } from "./faults.js";
import { killPoints } from "./kill.js";
import { playYears, summarize } from "./years.js";

/**
 * `npm run soak`, or one of them: `npm run soak -- kill 1000 [seed]`, `years 730`, `properties 2000`. Ends with 1 when
 * anything was lost or claimed without proof. `npm run soak -- faults` prints what a person sees of each fault.
 */
const [what = "all", amount, seedText = "20261121"] = process.argv.slice(2);
const seed = Number(seedText);
const bin = fileURLToPath(new URL("../../../bin/brandapi.js", import.meta.url));
const say = (line: string) => void process.stdout.write(`${line}\n`);
let failed = false;

if (what === "kill" || what === "all") {
  const startedAt = performance.now();
  const report = await killPoints({ points: Number(amount ?? 1_000), seed, bin, orders: 4_000, say });
  const landed = Object.values(report.landed).reduce((sum, count) => sum + count, 0);
  say(`kill -9, seed ${seed}: ${landed} landed while work was under way, ${report.missed} came too late.`);
  for (const [name, count] of Object.entries(report.landed)) say(`  ${name}: ${count}`);
  say(`  lost: ${report.lost.length} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  for (const what of report.lost) say(`  ${what}`);
  failed ||= report.lost.length > 0;
}

if (what === "years" || what === "all") {
  const report = await playYears({
    nights: what === "years" ? Number(amount ?? 730) : 730,
    seed,
    orders: 3_000,
    say,
  });
  say(`two years of nights, seed ${seed}:`);
  for (const line of summarize(report)) say(`  ${line}`);
  failed ||= !report.equalAtEnd;
}

if (what === "properties" || what === "all") {
  const runs = what === "properties" ? (amount ?? "2000") : "2000";
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts", "test/properties"],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, PROPERTY_RUNS: runs, PROPERTY_SEED: String(seed) },
    },
  );
  say(
    `random histories, seed ${seed}: ${runs} of each resource, ${status === 0 ? "no" : "SOME"} false claim`,
  );
  failed ||= status !== 0;
}

if (what === "faults") {
  const { passed, table } = collectFaults(fileURLToPath(new URL("../../..", import.meta.url)));
  for (const line of table) say(line);
  failed ||= !passed;
}

process.exitCode = failed ? 1 : 0;

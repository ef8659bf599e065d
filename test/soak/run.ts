import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createBrand } from "./brand.js";
import { collectFaults } from "./faults.js";
import { killPoints } from "./kill.js";
import { tellNights } from "./nights.js";
import { type Report, total } from "./strike.js";
import { swapPoints } from "./swap.js";
import { playYears, summarize } from "./years.js";

/**
 * `npm run soak`, or one of them: `npm run soak -- kill 1000 [seed]`, `swap 500 [seed]`, `years 730`, `properties 2000`.
 * `kill` strikes each process with `kill -9`, and half as often at the mirror's files, which `swap` does alone. Ends with
 * 1 when anything was lost or claimed without proof. `npm run soak -- faults` prints what a person sees of each fault,
 * `nights` what cron's log, its mail and `status` say of two weeks in which all went wrong.
 */
const [what = "all", amount, seedText = "20261121"] = process.argv.slice(2);
const seed = Number(seedText);
const bin = fileURLToPath(new URL("../../../bin/brandapi.js", import.meta.url));
const say = (line: string) => void process.stdout.write(`${line}\n`);
let failed = false;

async function strikes(name: string, points: number, work: typeof killPoints): Promise<void> {
  const startedAt = performance.now();
  const options = { points, seed, bin, orders: 4_000, say };
  const brand = await createBrand(options);
  const report: Report = await work(brand, options).finally(brand.close);
  say(
    `${name}, seed ${seed}: ${total(report)} landed while work was under way, ${report.missed} came too late.`,
  );
  for (const [name, count] of Object.entries(report.landed).sort()) say(`  ${name}: ${count}`);
  say(`  lost: ${report.lost.length} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  for (const what of report.lost) say(`  ${what}`);
  failed ||= report.lost.length > 0;
}

const kills = what === "kill" ? Number(amount ?? 1_000) : 1_000;
if (what === "kill" || what === "all") await strikes("kill -9", kills, killPoints);
if (what === "swap" || what === "kill" || what === "all")
  await strikes(
    "mirrors replaced, moved, deleted and cut",
    what === "swap" ? Number(amount ?? 500) : Math.ceil(kills / 2),
    swapPoints,
  );

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

if (what === "nights") for (const line of await tellNights(bin)) say(line);

process.exitCode = failed ? 1 : 0;

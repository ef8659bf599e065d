import { fileURLToPath } from "node:url";
import { killPoints } from "./kill.js";
import { playYears, summarize } from "./years.js";

/** `npm run soak -- kill 1000 [seed]`. Ends with 1 when anything was lost. */
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

process.exitCode = failed ? 1 : 0;

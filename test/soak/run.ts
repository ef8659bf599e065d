import { fileURLToPath } from "node:url";
import { openBrand } from "./brand.js";
import { type Report, strikeFiles, strikeProcesses } from "./kills.js";
import { soakLake } from "./lake.js";
import { measureLakeCost } from "./lake-cost.js";

/**
 * Runs a soak test, and exits with code 1 if records were lost or a success was falsely reported.
 *
 * `npm run soak -- kill 1000 [seed]` sends `kill -9` at random times. `npm run soak -- swap 200 [seed]` replaces, moves
 * or deletes the mirror during runs. `npm run soak -- lake 30 [seed]` exports many brands to one set of Delta tables
 * for 30 days, and kills the exports; LAKE_BRANDS and LAKE_ORDERS set the size, and CHDB names a `node_modules` folder
 * with ClickHouse. `npm run soak -- lake-cost 100` measures an export to a table with 100 brands.
 */
const [what = "kill", amount = "100", seedText = "20261124"] = process.argv.slice(2);
const seed = Number(seedText);
const bin = fileURLToPath(new URL("../../../bin/brandapi.js", import.meta.url));
const say = (line: string) => void process.stdout.write(`${line}\n`);

if (what === "lake") {
  const { LAKE_BRANDS: brands = 10, LAKE_ORDERS: orders = 20_000 } = process.env;
  const size = { brands: Number(brands), orders: Number(orders), days: Number(amount) };
  const faults = await soakLake({ ...size, seed, bin, say });
  for (const line of faults) say(`  ${line}`);
  process.exit(faults.length > 0 ? 1 : 0);
}

if (what === "lake-cost") {
  await measureLakeCost(bin, Number(amount), say);
  process.exit(0);
}

const brand = await openBrand({ orders: 3_000, seed });
const strikes = { points: Number(amount), seed, bin, say };
const startedAt = performance.now();
const report: Report = await (what === "swap" ? strikeFiles : strikeProcesses)(brand, strikes).finally(
  brand.close,
);
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(
  `${what}, seed ${seed}: ${report.landed} runs interrupted, ${report.late} ended before the interruption, ${report.lost.length} errors (${seconds} s)`,
);
for (const line of report.lost) say(`  ${line}`);
process.exit(report.lost.length > 0 ? 1 : 0);

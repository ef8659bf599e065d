import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { sqlitePackage } from "../../src/util/sqlite.js";
import { bin, type Scenario, withBench } from "./bench.js";
import { disk } from "./scenarios/disk.js";
import { exports } from "./scenarios/exports.js";
import { growth } from "./scenarios/growth.js";
import { rateLimit } from "./scenarios/rate-limit.js";
import { latency, reading } from "./scenarios/reading.js";
import { report } from "./scenarios/report.js";
import { requests } from "./scenarios/requests.js";
import { startUp } from "./scenarios/start-up.js";
import { toMarkdown } from "./table.js";

const quick = [requests, reading, latency, growth, exports, startUp, disk];
const scenarios: readonly Scenario[] = [...quick, report, rateLimit];

/** Prints a Markdown table to stdout. Usage: npm run bench [SCENARIO…] */
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const unknown = chosen.filter((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  const known = scenarios.map(({ name, about }) => `  ${name}: ${about}`).join("\n");
  process.stderr.write(`No such scenario: ${unknown.join(", ")}. Available scenarios:\n${known}\n`);
  process.exit(2);
}

process.stdout.write(`${machine()}\n`);
for (const scenario of scenarios) {
  if (chosen.length > 0 ? !chosen.includes(scenario.name) : scenario.slow) continue;
  const started = performance.now();
  const say = (text: string) => void process.stderr.write(`${scenario.name}: ${text}\n`);
  say(scenario.about);
  const lines = await withBench(rounds, say, (bench) => scenario.run(bench));
  process.stdout.write(`\n## ${scenario.about}\n\n${toMarkdown(lines)}\n`);
  say(`${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

function machine(): string {
  const date = new Date().toISOString().slice(0, 10);
  const sqlite = JSON.parse(
    readFileSync(join(bin, "../../node_modules", sqlitePackage, "package.json"), "utf8"),
  ) as { version: string };
  return `${date}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, Node ${process.versions.node}, better-sqlite3 ${sqlite.version}. Times are medians of ${rounds} interleaved runs; memory is the highest peak.`;
}

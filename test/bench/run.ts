import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bin, withBench } from "./bench.js";
import { scenarios } from "./scenarios/index.js";
import { toMarkdown } from "./table.js";

/** `npm run bench [scenario…]`: prints a Markdown table on stdout. */
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const unknown = chosen.filter((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  const known = scenarios.map(
    ({ name, about, slow }) => `  ${name}: ${about}${slow ? " (by name only)" : ""}`,
  );
  process.stderr.write(`No such scenario: ${unknown.join(", ")}. There are:\n${known.join("\n")}\n`);
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
  const root = join(bin, "../..");
  const version = (name: string) =>
    (
      JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as {
        version: string;
      }
    ).version;
  const packages = ["better-sqlite3", "undici", "commander", "csv-stringify"].map(
    (name) => `${name} ${version(name)}`,
  );
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, Node ${process.versions.node}, ${packages.join(", ")}. Medians of ${rounds}, interleaved; peaks are the highest.`;
}

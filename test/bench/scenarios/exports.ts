import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type Bench, brandapi, peer, type Scenario } from "../bench.js";
import { interleaved, type Measured, measure } from "../measure.js";
import { compared, type Line } from "../table.js";

/** Goals: what the writer may take of the sqlite3 shell's time. */
const formats = [
  { name: "csv", flag: "-csv", sql: "SELECT * FROM orders", goal: "2.5, aim 1.5" },
  { name: "ndjson", flag: "-json", sql: "SELECT * FROM orders", goal: "1.0" },
  { name: "json", flag: "-json", sql: "SELECT * FROM orders", goal: "1.0" },
] as const;

export const exports: Scenario = {
  name: "export",
  about: "Export of 1,000,000 orders, against the sqlite3 shell",
  async run(bench) {
    const path = join(bench.folder, "mirror.sqlite");
    bench.say("filling a mirror");
    await measure(peer("fill", [path, "1000000"]));
    const shell = spawnSync("sqlite3", ["--version"], { encoding: "utf8" });
    const version = shell.status === 0 ? shell.stdout.split(" ")[0] : undefined;
    const lines: Line[] = version ? [] : [{ what: "no `sqlite3` shell here: nothing to compare with" }];
    for (const { name, flag, sql, goal } of formats) {
      const own = () =>
        measure(
          brandapi(bench, ["export", "orders", `--${name}`, "--db", path, "-o", join(bench.folder, "out")]),
        );
      if (version === undefined) {
        lines.push({ what: `export --${name}`, measured: (await interleaved(1, { own })).own });
        continue;
      }
      const { theirs, ours } = await interleaved(Math.min(bench.rounds, 3), {
        theirs: () => runShell(bench, path, flag, sql),
        ours: own,
      });
      bench.say(`${name}: ${(ours.wallMs / theirs.wallMs).toFixed(2)}`);
      lines.push({ what: `sqlite3 ${version} ${flag}`, ratio: 1, measured: theirs });
      lines.push(compared(`export --${name}`, ours, theirs, { to: "sqlite3", goal }));
    }
    return lines;
  },
};

function runShell(bench: Bench, path: string, flag: string, sql: string): Promise<Measured> {
  const out = join(bench.folder, "shell");
  return measure({
    command: "sqlite3",
    args: [flag, "-header", path, `.once ${out}`, sql],
    env: { HOME: bench.folder },
  });
}

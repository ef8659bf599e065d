import { join } from "node:path";
import { type Bench, peer, runBrandapi, type Scenario } from "../bench.js";
import { interleaved, type Measured, measure } from "../measure.js";
import { compared, type Line } from "../table.js";

/** Each format's time limit, as a multiple of the sqlite3 shell's time. */
const formats = [
  { name: "csv", flag: "-csv", goal: "4.0" },
  { name: "ndjson", flag: "-json", goal: "1.0" },
  { name: "json", flag: "-json", goal: "1.0" },
] as const;

export const exports: Scenario = {
  name: "export",
  about: "Export of 1,000,000 orders, compared with the sqlite3 shell",
  async run(bench) {
    const path = join(bench.folder, "mirror.sqlite");
    bench.say("filling a mirror");
    await measure(peer("fill", [path, "1000000"]));
    const lines: Line[] = [];
    for (const { name, flag, goal } of formats) {
      const { theirs, ours } = await interleaved(Math.min(bench.rounds, 3), {
        theirs: () => runShell(bench, path, flag),
        ours: () =>
          runBrandapi(bench, [
            "export",
            "orders",
            `--${name}`,
            "--db",
            path,
            "-o",
            join(bench.folder, "out"),
          ]),
      });
      lines.push({ what: `sqlite3 ${flag}`, ratio: 1, measured: theirs });
      lines.push(compared(`export --${name}`, ours, theirs, { to: "sqlite3", goal }));
    }
    return lines;
  },
};

function runShell({ folder }: Bench, path: string, flag: string): Promise<Measured> {
  const args = [flag, "-header", path, `.once ${join(folder, "shell")}`, "SELECT * FROM orders"];
  return measure({ command: "sqlite3", args, env: { HOME: folder } });
}

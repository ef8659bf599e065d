import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bin, peer, type Scenario } from "../bench.js";
import { measure, median } from "../measure.js";
import type { Line } from "../table.js";

const commands = [
  { what: "--version", args: ["--version"], goal: 1.5 },
  { what: "--help", args: ["--help"], goal: 1.5 },
  { what: "a usage error", args: ["exprot"], goal: 1.5 },
  { what: "status", args: ["status"], goal: 2.5 },
  { what: "export of ten rows", args: ["export", "orders", "--csv", "--limit", "10"], goal: 2.5 },
] as const;

export const startUp: Scenario = {
  name: "start-up",
  about: "Start-up, against `node -e 0`",
  async run({ folder, rounds }) {
    const path = join(folder, "mirror.sqlite");
    await measure(peer("fill", [path, "1000"]));
    // Both processes need the same environment, because variables such as NODE_EXTRA_CA_CERTS slow down every Node
    // process.
    const env = { ...process.env, HOME: folder, BRANDAPI_DB: path };
    const time = (args: readonly string[]) => {
      const started = performance.now();
      spawnSync(process.execPath, args, { env, cwd: folder });
      return performance.now() - started;
    };
    const bare: number[] = [];
    const times = new Map<string, number[]>(commands.map(({ what }) => [what, []]));
    for (let round = 0; round < rounds * 4; round += 1) {
      bare.push(time(["-e", "0"]));
      for (const { what, args } of commands) times.get(what)?.push(time([bin, ...args]));
    }
    const base = median(bare);
    return commands.map(({ what, goal }): Line => {
      const own = median(times.get(what) ?? []);
      const measured = { wallMs: own, cpuMs: 0, peakMb: 0 };
      return { what, ratio: own / base, to: "node -e 0", goal: goal.toFixed(1), measured };
    });
  },
};

import { statSync } from "node:fs";
import { join } from "node:path";
import { runBrandapi, type Scenario } from "../bench.js";

export const disk: Scenario = {
  name: "disk",
  about: "Bytes on disk, compared with the size of the orders' JSON",
  async run(bench) {
    const { env, bytes } = await bench.serve({ orders: 100_000 });
    const path = join(bench.folder, "mirror.sqlite");
    const sync = (...flags: string[]) =>
      runBrandapi(bench, ["sync", "orders", "--quiet", "--db", path, ...flags], env);
    await sync();
    const after = statSync(path).size;
    for (let run = 0; run < 10; run += 1) await sync();
    const afterRuns = statSync(path).size;
    await sync("--full");
    const again = statSync(path).size;
    const line = (what: string, size: number, base: number, to: string, goal: string) => {
      return { what, ratio: size / base, to, goal, note: `${(size / 1e6).toFixed(1)} MB` };
    };
    return [
      line("a mirror of 100,000 orders", after, bytes, "their JSON", "2.2"),
      line("after ten nightly runs without changes", afterRuns, after, "before", "1.0"),
      line("after a full sync without changes", again, after, "before", "1.0"),
    ];
  },
};

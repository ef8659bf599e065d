import { statSync } from "node:fs";
import { join } from "node:path";
import { runBrandapi, type Scenario } from "../bench.js";

export const disk: Scenario = {
  name: "disk",
  about: "Bytes on disk, against the bytes of the orders' JSON",
  async run(bench) {
    const { env, bytes } = await bench.serve({ orders: 100_000 });
    const path = join(bench.folder, "mirror.sqlite");
    const sync = (...flags: string[]) =>
      runBrandapi(bench, ["sync", "orders", "--quiet", "--db", path, ...flags], env);
    await sync();
    const after = statSync(path).size;
    for (let night = 0; night < 10; night += 1) await sync();
    const nights = statSync(path).size;
    await sync("--full");
    const again = statSync(path).size;
    const mb = (size: number) => `${(size / 1e6).toFixed(1)} MB`;
    return [
      {
        what: "a mirror of 100,000 orders",
        ratio: after / bytes,
        to: "their JSON",
        goal: "2.2",
        note: `${mb(after)} for ${mb(bytes)}`,
      },
      {
        what: "after ten nights without changes",
        ratio: nights / after,
        to: "before",
        goal: "1.0",
        note: mb(nights),
      },
      {
        what: "after a full read, unchanged",
        ratio: again / after,
        to: "before",
        goal: "1.0",
        note: mb(again),
      },
    ];
  },
};

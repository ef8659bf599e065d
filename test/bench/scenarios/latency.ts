import { join } from "node:path";
import { peer, removeDatabase, runBrandapi, type Scenario } from "../bench.js";
import { interleaved, measure } from "../measure.js";
import { compared } from "../table.js";

export const latency: Scenario = {
  name: "latency",
  about: "20,000 orders with 50 ms per answer",
  async run(bench) {
    const { env } = await bench.serve({ orders: 20_000, latency: 50 });
    const ours = join(bench.folder, "mirror.sqlite");
    const theirs = join(bench.folder, "floor.sqlite");
    const { floor, first } = await interleaved(bench.rounds, {
      floor: () => {
        removeDatabase(theirs);
        return measure(peer("floor", [theirs], env));
      },
      first: () => {
        removeDatabase(ours);
        return runBrandapi(bench, ["sync", "orders", "--quiet", "--db", ours], env);
      },
    });
    return [
      { what: "tuned floor, four in flight", ratio: 1, measured: floor },
      compared("brandapi, first read", first, floor, { to: "floor", goal: "1.2" }),
    ];
  },
};

import { join } from "node:path";
import { peer, removeDatabase, runBrandapi, type Scenario } from "../bench.js";
import { interleaved, type Measured, measure, medianOf } from "../measure.js";
import { compared } from "../table.js";

const dayMs = 86_400_000;

export const reading: Scenario = {
  name: "reading",
  about: "100,000 orders without a rate limit: first sync, second sync, nightly sync",
  async run(bench) {
    const { env } = await bench.serve({ orders: 100_000 });
    const [ours, floor] = [join(bench.folder, "mirror.sqlite"), join(bench.folder, "floor.sqlite")];
    const since = () => new Date(Date.now() - 30 * dayMs).toISOString();
    const sync = (...flags: string[]) =>
      runBrandapi(bench, ["sync", "orders", "--quiet", "--db", ours, ...flags], env);
    const steps: Record<string, Measured[]> = {};
    const keep = (name: string, one: Measured) => {
      steps[name] = [...(steps[name] ?? []), one];
    };
    for (let round = 1; round <= bench.rounds; round += 1) {
      removeDatabase(ours);
      removeDatabase(floor);
      const both = await interleaved(1, {
        floor: () => measure(peer("floor", [floor], env)),
        first: () => sync(),
        floorAgain: () => measure(peer("floor", [floor], env)),
        again: () => sync("--full"),
        floorWindow: () => measure(peer("floor", [floor, since()], env)),
        window: () => sync(),
      });
      for (const [name, one] of Object.entries(both)) keep(name, one);
      bench.say(`round ${round} of ${bench.rounds}`);
    }
    const of = (name: string) => medianOf(steps[name] ?? []);
    return [
      { what: "simple program, first read", ratio: 1, measured: of("floor") },
      compared("brandapi, first sync", of("first"), of("floor"), { to: "simple program", goal: "2.0" }),
      { what: "simple program, second read of the same orders", measured: of("floorAgain") },
      compared("brandapi, second sync, without changes", of("again"), of("first"), {
        to: "brandapi, first sync",
        goal: "0.5",
      }),
      { what: "simple program, orders from the last 30 days", measured: of("floorWindow") },
      compared("brandapi, nightly sync of the last 30 days", of("window"), of("floorWindow"), {
        to: "simple program",
      }),
    ];
  },
};

export const latency: Scenario = {
  name: "latency",
  about: "20,000 orders at 50 ms per response",
  async run(bench) {
    const { env } = await bench.serve({ orders: 20_000, latency: 50 });
    const [ours, floor] = [join(bench.folder, "mirror.sqlite"), join(bench.folder, "floor.sqlite")];
    const both = await interleaved(bench.rounds, {
      floor: () => {
        removeDatabase(floor);
        return measure(peer("floor", [floor], env));
      },
      first: () => {
        removeDatabase(ours);
        return runBrandapi(bench, ["sync", "orders", "--quiet", "--db", ours], env);
      },
    });
    return [
      { what: "simple program, four concurrent requests", ratio: 1, measured: both.floor },
      compared("brandapi, first sync", both.first, both.floor, { to: "simple program", goal: "1.2" }),
    ];
  },
};

import { join } from "node:path";
import { type Bench, removeDatabase, runBrandapi, type Scenario } from "../bench.js";
import { type Measured, medianOf } from "../measure.js";
import type { Line } from "../table.js";

export const growth: Scenario = {
  name: "growth",
  about: "Growth: 1,000,000 orders, compared with 100,000",
  async run(bench) {
    // The large sync takes over a minute, so it runs only once, between two runs of the small sync.
    const small = await readAll(bench, 100_000, Math.min(bench.rounds, 3));
    const large = await readAll(bench, 1_000_000, 1);
    const again = await readAll(bench, 100_000, Math.min(bench.rounds, 2));
    const base = Object.fromEntries(
      Object.entries(small).map(([name, runs]) => [name, medianOf([...runs, ...(again[name] ?? [])])]),
    );
    return Object.entries(large).flatMap(([name, [one]]): Line[] => {
      const before = base[name];
      if (!one || !before) return [];
      // The nightly syncs of both mirrors read the same number of orders. All other measurements are compared per
      // order.
      const scale = name.startsWith("nightly") ? 1 : 10;
      const cpu = one.cpuMs / before.cpuMs / scale;
      return [
        { what: `${name}, 100,000`, measured: before },
        {
          what: `${name}, 1,000,000`,
          ratio: one.wallMs / before.wallMs / scale,
          to: scale === 10 ? "time per order for 100,000 orders" : "100,000 orders",
          goal: "1.15; under 200 MB",
          measured: one,
          note: `CPU ratio ${cpu.toFixed(2)}`,
        },
      ];
    });
  },
};

async function readAll(bench: Bench, orders: number, rounds: number): Promise<Record<string, Measured[]>> {
  const { env } = await bench.serve({ orders });
  const path = join(bench.folder, `${orders}.sqlite`);
  const done: Record<string, Measured[]> = {};
  const step = async (name: string, args: readonly string[]) => {
    const one = await runBrandapi(bench, [...args, "--quiet", "--db", path], env);
    bench.say(`${orders}: ${name}`);
    done[name] = [...(done[name] ?? []), one];
  };
  for (let round = 0; round < rounds; round += 1) {
    removeDatabase(path);
    await step("first read", ["sync", "orders"]);
    await step("unchanged read", ["sync", "orders", "--full"]);
    // With this window, the nightly syncs of the small and the large mirror read about the same number of orders.
    const window = ["--window", `${1_000_000 / orders}d`, "--audit", "0"];
    await step("nightly sync of the same number of orders", ["sync", "orders", ...window]);
    await step("verify", ["verify", "orders"]);
    await step("CSV export", ["export", "orders", "--csv", "-o", join(bench.folder, "out")]);
  }
  removeDatabase(path);
  return done;
}

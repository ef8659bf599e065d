import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openBrand } from "./brand.js";
import { type Report, type Strikes, strikeFiles, strikeProcesses } from "./kills.js";

const seed = 20261124;
const bin = fileURLToPath(new URL("../../bin/brandapi.js", import.meta.url));

test.each<[string, number, typeof strikeFiles]>([
  ["no record is lost if a running command is killed at a random time", 25, strikeProcesses],
  ["no record is lost if the mirror is replaced, moved or deleted during a run", 10, strikeFiles],
])(
  "%s",
  async (_, points, strike) => {
    const brand = await openBrand({ orders: 1_000, seed });
    const strikes: Strikes = { points, seed, bin, say: () => {} };
    const report: Report = await strike(brand, strikes).finally(brand.close);
    expect(report.lost).toEqual([]);
    expect(report.landed).toBeGreaterThan(0);
  },
  300_000,
);

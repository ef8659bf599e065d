import { afterAll, beforeAll, expect, test } from "vitest";
import { binPath } from "../support/process.js";
import { type Brand, createBrand } from "./brand.js";
import { killPoints } from "./kill.js";
import { total } from "./strike.js";
import { swapPoints } from "./swap.js";

const options = { seed: 20261121, bin: binPath, orders: 1_200, guessMs: 200, say: () => {} };

/** Both tests begin with its older mirror, and leave it alone. */
let brand: Brand;
beforeAll(async () => {
  brand = await createBrand(options);
}, 120_000);
afterAll(async () => await brand?.close());

test("kill -9 at random instants of every kind of run: whole pages only, and nothing is lost", async () => {
  const report = await killPoints(brand, { ...options, points: 12 });
  expect(report.lost).toEqual([]);
  expect(total(report)).toBe(12);
}, 120_000);

test("a mirror replaced, moved, deleted or cut at random instants: no false success, and no file that does not open", async () => {
  const report = await swapPoints(brand, { ...options, points: 13 });
  expect(report.lost).toEqual([]);
  expect(total(report)).toBe(13);
}, 120_000);

import { expect, test } from "vitest";
import { binPath } from "../support/process.js";
import { killPoints } from "./kill.js";
import { total } from "./strike.js";
import { swapPoints } from "./swap.js";

const options = { seed: 20261121, bin: binPath, orders: 1_200, guessMs: 200, say: () => {} };

test("kill -9 at random instants of every kind of run: whole pages only, and nothing is lost", async () => {
  const report = await killPoints({ ...options, points: 12 });
  expect(report.lost).toEqual([]);
  expect(total(report)).toBe(12);
}, 120_000);

test("a mirror replaced, moved, deleted or cut at random instants: no false success, and no file that does not open", async () => {
  const report = await swapPoints({ ...options, points: 13 });
  expect(report.lost).toEqual([]);
  expect(total(report)).toBe(13);
}, 120_000);

import { expect, test } from "vitest";
import { binPath } from "../support/process.js";
import { killPoints } from "./kill.js";

test("kill -9 at random instants of every kind of run: whole pages only, and nothing is lost", async () => {
  const report = await killPoints({
    points: 12,
    seed: 20261121,
    bin: binPath,
    orders: 1_200,
    guessMs: 200,
    say: () => {},
  });
  expect(report.lost).toEqual([]);
  expect(Object.values(report.landed).reduce((sum, count) => sum + count, 0)).toBe(12);
}, 120_000);

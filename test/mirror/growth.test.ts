import { expect, test } from "vitest";
import { dayMs, formatInstant } from "../../src/lib/times.js";
import { readGrowth } from "../../src/query/growth.js";
import { orders } from "../../src/resources/orders.js";
import { mirrorForTest, order, write } from "../records/mirror.js";

const now = Date.parse("2026-11-30T00:00:00Z");

/** A mirror of 1,000 records and 1,000,000 bytes, and when its runs brought how many. */
async function growthOf(...runs: [daysAgo: number, rows: number][]): Promise<number | null> {
  const mirror = await mirrorForTest();
  write(
    mirror,
    orders,
    Array.from({ length: 1_000 }, (_, n) => order(`o${n}`)),
  );
  const insert = mirror.db.prepare(
    "INSERT INTO sync_runs (resource, started_at, outcome, rows_new) VALUES ('orders', ?, 'done', ?)",
  );
  for (const [daysAgo, rows] of runs) insert.run(formatInstant(now - daysAgo * dayMs), rows);
  return readGrowth(mirror, 1e6, now);
}

test("a month's growth is what the last month's runs brought, and a resource's first read is none of it", async () => {
  expect(await growthOf([90, 900], [60, 50], [20, 30], [1, 20])).toBe(50_000);
  expect(await growthOf([15, 950], [1, 50])).toBe(100_000);
  expect(await growthOf([90, 1_000])).toBe(0);
});

test("a week's history, or none, says nothing about a month", async () => {
  expect(await growthOf([6, 900], [1, 100])).toBeNull();
  expect(await growthOf()).toBeNull();
});

import { expect, test } from "vitest";
import {
  at,
  day,
  hour,
  type Nights,
  nights,
  noon,
  orderAt,
  ordersBefore,
  withdraw,
} from "../support/nights.js";

/** What `verify` says of each month, and on which day of November its oldest record was read last. */
async function monthsOf(brand: Nights): Promise<string[]> {
  const { months } = await brand.verify();
  return months.map(
    ({ month, state, why, read_at }) => `${month}: ${state}: ${why} (${read_at?.slice(8, 10)})`,
  );
}

/** A read that misses who is gone, and is stopped before the counts: nobody is removed. */
async function stopAtCounts(brand: Nights, options: { full?: boolean; windowMs?: number }): Promise<void> {
  await brand.broken("stopped", ({ query }) => query.per_page === "1", "orders", { audit: 0, ...options });
}

test("each month of what was read is told, what lies below a first `--since`, and each day on which somebody is gone", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 200, 12 * hour) });
  await brand.sync("orders", { since: noon - 80 * day });
  brand.pass(day);
  await brand.sync("orders", { audit: 0, windowMs: 10 * day });
  const [below, cut] = [
    "before 2026-09-02: unproven: 39 older orders were never asked for: `brandapi sync orders --full` reads them (undefined)",
    "2026-09: unproven: read from 2026-09-02 12:00 (21)",
  ];
  const proven = "proven: figures and counts agree (all, cancelled, refunded) (21)";
  expect(await monthsOf(brand)).toEqual([below, cut, `2026-10: ${proven}`, `2026-11: ${proven}`]);
  withdraw(brand, "o20", "o21", "o45");
  await stopAtCounts(brand, { windowMs: 25 * day });
  expect(await monthsOf(brand)).toEqual([
    below,
    cut,
    "2026-10: different: 2026-10-30: 1 no longer there (21)",
    "2026-11: different: 2026-11-11: 2 no longer there (22)",
  ]);
});

test("what a stopped first read left is told, and who has no date as gone from no month", async () => {
  const orders = [...ordersBefore(noon, 200, 12 * hour), orderAt("u", null)];
  const brand = await nights({ orders }, { mostPerPage: 10, figures: "absent" });
  await brand.broken("stopped", ({ query }) => String(query.end_date) < at(noon - 30 * day));
  const proven = "proven: the API counts the same (all) (21)";
  expect(await monthsOf(brand)).toEqual([
    "before 2026-10-25: unproven: 145 older orders were not read yet: `brandapi sync orders` goes on (undefined)",
    "2026-10: unproven: read from 2026-10-25 12:00 (21)",
    `2026-11: ${proven}`,
  ]);
  await brand.sync();
  withdraw(brand, "o150", "u");
  await stopAtCounts(brand, { full: true });
  expect(await monthsOf(brand)).toEqual([
    `2026-08: ${proven}`,
    "2026-09: different: 2026-09-07: 1 no longer there (21)",
    `2026-10: ${proven}`,
    `2026-11: ${proven}`,
    "undated: different: undated: 1 no longer there (undefined)",
  ]);
});

test("what differs is told of the days that it was narrowed to", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 60, 12 * hour) }, { figures: "absent" });
  await brand.sync();
  withdraw(brand, "o11", "o12", "o40");
  expect((await monthsOf(brand)).map((one) => one.replace(/ \(\d+\)$/, ""))).toEqual([
    "2026-10: proven: the API counts the same (all)",
    "2026-11: different: 2026-11-01: all: 0 in the API, 1 here; 2026-11-15: all: 1 in the API, 2 here; 2026-11-16: all: 1 in the API, 2 here",
  ]);
});

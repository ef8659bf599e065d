import { statSync } from "node:fs";
import { expect, test } from "vitest";
import {
  asked,
  type Brand,
  brandForTest,
  byId,
  day,
  margin,
  type OrderSeen,
  orderAged,
  ordersOf,
} from "./brand.js";

function coverage(brand: Brand) {
  return brand.sql<{ from_at: string | null; to_at: string }>(
    "SELECT from_at, to_at FROM coverage WHERE resource = 'orders' ORDER BY from_at",
  );
}

/** The unbroken ranges that the mirror claims to have read, as days. */
function claimed(brand: Brand): string[] {
  const joined: { from: string; to: string }[] = [];
  for (const { from_at, to_at } of coverage(brand)) {
    const last = joined.at(-1);
    if (last && Date.parse(from_at ?? "") - Date.parse(last.to) <= 1) last.to = to_at;
    else joined.push({ from: from_at ?? "the beginning", to: to_at });
  }
  return joined.map(({ from, to }) =>
    `${from.slice(0, 10)} to ${to.slice(0, 10)}`.replace("the beginn", "the beginning"),
  );
}

function expectEqualToApi(brand: Brand) {
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
}

test("a cron job that was off for three months has no hole afterwards", async () => {
  const brand = await brandForTest({ pace: 1, orders: 1_000 });
  expect((await brand.run("sync orders")).code).toBe(0);
  brand.sandbox.advance(92 * day);
  const late = brand.sandbox.events.lateOrder(brand.sandbox.now() - 60 * day);
  const { code, err } = await brand.run("sync orders");
  expect(code, err).toBe(0);
  expectEqualToApi(brand);
  expect(byId(brand.mirrored("orders") as OrderSeen[]).map(({ id }) => id)).toContain(late);
  expect(claimed(brand)).toEqual(["the beginning to 2027-02-21"]);
});

test("`--since` on an empty mirror reads from there, and claims no more than that", async () => {
  const brand = await brandForTest();
  const { code, err } = await brand.run("sync orders --since 2026-06-01");
  expect(code).toBe(0);
  expect(err).not.toContain("warning");
  expect(claimed(brand)).toEqual(["2026-06-01 to 2026-11-21"]);
  const wanted = ordersOf(brand.sandbox).filter(({ order_date }) => order_date >= "2026-06-01");
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(wanted));
});

test("`--since` that leaves a gap says so and does not claim it; the next plain sync closes it", async () => {
  const brand = await brandForTest();
  expect((await brand.run("sync orders --until 2026-03-31")).code).toBe(0);
  const { code, err } = await brand.run("sync orders --since 2026-06-01");
  expect(code).toBe(0);
  expect(err).toContain(
    "warning: orders: 2026-04-01 00:00 to 2026-05-31 23:59 has never been read and is not claimed as covered: run `brandapi sync orders`",
  );
  expect(claimed(brand)).toEqual(["the beginning to 2026-03-31", "2026-06-01 to 2026-11-21"]);
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(claimed(brand)).toEqual(["the beginning to 2026-11-21"]);
  expectEqualToApi(brand);
});

test("a narrow `--since` after a long pause leaves no hole for good either", async () => {
  const brand = await brandForTest({ pace: 1, orders: 1_000 });
  await brand.run("sync orders");
  brand.sandbox.advance(60 * day);
  const narrow = await brand.run("sync orders --since 7d");
  expect(narrow.err).toContain("has never been read and is not claimed as covered");
  expect(claimed(brand)).toHaveLength(2);
  brand.sandbox.advance(day);
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(claimed(brand)).toHaveLength(1);
  expectEqualToApi(brand);
});

test("`--until` reads up to the last instant of that day, and later orders stay unread", async () => {
  const brand = await brandForTest();
  const last = brand.sandbox.events.newOrder(Date.parse("2026-08-31T23:59:59.000Z"));
  const { code, requests } = await brand.run("sync orders --until 2026-08-31");
  expect(code).toBe(0);
  const [page] = asked(requests, "/orders");
  expect(Date.parse(page?.get("end_date") ?? "")).toBe(Date.parse("2026-08-31T23:59:59.999Z") + margin);
  expect(claimed(brand)).toEqual(["the beginning to 2026-08-31"]);
  const ids = (brand.mirrored("orders") as OrderSeen[]).map(({ id }) => id);
  expect(ids).toContain(last);
  const wanted = ordersOf(brand.sandbox).filter(({ order_date }) => order_date < "2026-09-01");
  expect(ids.sort()).toEqual(wanted.map(({ id }) => id).sort());
});

test("`--until` before all that was asked for makes no claim of a single instant, and moves no floor to it", async () => {
  const brand = await brandForTest();
  expect((await brand.run("sync orders --since 2026-06-01")).code).toBe(0);
  await brand.run("sync orders --until 2026-03-31");
  const lengths = coverage(brand).map(
    ({ from_at, to_at }) => Date.parse(to_at) - Date.parse(from_at ?? "1970"),
  );
  expect(Math.min(...lengths)).toBeGreaterThan(day);
  expect(brand.lastRun("orders").covered_from).not.toBe("2026-03-31T23:59:59.999Z");
});

test.each([
  ["7", 7],
  ["36h", 1.5],
  ["12w", 84],
])("`--window %s` re-reads %d days before the last complete read", async (window, days) => {
  const brand = await brandForTest();
  await brand.run("sync orders");
  const readUntil = Date.parse(coverage(brand)[0]?.to_at ?? "");
  brand.sandbox.advance(day);
  const { code, requests } = await brand.run(`sync orders --audit 0 --window ${window}`);
  expect(code).toBe(0);
  const page = asked(requests, "/orders").find((query) => query.get("per_page") === "100");
  expect(Date.parse(page?.get("start_date") ?? "")).toBe(readUntil - days * day - margin);
});

test("a dry run says what would be read and how long that takes, and writes nothing", async () => {
  const brand = await brandForTest({ orders: 1_234 });
  const empty = await brand.run("sync --dry-run");
  expect(empty.code).toBe(0);
  expect(empty.out).toMatch(/^orders {12}everything until now: 1234 records \(13 requests\)$/m);
  expect(empty.out).toContain("Nothing was written.");
  expect(asked(empty.requests, "/opportunities")).toHaveLength(1);
  expect(() => statSync(brand.dbPath)).toThrow("ENOENT");

  await brand.run("sync orders roster");
  const before = brand.sql("SELECT count(*) AS runs FROM sync_runs");
  brand.sandbox.advance(day);
  const plan = await brand.run("sync orders --dry-run --json");
  expect(plan.code).toBe(0);
  const { resources, requests } = JSON.parse(plan.out) as {
    resources: { steps: { what: string }[] }[];
    requests: number;
  };
  expect(resources[0]?.steps[0]?.what).toMatch(/^2026-10-22 12:00 to now: \d+ records$/);
  expect(brand.sql("SELECT count(*) AS runs FROM sync_runs")).toEqual(before);
  // But for the one of `/me`.
  expect((await brand.run("sync orders --audit 0")).requests).toHaveLength(requests + 1);
});

test("`--since` with a time zone or a nonsense date is understood, or refused before anything is asked", async () => {
  const brand = await brandForTest();
  const zone = await brand.run("sync orders --since 2026-11-01T02:00:00+02:00");
  const [first] = asked(zone.requests, "/orders");
  expect(Date.parse(first?.get("start_date") ?? "")).toBe(Date.UTC(2026, 10, 1) - margin);
  for (const nonsense of ["2026-02-30", "tomorrow", "30", ""]) {
    const { code, requests } = await brand.run(["sync", "orders", "--since", nonsense]);
    expect(code, nonsense).toBe(2);
    expect(requests).toEqual([]);
  }
});

test("an order at the very instant of the pinned end is read once, and one that comes later the next time", async () => {
  const brand = await brandForTest();
  await brand.run("sync orders");
  const to = Date.parse(coverage(brand)[0]?.to_at ?? "");
  const [edge, after] = [brand.sandbox.events.newOrder(to), brand.sandbox.events.newOrder(to + 1)];
  brand.sandbox.advance(day);
  expect((await brand.run("sync orders")).code).toBe(0);
  const ids = (brand.mirrored("orders") as OrderSeen[]).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([edge, after]));
  expectEqualToApi(brand);
});

test("a refund inside a wide window is captured, outside a narrow one it is not", async () => {
  const brand = await brandForTest({ undocumented: { revenue: "gross" } });
  const order = orderAged(brand.sandbox, 20);
  await brand.run("sync orders");
  brand.sandbox.events.refund(order.id, 1);
  brand.sandbox.advance(day);
  await brand.run("sync orders --audit 0 --window 7");
  expect(brand.changes("orders")).toEqual([]);
  await brand.run("sync orders --audit 0 --window 30");
  expect(brand.changes("orders").map(({ key }) => key)).toContain(order.id);
});

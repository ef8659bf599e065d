import { copyFileSync, renameSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { at, day, hour, minute, noon, orderAt, ordersBefore } from "../support/records.js";

const second = 1_000;
const orders = ordersBefore(noon - hour, 150, 20 * hour);

/** The exit code and the messages of a sync of orders. */
async function synced(brand: TestBrand, command = "sync orders") {
  const { code, err } = await brand.run(command);
  return { code, err, verified: brand.lastRun().verified };
}

describe("a response that lacks a record is found by the counts", () => {
  const hide = (ids: readonly string[]) => ({
    envelope: (one: { data: { id: string }[] }) => ({
      ...one,
      data: one.data.filter(({ id }) => !ids.includes(id)),
    }),
  });

  test("A4: reads the range again", async () => {
    const brand = makeBrand({ orders });
    brand.once(
      ({ path, query }) => path === "/orders" && query.per_page === "100",
      () => hide(["o3"]),
    );
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.mirrored()).toHaveLength(150);
  });

  test("A4: reports both numbers with exit code 8 and removes nothing if the counts still differ", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.before = ({ path, query }) =>
      path === "/orders" && query.per_page === "100" ? (hide(["o3"]) as never) : undefined;
    const { code, err, verified } = await synced(brand);
    expect([code, verified]).toEqual([8, 0]);
    expect(err).toContain("the API counts 150 orders and the mirror 149");
    expect(brand.mirrored()).toHaveLength(150);
  });

  test("A5: does not verify against a capped total", async () => {
    const brand = makeBrand({ orders, variants: { maxTotal: 25 } });
    const { code, err } = await synced(brand);
    expect(code).toBe(8);
    expect(err).toContain("the API counts 25 orders and the mirror 150");
  });

  test("A6: finds a record at its new date after the API changed it", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.change("orders", "o140", { order_date: at(noon - 50 * day) });
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.sql("SELECT order_date AS at FROM orders WHERE id = 'o140'")).toEqual([
      { at: new Date(noon - 50 * day).toISOString() },
    ]);
  });
});

test("A7: a filter that does not count its status makes one run incomplete, and is then ignored until it agrees", async () => {
  const brand = makeBrand({ orders, variants: { refundedFilter: "any" } });
  brand.refund("o5", 1);
  expect(await synced(brand)).toMatchObject({ code: 8, verified: 0 });
  brand.pass(day);
  expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  brand.variants = {};
  brand.pass(day);
  expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  brand.variants = { refundedFilter: "any" };
  brand.pass(day);
  expect((await synced(brand)).code).toBe(8);
});

describe("daily totals", () => {
  const requestsTotals = ({ path }: { path: string }) => path === "/analytics/clicks";
  type Envelope = { data: { timeseries: { orders: number }[] } };
  /** Answers the next request for daily totals with other days. */
  const change = (brand: TestBrand, days: (points: Envelope["data"]["timeseries"]) => object[]) =>
    brand.once(requestsTotals, () => ({
      envelope: (one: Envelope) => ({ ...one, data: { ...one.data, timeseries: days(one.data.timeseries) } }),
    }));

  test("a missing response is a warning if there were totals before, and a note otherwise", async () => {
    const brand = makeBrand({ orders, variants: { dailyTotals: "absent" } });
    expect(await brand.run("sync orders --quiet")).toMatchObject({ code: 0, err: "" });
    brand.variants = {};
    await brand.run("sync orders");
    brand.variants = { dailyTotals: "absent" };
    expect((await brand.run("sync orders --quiet")).err).toMatch(
      /^warning: orders: the API returned no daily totals/,
    );
  });

  test("rejects a response that contains the API key", async () => {
    const brand = makeBrand({ orders });
    brand.once(requestsTotals, () => ({ envelope: (one: object) => ({ ...one, echo: brand.key }) }));
    expect((await synced(brand)).code).toBe(7);
  });

  test("ignores zeros and points without a day", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    const zeros = ["2026-01-05", "soon"].map((date) => ({ date, orders: 0, revenue: 0 }));
    change(brand, (points) => [...points.filter((point) => point.orders > 0), ...zeros]);
    const before = brand.asked.length;
    expect(await synced(brand, "sync orders --audit 0")).toMatchObject({ code: 0, verified: 1 });
    expect(brand.asked.slice(before).filter(({ query }) => query.per_page === "100")).toHaveLength(1);
  });
});

describe("if more than 100 requests are needed for differences, the run is not verified and the next run reads the rest", () => {
  const hours = ordersBefore(noon - 40 * day, 13_000, hour);
  const isPage = ({ path, query }: { path: string; query: Readonly<Record<string, string>> }) =>
    path === "/orders" && query.per_page === "100";

  test.each([
    ["days apart", 36],
    ["adjacent days", 12],
  ])("A8: %s", async (_, step) => {
    const brand = makeBrand({ orders: hours });
    await brand.run("sync orders --audit 0");
    for (let n = 0; n < hours.length; n += step) brand.refund(`o${n}`, 1);
    const { asked, code, err } = await brand.run("sync orders --audit 0");
    expect(err).toMatch(/the API's daily totals changed on \d+ days/);
    expect([code, brand.lastRun().verified]).toEqual([8, 0]);
    // One more for the time since the last run.
    expect(asked.filter(isPage)).toHaveLength(100 + 1);
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  });

  test("a complete history added at once", async () => {
    const brand = makeBrand({ variants: { dailyTotals: "absent" } });
    await brand.run("sync orders --audit 0");
    brand.data.orders = hours;
    const { asked, code, err } = await brand.run("sync orders --audit 0");
    expect(err).toMatch(/the API counts 13000 orders and the mirror \d+/);
    expect([code, brand.lastRun().verified]).toEqual([8, 0]);
    // The counts use some of the 100 requests.
    expect(asked.filter(isPage).length).toBeLessThanOrEqual(100);
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  });

  test("does not ignore a filter if only the first page of a range was read", async () => {
    const brand = makeBrand({ orders: hours.slice(0, 9_000), variants: { dailyTotals: "absent" } });
    await brand.run("sync orders --audit 0");
    // From here on, one request is left for a part of two pages.
    for (let n = 300; n < 9_000; n += 1) brand.cancel(`o${n}`);
    expect(await synced(brand, "sync orders --audit 0")).toMatchObject({ code: 8, verified: 0 });
    expect(brand.sql("SELECT distrusted FROM sync_state")).toEqual([{ distrusted: "[]" }]);
  });
});

test("A9: a list that never settles makes the run incomplete", async () => {
  const brand = makeBrand({ history: 50 });
  brand.before = ({ path, query }) => {
    if (path === "/roster" && query.page === "2") brand.leave(brand.data.roster[0]?.host.id ?? "");
    return undefined;
  };
  brand.variants = { maxPerPage: 20 };
  const { code, err } = await brand.run("sync roster");
  expect(code).toBe(8);
  expect(err).toContain("never settled");
});

test("A9: keeps the orders of a dense second that never settles, but does not cover it", async () => {
  const second = noon - 90 * day;
  const brand = makeBrand({ orders: Array.from({ length: 150 }, (_, n) => orderAt(`c${n}`, second)) });
  brand.before = ({ path, query }) => {
    if (path === "/orders" && query.page === "2") brand.withdraw(brand.data.orders[0]?.id ?? "");
    return undefined;
  };
  const { code, err } = await synced(brand);
  expect(code).toBe(8);
  expect(err).toContain("never settled");
  expect(brand.mirrored().length).toBeGreaterThanOrEqual(brand.data.orders.length);
  const sql = "SELECT * FROM coverage WHERE coalesce(from_at, '') <= ? AND to_at >= ?";
  expect(brand.sql(sql, at(second), at(second))).toEqual([]);
});

test.each([
  ["six minutes ahead", 6 * minute, 3],
  ["six minutes behind", -6 * minute, 3],
  ["four minutes ahead", 4 * minute, 0],
])("A10: this clock is %s", async (_, skew, code) => {
  const brand = makeBrand({ orders });
  const clock = { ...brand.clock, now: () => brand.now() + skew };
  const ran = await brand.run("sync orders", { clock });
  expect(ran.code, ran.err).toBe(code);
});

test("A11: warns on every run about a record that is in no date range, and verifies nothing", async () => {
  const brand = makeBrand({
    orders: [...orders, orderAt("none", null)],
    variants: { undated: "without range" },
  });
  for (const _ of [1, 2]) {
    const { code, err, verified } = await synced(brand);
    expect([code, verified]).toEqual([0, 0]);
    expect(err).toContain("the API counts 1 more records without a date range");
    brand.pass(day);
  }
});

test("A12: ends with exit code 3 if the mirror file is replaced during the run", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 450, hour) });
  await brand.run("sync orders --since 3d");
  copyFileSync(brand.db, `${brand.db}.copy`);
  brand.once(
    ({ path, query }) => path === "/orders" && query.per_page === "100",
    () => {
      renameSync(`${brand.db}.copy`, brand.db);
      return undefined;
    },
  );
  const { code, err } = await brand.run("sync orders --full");
  expect(code).toBe(3);
  expect(err).not.toContain("verified");
});

test("truncates sub-second dates without losing records at the end of a range", async () => {
  const fine = Array.from({ length: 250 }, (_, n) =>
    orderAt(`f${n}`, new Date(noon - hour - n * 700).toISOString().replace("Z", "987Z")),
  );
  for (const datePrecision of ["exact", "seconds"] as const) {
    const brand = makeBrand({ orders: fine, variants: { datePrecision } });
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.mirrored()).toHaveLength(250);
    brand.pass(second);
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  }
});

import { copyFileSync, renameSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cancelOrder, refundOrder } from "../../src/sandbox/orders-endpoint.js";
import { makeBrand, readsOrders, type TestBrand } from "../support/brand.js";
import { at, day, hour, minute, noon, orderAt, ordersBefore } from "../support/records.js";

const second = 1_000;
const orders = ordersBefore(noon - hour, 150, 20 * hour);

async function synced(brand: TestBrand, command = "sync orders") {
  const { code, err } = await brand.run(command);
  return { code, err, verified: brand.lastRun().verified };
}

describe("record counts after a sync", () => {
  const hide = (ids: readonly string[]) => ({
    envelope: (one: { data: { id: string }[] }) => ({
      ...one,
      data: one.data.filter(({ id }) => !ids.includes(id)),
    }),
  });

  test("sync re-reads a date range if a response omits a record", async () => {
    const brand = makeBrand({ orders });
    brand.once(readsOrders, () => hide(["o3"]));
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.mirrored()).toHaveLength(150);
  });

  test("if a count still differs after the date range has been re-read, sync removes nothing and exits with code 8", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.before = (request) => (readsOrders(request) ? hide(["o3"]) : undefined);
    const { code, err, verified } = await synced(brand);
    expect([code, verified]).toEqual([8, 0]);
    expect(err).toContain("the API counts 150 orders, but the mirror has 149");
    expect(brand.mirrored()).toHaveLength(150);
  });

  test("sync exits with code 8 if `total_items` is lower than the number of orders in the API's responses", async () => {
    const brand = makeBrand({ orders, variants: { maxTotal: 25 } });
    const { code, err } = await synced(brand);
    expect(code).toBe(8);
    expect(err).toContain("the API counts 25 orders, but the mirror has 150");
  });

  test("sync finds an order whose date has changed in the API", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.change("orders", "o140", { order_date: at(noon - 50 * day) });
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.sql("SELECT order_date AS at FROM orders WHERE id = 'o140'")).toEqual([
      { at: new Date(noon - 50 * day).toISOString() },
    ]);
  });
});

test("if a status filter returns a wrong count, sync reports the count once, and ignores it until it is correct again", async () => {
  const brand = makeBrand({ orders, variants: { refundedFilter: "any" } });
  brand.refund("o5", 1);
  expect(await synced(brand)).toMatchObject({ code: 8, verified: 0 });
  brand.pass(day);
  expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  brand.api.variants = {};
  brand.pass(day);
  expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  brand.api.variants = { refundedFilter: "any" };
  brand.pass(day);
  expect((await synced(brand)).code).toBe(8);
});

describe("missing or invalid daily totals", () => {
  const requestsTotals = ({ path }: { path: string }) => path === "/analytics/clicks";
  type Envelope = { data: { timeseries: { orders: number }[] } };
  /** Modifies the days in the next daily-totals response. */
  const change = (brand: TestBrand, days: (points: Envelope["data"]["timeseries"]) => object[]) =>
    brand.once(requestsTotals, () => ({
      envelope: (one: Envelope) => ({ ...one, data: { ...one.data, timeseries: days(one.data.timeseries) } }),
    }));

  test("sync warns about missing daily totals only if an earlier response contained daily totals", async () => {
    const brand = makeBrand({ orders, variants: { dailyTotals: "absent" } });
    expect(await brand.run("sync orders --quiet")).toMatchObject({ code: 0, err: "" });
    brand.api.variants = {};
    await brand.run("sync orders");
    brand.api.variants = { dailyTotals: "absent" };
    expect((await brand.run("sync orders --quiet")).err).toMatch(
      /^warning: orders: the API returned no daily totals/,
    );
  });

  test("sync rejects daily totals that contain the API key", async () => {
    const brand = makeBrand({ orders });
    brand.once(requestsTotals, () => ({ envelope: (one: object) => ({ ...one, echo: brand.key }) }));
    expect((await synced(brand)).code).toBe(7);
  });

  test("sync ignores daily totals that are zero or have an invalid date", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    const zeros = ["2026-01-05", "soon"].map((date) => ({ date, orders: 0, revenue: 0 }));
    change(brand, (points) => [...points.filter((point) => point.orders > 0), ...zeros]);
    const before = brand.requests.length;
    expect(await synced(brand, "sync orders --audit 0")).toMatchObject({ code: 0, verified: 1 });
    expect(brand.requests.slice(before).filter(readsOrders)).toHaveLength(1);
  });
});

describe("changes that take more than 100 requests to read", () => {
  // With 25 orders per page, 100 requests are enough to read about 100 days.
  const hours = ordersBefore(noon - 40 * day, 4_000, hour);
  const variants = { maxPerPage: 25 };

  test.each([
    ["are not adjacent", 36, 5],
    ["are adjacent", 12, 20],
  ])(
    "if changed days %s, sync sends at most 100 requests to re-read them, and leaves the remaining days to the next run",
    async (_, step, sample) => {
      const brand = makeBrand({ orders: hours, variants });
      await brand.run("sync orders --audit 0");
      brand.data.orders = hours.map((order, n) => (n % step === 0 ? refundOrder(order, 1) : order));
      const { requests, code, err } = await brand.run("sync orders --audit 0");
      expect(err).toMatch(/the API's daily totals changed on \d+ days/);
      expect([code, brand.lastRun().verified]).toEqual([8, 0]);
      // One additional request reads the orders that are newer than the previous run.
      expect(requests.filter(readsOrders)).toHaveLength(sample + 100 + 1);
      expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    },
  );

  test("if 4,000 old orders have been added since the previous run, sync takes more than one run to read them", async () => {
    const brand = makeBrand({ variants: { ...variants, dailyTotals: "absent" } });
    await brand.run("sync orders --audit 0");
    brand.data.orders = hours;
    const { requests, code, err } = await brand.run("sync orders --audit 0");
    expect(err).toMatch(/the API counts 4000 orders, but the mirror has \d+/);
    expect([code, brand.lastRun().verified]).toEqual([8, 0]);
    // The budget of 100 requests includes the count requests.
    expect(requests.filter(readsOrders).length).toBeLessThanOrEqual(100);
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
  });

  test("sync continues to compare a differing status count if the request limit was reached before all orders were re-read", async () => {
    const orders = ordersBefore(noon - 40 * day, 9_000, hour);
    const brand = makeBrand({ orders, variants: { dailyTotals: "absent" } });
    await brand.run("sync orders --audit 0");
    // The last request in the budget reads the first of two pages, so the last date range is read only in part.
    brand.data.orders = brand.data.orders.map((order, n) => (n < 300 ? order : cancelOrder(order)));
    expect(await synced(brand, "sync orders --audit 0")).toMatchObject({ code: 8, verified: 0 });
    expect(brand.sql("SELECT ignored_filters FROM sync_state")).toEqual([{ ignored_filters: "[]" }]);
  });
});

test("sync exits with code 8 if a list changes during every read", async () => {
  const brand = makeBrand({ history: 50 });
  brand.before = ({ path, query }) => {
    if (path === "/roster" && query.page === "2") brand.leave(brand.data.roster[0]?.host.id ?? "");
    return undefined;
  };
  brand.api.variants = { maxPerPage: 20 };
  const { code, err } = await brand.run("sync roster");
  expect(code).toBe(8);
  expect(err).toContain("never settled");
});

test("if the list of orders from one second changes during every read, sync stores the orders but does not mark the second as read", async () => {
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
  [3, "6 minutes ahead of", 6 * minute],
  [3, "6 minutes behind", -6 * minute],
  [0, "4 minutes ahead of", 4 * minute],
])("sync exits with code %i if the local clock is %s the API's", async (code, _, skew) => {
  const brand = makeBrand({ orders });
  const clock = { ...brand.clock, now: () => brand.now() + skew };
  const ran = await brand.run("sync orders", { clock });
  expect(ran.code, ran.err).toBe(code);
});

test("if the API returns an order only when no date range is requested, every sync warns about the order and leaves the orders unverified", async () => {
  const brand = makeBrand({
    orders: [...orders, orderAt("none", null)],
    variants: { undated: "without range" },
  });
  for (const _ of [1, 2]) {
    const { code, err, verified } = await synced(brand);
    expect([code, verified]).toEqual([0, 0]);
    expect(err).toContain("the API counts 1 more record without a date range");
    brand.pass(day);
  }
});

test("sync exits with code 3 if the mirror file is replaced during the run", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 450, hour) });
  await brand.run("sync orders --since 3d");
  copyFileSync(brand.db, `${brand.db}.copy`);
  brand.once(readsOrders, () => {
    renameSync(`${brand.db}.copy`, brand.db);
    return undefined;
  });
  const { code, err } = await brand.run("sync orders --full");
  expect(code).toBe(3);
  expect(err).not.toContain("verified");
});

test("sync reads orders whose dates have fractional seconds", async () => {
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

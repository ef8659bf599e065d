import { describe, expect, test } from "vitest";
import { resources } from "../../src/resources/index.js";
import { expectFaithful } from "../conformance/compare.js";
import type { InterceptedRequest } from "../support/old-sandbox/index.js";
import { asked, type Brand, brandForTest, byId, day, nthRead, type OrderSeen, ordersOf } from "./brand.js";

function expectEqualToApi(brand: Brand) {
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
}

/** Does something once, right before the API answers the nth request that reads records of this path. */
function rightBefore(brand: Brand, path: string, nth: number, happening: () => void) {
  const isIt = nthRead(path, nth);
  brand.sandbox.intercept = (request) => {
    if (!isIt(request)) return;
    brand.sandbox.intercept = undefined;
    happening();
  };
}

describe("while orders are being read, answer by answer,", () => {
  const happenings: [string, (brand: Brand, orders: OrderSeen[]) => void][] = [
    [
      "one that was placed long ago is attributed, in a range already read",
      ({ sandbox }, orders) => void sandbox.events.lateOrder(dateOf(orders, 50)),
    ],
    [
      "one that was placed long ago is attributed, in a range still to come",
      ({ sandbox }, orders) => void sandbox.events.lateOrder(dateOf(orders, 550)),
    ],
    [
      "one is withdrawn from a range already read",
      ({ sandbox }, orders) => sandbox.events.withdraw(orders[50]?.id ?? ""),
    ],
    [
      "one is withdrawn from a range still to come",
      ({ sandbox }, orders) => sandbox.events.withdraw(orders[550]?.id ?? ""),
    ],
    [
      "one moves to a range already read",
      ({ sandbox }, orders) => sandbox.events.redate(orders[550]?.id ?? "", dateOf(orders, 20)),
    ],
    [
      "one moves to a range still to come",
      ({ sandbox }, orders) => sandbox.events.redate(orders[20]?.id ?? "", dateOf(orders, 580)),
    ],
    [
      "a hundred new ones are placed",
      ({ sandbox }) => {
        for (let n = 0; n < 100; n += 1) sandbox.events.newOrder();
      },
    ],
    [
      "thirty are withdrawn and thirty attributed",
      ({ sandbox }, orders) => {
        for (let n = 0; n < 30; n += 1) {
          sandbox.events.withdraw(orders[n * 17 + 3]?.id ?? "");
          sandbox.events.lateOrder(dateOf(orders, n * 13 + 5));
        }
      },
    ],
  ];

  test.each(happenings)("%s: nothing is lost, nothing falsely removed", async (_, happen) => {
    const brand = await brandForTest({ orders: 600 });
    await brand.run("sync orders");
    const orders = ordersOf(brand.sandbox);
    const ids = () => new Set(ordersOf(brand.sandbox).map(({ id }) => id));
    rightBefore(brand, "/orders", 4, () => happen(brand, orders));
    const during = await brand.run("sync orders --full");
    expect(brand.sandbox.intercept).toBeUndefined();
    expect(during.code, during.err).toBe(0);
    const removed = brand.changes("orders").filter(({ kind }) => kind === "removed");
    expect(removed.filter(({ key }) => ids().has(key))).toEqual([]);
    const next = await brand.run("sync orders");
    expect(next.code, next.err).toBe(0);
    expectEqualToApi(brand);
  });

  test("a first read that is disturbed is right all the same", async () => {
    const brand = await brandForTest({ orders: 600 });
    const orders = ordersOf(brand.sandbox);
    rightBefore(brand, "/orders", 3, () => {
      brand.sandbox.events.withdraw(orders[10]?.id ?? "");
      brand.sandbox.events.withdraw(orders[11]?.id ?? "");
      brand.sandbox.events.lateOrder(dateOf(orders, 420));
    });
    const { code, err } = await brand.run("sync orders");
    expect(brand.sandbox.intercept).toBeUndefined();
    expect(code, err).toBe(0);
    expectEqualToApi(brand);
  });

  test("one is withdrawn and another attributed in the same instant: the next night sees it", async () => {
    const brand = await brandForTest({ orders: 600 });
    const orders = ordersOf(brand.sandbox);
    rightBefore(brand, "/orders", 5, () => {
      brand.sandbox.events.withdraw(orders[350]?.id ?? "");
      brand.sandbox.events.lateOrder(dateOf(orders, 355));
    });
    await brand.run("sync orders");
    expect(brand.sandbox.intercept).toBeUndefined();
    brand.sandbox.advance(day);
    const next = await brand.run("sync orders --audit 0");
    expect(next.code, next.err).toBe(0);
    expectEqualToApi(brand);
  });
});

describe("a list that never settles", () => {
  test("orders: ends after a bounded number of tries with exit 8, says how much differs, and the next run closes it", async () => {
    const brand = await brandForTest({ orders: 500 });
    const orders = ordersOf(brand.sandbox);
    let restless = 0;
    brand.sandbox.intercept = ({ path }) => {
      if (path !== "/orders") return;
      restless += 1;
      brand.sandbox.events.lateOrder(dateOf(orders, 50) + restless * 1_000);
    };
    const { code, err, requests } = await brand.run("sync orders");
    expect(code).toBe(8);
    expect(err).toMatch(/the API counts \d+ orders and the mirror \d+/);
    expect(requests.length).toBeLessThan(60);
    expect(brand.lastRun("orders")).toMatchObject({ outcome: "incomplete", verified: 0 });
    brand.sandbox.intercept = undefined;
    const next = await brand.run("sync orders");
    expect(next.code, next.err).toBe(0);
    expectEqualToApi(brand);
  });

  test("the roster: the same, and nobody is removed", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync roster");
    const before = brand.mirrored("roster").length;
    let joined = 0;
    brand.sandbox.intercept = ({ path, query }) => {
      if (path === "/roster" && query.get("page") === "1")
        for (let n = 0; n < 3; n += 1) brand.sandbox.events.joinRoster();
      joined += 1;
    };
    const { code, err } = await brand.run("sync roster");
    brand.sandbox.intercept = undefined;
    if (code !== 0) expect(err).toMatch(/never settled/);
    expect(joined).toBeLessThan(40);
    expect(brand.sql("SELECT * FROM roster WHERE removed_at IS NOT NULL")).toEqual([]);
    expect(brand.mirrored("roster").length).toBeGreaterThanOrEqual(before);
    expect((await brand.run("sync roster")).code).toBe(0);
    const [roster] = resources.filter(({ name }) => name === "roster");
    if (roster) await expectFaithful(brand, roster);
  });
});

describe("lists that promise no order", () => {
  test("the roster, in another order on each request, is put together from several readings", async () => {
    const brand = await brandForTest({ orders: 5 });
    for (let n = 0; n < 60; n += 1) brand.sandbox.events.joinRoster();
    const all = [...brand.sandbox.records("roster")];
    let turn = 0;
    brand.sandbox.intercept = ({ path, query }) => {
      if (path !== "/roster") return;
      turn += 7;
      const page = Number(query.get("page") ?? 1);
      const turned = [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
      return {
        kind: "envelope",
        change: (envelope) => ({ ...envelope, data: turned.slice((page - 1) * 100, page * 100) }),
      };
    };
    const { code, err } = await brand.run("sync roster");
    expect(code, err).toBe(0);
    expect(brand.mirrored("roster")).toHaveLength(all.length);
  });

  test("the ranking of hosts that reorders while it is read is read again, and kept as it was ranked", async () => {
    const brand = await brandForTest({ orders: 400 });
    const [first] = [...brand.sandbox.records("analytics-hosts")];
    let swapped = false;
    brand.sandbox.intercept = ({ path, query }) => {
      if (path !== "/analytics/hosts" || query.get("page") !== "2" || swapped) return;
      swapped = true;
      // The host in front fell behind a hundred others, and one of them took a place on the page already read.
      return {
        kind: "envelope",
        change: (envelope) => ({ ...envelope, data: [first, ...(envelope.data as unknown[]).slice(1)] }),
      };
    };
    const { code, err, requests } = await brand.run("sync analytics-hosts");
    expect(code, err).toBe(0);
    expect(asked(requests, "/analytics/hosts")).toHaveLength(4);
    const [hosts] = resources.filter(({ name }) => name === "analytics-hosts");
    if (hosts) await expectFaithful(brand, hosts);
  });

  test("orders of one instant that swap between two pages are neither lost nor removed", async () => {
    const brand = await brandForTest({ orders: 150 });
    const at = brand.sandbox.now() - 5 * day;
    for (let n = 0; n < 120; n += 1) brand.sandbox.events.lateOrder(at);
    await brand.run("sync orders");
    // Ties come in the other order on every second request.
    let count = 0;
    brand.sandbox.intercept = (request: InterceptedRequest) => {
      if (request.path !== "/orders" || request.query.get("per_page") !== "100") return;
      count += 1;
      if (count % 2 === 0) return;
      return { kind: "envelope", change: (envelope) => withTiesTurned(brand, request.query, envelope) };
    };
    const { code, err } = await brand.run("sync orders --full");
    if (code !== 0) expect(err).toMatch(/never settled/);
    expect(brand.changes("orders")).toEqual([]);
    brand.sandbox.intercept = undefined;
    expect((await brand.run("sync orders")).code).toBe(0);
    expectEqualToApi(brand);
    expect(asked(brand.sandbox.log, "/orders").length).toBeLessThan(80);
  });
});

function dateOf(orders: readonly OrderSeen[], place: number): number {
  return Date.parse(orders[place]?.order_date ?? "") + 1_000;
}

/** The page that the API would serve if the orders of each instant came in the other order. */
function withTiesTurned({ sandbox }: Brand, query: URLSearchParams, envelope: Record<string, unknown>) {
  const from = Date.parse(query.get("start_date") ?? "1970-01-01");
  const to = Date.parse(query.get("end_date") ?? "2100-01-01");
  const inRange = ordersOf(sandbox).filter(
    ({ order_date }) => Date.parse(order_date) >= from && Date.parse(order_date) <= to,
  );
  const turned = inRange
    .map((order, place) => ({ order, place }))
    .sort((a, b) => Date.parse(b.order.order_date) - Date.parse(a.order.order_date) || b.place - a.place);
  const page = Number(query.get("page"));
  return { ...envelope, data: turned.slice((page - 1) * 100, page * 100).map(({ order }) => order) };
}

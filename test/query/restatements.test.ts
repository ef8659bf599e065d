import { expect, test } from "vitest";
import type { Order } from "../../src/sandbox/orders-endpoint.js";
import { counts, makeBrand, readsOrders, type TestBrand } from "../support/brand.js";
import { day, hour, orderAt } from "../support/records.js";
import { currencyOf, groupFigures, monthOf, sorted, sumFigures } from "./expected-figures.js";
import { findAllChanges, hash, sinceFlag, syncOrders, untilFlag } from "./unusual-orders.js";

const october = Date.UTC(2026, 9, 1);
const november = Date.UTC(2026, 10, 1);

interface Restatement {
  month: string;
  currency: string | null;
  reported_at: string;
  net_reported: number;
  net_now: number;
  difference: number;
  orders: number;
}

const restatements = (brand: TestBrand) => brand.sql<Restatement>("SELECT * FROM restatements");
const restated = (brand: TestBrand) =>
  brand.sql<{ month: string; order_id: string; difference: number; what: string }>(
    "SELECT month, currency, order_id, net_reported, net_now, difference, what FROM restated_orders",
  );

async function monthsAsOf(brand: TestBrand, at: string): Promise<Record<string, unknown>[]> {
  const { code, out } = await brand.run(`export sales_by_month --json --as-of ${at}`);
  expect(code).toBe(0);
  return JSON.parse(out) as Record<string, unknown>[];
}

/**
 * Creates a brand, syncs all of its orders from October, and sets the clock to November. Returns the brand and the end
 * of the last sync.
 */
async function reportedOctober() {
  const brand = makeBrand({
    orders: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => orderAt(`o${n}`, october + n * day)),
    now: november - day,
  });
  brand.change("orders", "o8", { is_cancelled: true });
  brand.change("orders", "o6", { total_amount: "10.00" as unknown as number });
  brand.change("orders", "o3", { refund_amount: "1.00" as unknown as number });
  brand.add("orders", orderAt("o9", october + 9 * day));
  await syncOrders(brand, findAllChanges);
  brand.withdraw("o9");
  brand.pass(day + hour);
  const { finished_at } = await syncOrders(brand, findAllChanges);
  brand.pass(7 * day);
  return { brand, reportedAt: finished_at };
}

test("restated_orders lists each changed order with the kind of change and the difference in the net amount", async () => {
  const { brand, reportedAt } = await reportedOctober();
  brand.change("orders", "o1", { refund_amount: 4 });
  brand.change("orders", "o2", { is_cancelled: true });
  brand.withdraw("o3");
  brand.change("orders", "o4", { order_date: new Date(november + hour).toISOString() });
  brand.change("orders", "o5", { currency: null });
  brand.change("orders", "o6", { total_amount: 12.5 });
  brand.change("orders", "o7", { commission_amount: 1, host: null });
  brand.change("orders", "o8", { is_cancelled: false });
  brand.add("orders", orderAt("o9", october + 9 * day, { total_amount: 9 }));
  brand.add("orders", orderAt("late", october + 20 * day, { total_amount: 7 }));
  await syncOrders(brand, findAllChanges);
  const row = { month: "2026-10", currency: "EUR" };
  expect(sorted(restated(brand))).toEqual(
    sorted([
      { ...row, order_id: "o1", net_reported: 10, net_now: 6, difference: -4, what: "refunded" },
      { ...row, order_id: "o2", net_reported: 10, net_now: 0, difference: -10, what: "cancelled" },
      { ...row, order_id: "o3", net_reported: 9, net_now: 0, difference: -9, what: "withdrawn" },
      { ...row, order_id: "o4", net_reported: 10, net_now: 0, difference: -10, what: "redated" },
      { ...row, order_id: "o5", net_reported: 10, net_now: 0, difference: -10, what: "currency" },
      {
        ...row,
        currency: null,
        order_id: "o5",
        net_reported: 0,
        net_now: 10,
        difference: 10,
        what: "currency",
      },
      { ...row, order_id: "o6", net_reported: 10, net_now: 12.5, difference: 2.5, what: "amount" },
      { ...row, order_id: "o8", net_reported: 0, net_now: 10, difference: 10, what: "reinstated" },
      { ...row, order_id: "o9", net_reported: 0, net_now: 9, difference: 9, what: "returned" },
      { ...row, order_id: "late", net_reported: 0, net_now: 7, difference: 7, what: "late" },
    ]),
  );
  expect(restatements(brand)).toEqual([
    {
      ...row,
      currency: null,
      reported_at: reportedAt,
      net_reported: 0,
      net_now: 10,
      difference: 10,
      orders: 1,
    },
    { ...row, reported_at: reportedAt, net_reported: 69, net_now: 54.5, difference: -14.5, orders: 9 },
  ]);
});

test("restated_orders lists an order that moved from a reported month to a month that has not been reported yet", async () => {
  const brand = makeBrand({ orders: [orderAt("a", october), orderAt("b", october)], now: november + hour });
  await syncOrders(brand, findAllChanges);
  brand.pass(2 * hour);
  brand.change("orders", "a", { order_date: new Date(november + hour).toISOString() });
  await syncOrders(brand, findAllChanges);
  expect(restated(brand)).toMatchObject([
    { month: "2026-10", order_id: "a", difference: -10, what: "redated" },
  ]);
});

test("if a refund was later undone, restatements reports no difference and restated_orders omits the order", async () => {
  const { brand } = await reportedOctober();
  for (const refund of [4, 0]) {
    brand.change("orders", "o1", { refund_amount: refund });
    await syncOrders(brand, findAllChanges);
    brand.pass(day);
  }
  expect(restated(brand)).toEqual([]);
  expect(restatements(brand)).toMatchObject([{ net_reported: 69, net_now: 69, difference: 0, orders: 0 }]);
});

test("restated_orders omits an order that the API stopped returning and later returned unchanged", async () => {
  const { brand } = await reportedOctober();
  brand.withdraw("o1");
  await syncOrders(brand, findAllChanges);
  expect(restated(brand)).toMatchObject([{ order_id: "o1", what: "withdrawn" }]);
  brand.pass(day);
  brand.add("orders", orderAt("o1", october + day));
  await syncOrders(brand, findAllChanges);
  expect(restated(brand)).toEqual([]);
});

test("in restatements, `reported_at` for a month before the first sync is the end of that sync, and the current month has no row", async () => {
  const brand = makeBrand({
    orders: [orderAt("a", october - day), orderAt("b", october + day), orderAt("c", november + day)],
    now: november + 3 * day,
  });
  const first = await syncOrders(brand);
  brand.pass(day);
  await syncOrders(brand);
  expect(restatements(brand).map(({ month, reported_at }) => [month, reported_at])).toEqual([
    ["2026-09", first.finished_at],
    ["2026-10", first.finished_at],
  ]);
});

test("`reported_at` in the restatements view ignores runs that were stopped, that did not cover the month, or that read a different resource", async () => {
  const orders = [orderAt("a", october - day), orderAt("b", october + day)];
  const brand = makeBrand({ orders, now: november + day });
  await syncOrders(brand, untilFlag(october + 5 * day));
  expect((await brand.run("sync content")).code).toBe(0);
  expect(restatements(brand).map(({ month }) => month)).toEqual(["2026-09"]);
  await brand.stopped("sync orders", readsOrders);
  // This run is stopped after it has read everything, so the next run has nothing left to read.
  await brand.stopped("sync orders", counts);
  expect(restatements(brand)).toHaveLength(1);
  const { finished_at } = await syncOrders(brand);
  expect(restatements(brand)[1]).toMatchObject({ month: "2026-10", reported_at: finished_at });
});

test("`reported_at` in the restatements view is the end of the run that read the missing part of a month", async () => {
  const orders = [orderAt("a", october + day), orderAt("b", october + 20 * day), orderAt("c", november)];
  const brand = makeBrand({ orders, now: november + 40 * day });
  await syncOrders(brand, sinceFlag(october + 10 * day));
  expect(restatements(brand).map(({ month }) => month)).toEqual(["2026-11"]);
  const { finished_at } = await syncOrders(brand, ["--full"]);
  expect(restatements(brand)).toMatchObject([
    { month: "2026-10", reported_at: finished_at, net_reported: 20, difference: 0 },
    { month: "2026-11", difference: 0 },
  ]);
});

test("`reported_at` in restatements ignores runs that began before the end of the month, and runs that ended after the time passed to --as-of", async () => {
  const brand = makeBrand({ orders: [orderAt("a", october + day)], now: november - 15 });
  const first = await syncOrders(brand);
  expect([first.started_at < "2026-11-01", String(first.finished_at) > "2026-11-01"]).toEqual([true, true]);
  expect(restatements(brand)).toEqual([]);
  const { started_at, finished_at } = await syncOrders(brand);
  expect(restatements(brand)).toMatchObject([{ reported_at: finished_at }]);
  const asOf = async (at: string | null) =>
    (await monthsAsOf(brand, String(at))).map(({ is_partial }) => is_partial);
  expect([await asOf(started_at), await asOf(finished_at)]).toEqual([[true], [false]]);
});

function changeRandomOrder(brand: TestBrand, n: number): void {
  const orders = brand.data.orders;
  const pick = (what: string, of: number) => hash(what, n + 1) % of;
  const one = orders[pick("which", Math.max(1, orders.length))];
  const id = String(one?.id);
  const at = brand.now() - pick("age", 110 * 24) * hour;
  const what = pick("what", 11);
  if (what < 4)
    brand.add(
      "orders",
      orderAt(`x${n}`, at, {
        total_amount: pick("total", 9_999) / 100,
        currency: ["EUR", "USD", null][pick("money", 3)] ?? null,
      }),
    );
  else if (what === 4) brand.withdraw(id);
  else if (what === 5) brand.change("orders", id, { is_cancelled: one?.is_cancelled !== true });
  else if (what === 6) brand.change("orders", id, { order_date: new Date(at).toISOString() });
  else if (what === 7) brand.change("orders", id, { currency: one?.currency === "EUR" ? "GBP" : "EUR" });
  else if (what === 8)
    brand.change("orders", id, { total_amount: pick("null", 3) === 0 ? null : pick("total", 9_999) / 100 });
  else
    brand.change("orders", id, { refund_amount: pick("refund", 4) === 0 ? null : pick("back", 999) / 100 });
}

test.each([1, 2])(
  "after random changes, the restatements view agrees with the API's data and with the results of `--as-of` (seed %d)",
  async (seed) => {
    const brand = makeBrand({
      orders: Array.from({ length: 60 }, (_, n) =>
        orderAt(`o${n}`, october - (n - 20) * 31 * hour, { total_amount: n / 8 + 3 }),
      ),
      now: october + 12 * day,
    });
    const reported = new Map<string, { at: string; orders: Order[] }>();
    for (let n = 0; n < 12; n += 1) {
      const { finished_at } = await syncOrders(brand, findAllChanges);
      const orders = brand.data.orders;
      const running = new Date(brand.now()).toISOString().slice(0, 7);
      for (let at = Date.UTC(2026, 0); new Date(at).toISOString().slice(0, 7) < running; at += 28 * day) {
        const month = new Date(at).toISOString().slice(0, 7);
        if (!reported.has(month)) reported.set(month, { at: String(finished_at), orders: [...orders] });
      }
      expect(sorted(restatements(brand))).toEqual(sorted(expectedRestatements(reported, orders)));
      for (let m = 0; m < 8; m += 1) changeRandomOrder(brand, seed * 1_000 + n * 10 + m);
      brand.pass((4 + (n % 3) * 4) * day);
    }
    const all = restatements(brand);
    expect(all.filter(({ orders }) => orders > 0).length).toBeGreaterThan(4);
    for (const at of new Set(all.map(({ reported_at }) => reported_at))) {
      const then = await monthsAsOf(brand, at);
      for (const { month, currency, net_reported } of all.filter((row) => row.reported_at === at)) {
        const row = then.find((one) => one.month === month && one.currency === currency);
        expect([month, currency, row?.net_amount ?? 0]).toEqual([month, currency, net_reported]);
      }
    }
  },
);

/** Computes the expected rows of `restatements` from the API's orders. */
function expectedRestatements(
  reports: ReadonlyMap<string, { at: string; orders: Order[] }>,
  now: readonly Order[],
): Restatement[] {
  return [...reports].flatMap(([month, { at, orders: then }]) => {
    const ofMonth = (all: readonly Order[]) => all.filter((order) => monthOf(order) === month);
    const both = groupFigures([...ofMonth(then), ...ofMonth(now)], (order) => ({
      currency: currencyOf(order),
    }));
    return both.map(({ currency }) => {
      const own = (all: readonly Order[]) => ofMonth(all).filter((order) => currencyOf(order) === currency);
      const net = (all: readonly Order[], id: unknown) =>
        sumFigures(own(all).filter((order) => order.id === id)).net_amount;
      const ids = new Set([...own(then), ...own(now)].map(({ id }) => id));
      const [reported, current] = [sumFigures(own(then)).net_amount, sumFigures(own(now)).net_amount];
      return {
        month,
        currency,
        reported_at: at,
        net_reported: reported,
        net_now: current,
        difference: Math.round((current - reported) * 1e6) / 1e6,
        orders: [...ids].filter((id) => net(then, id) !== net(now, id)).length,
      };
    });
  });
}

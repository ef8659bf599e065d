import { expect, test } from "vitest";
import type { Order } from "../../src/sandbox/orders-endpoint.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { at, day, hour, orderAt } from "../support/records.js";
import { monthOf, sumFigures } from "./expected-figures.js";
import { sinceFlag, syncOrders, untilFlag } from "./unusual-orders.js";

interface Month {
  month: string;
  currency: string | null;
  is_partial: 0 | 1;
  net_amount: number;
  net_through: number | null;
  net_before: number | null;
}

const months = (brand: TestBrand) =>
  brand.sql<Month>(
    "SELECT month, currency, is_partial, net_amount, net_through, net_before FROM sales_by_month",
  );

/** Creates one order per day. The amounts are chosen so that each sum reveals which days it includes. */
function everyDay(first: number, days: number, hourOfDay = 12): Order[] {
  return Array.from({ length: days }, (_, n) =>
    orderAt(`o${n}`, first + n * day + hourOfDay * hour, { total_amount: 2 ** (n % 40) / 100 }),
  );
}

const net = (orders: readonly Order[], from: string, to: string) =>
  sumFigures(
    orders.filter(({ order_date }) => String(order_date) >= from && String(order_date).slice(0, 10) <= to),
  ).net_amount;

const readings: [name: string, read: string, through: string | null, before: [string, string] | null][] = [
  ["the 23rd at noon", "2026-11-23T12:00", "2026-11-22", ["2026-10", "2026-10-22"]],
  ["the 1st at 05:00", "2026-11-01T05:00", null, null],
  ["the 2nd at 05:00", "2026-11-02T05:00", "2026-11-01", ["2026-10", "2026-10-01"]],
  ["the last day of a month", "2026-11-30T23:00", "2026-11-29", ["2026-10", "2026-10-29"]],
  ["the 30th of March", "2026-03-30T15:00", "2026-03-29", ["2026-02", "2026-02-28"]],
  ["the last day of February", "2026-02-28T15:00", "2026-02-27", ["2026-01", "2026-01-27"]],
];

test.each(readings)(
  "if orders are read on %s, sales_by_month compares the current month with the previous one up to the last complete day",
  async (_name, read, through, before) => {
    const begin = Date.parse(`${read}Z`);
    const orders = everyDay(begin - 62 * day - (begin % day), 63, 1);
    const brand = makeBrand({ orders, now: begin });
    await syncOrders(brand);
    const [closed, running] = months(brand).slice(-2);
    const month = read.slice(0, 7);
    expect(closed).toMatchObject({ is_partial: 0, net_through: closed?.net_amount });
    expect(running).toMatchObject({
      month,
      is_partial: 1,
      net_amount: net(orders, month, `${month}-31`),
      net_through: through && net(orders, month, through),
      net_before: before && net(orders, ...before),
    });
  },
);

test("sales_by_month compares a complete month with the entire previous month, even if that month is shorter", async () => {
  const orders = everyDay(Date.UTC(2026, 1, 1), 70);
  const brand = makeBrand({ orders, now: Date.UTC(2026, 3, 15) });
  await syncOrders(brand, untilFlag(Date.UTC(2026, 3, 1) - 1));
  expect(months(brand)[1]).toMatchObject({
    month: "2026-03",
    net_through: net(orders, "2026-03", "2026-03-31"),
    net_before: net(orders, "2026-02", "2026-02-28"),
  });
});

test("sales_by_month compares a partially read month with the previous month up to the last fully read day", async () => {
  const orders = everyDay(Date.UTC(2026, 8, 1), 75, 1);
  const brand = makeBrand({ orders, now: Date.UTC(2026, 10, 14, 15) });
  await syncOrders(brand, untilFlag(Date.UTC(2026, 9, 11, 6)));
  expect(months(brand)).toMatchObject([
    { month: "2026-09", is_partial: 0, net_before: null },
    {
      month: "2026-10",
      is_partial: 1,
      net_through: net(orders, "2026-10", "2026-10-10"),
      net_before: net(orders, "2026-09", "2026-09-10"),
    },
  ]);
  // October 11 to 19 is still unread, so the comparison for October does not change.
  await syncOrders(brand, sinceFlag(Date.UTC(2026, 9, 20)));
  const [september, october, november] = months(brand);
  expect(october).toMatchObject({
    net_through: net(orders, "2026-10", "2026-10-10"),
    net_before: net(orders, "2026-09", "2026-09-10"),
  });
  expect([september?.net_before, november?.net_before]).toEqual([null, null]);
});

test("if only the start of a month has been read, `net_through` in sales_by_month is the sum up to the last complete day", async () => {
  const orders = everyDay(Date.UTC(2026, 8, 1), 75, 1);
  const brand = makeBrand({ orders, now: Date.UTC(2026, 10, 14, 15) });
  await syncOrders(brand, [...sinceFlag(Date.UTC(2026, 9, 1)), ...untilFlag(Date.UTC(2026, 9, 11, 6))]);
  await syncOrders(brand, sinceFlag(Date.UTC(2026, 10, 1)));
  expect(months(brand)[0]).toMatchObject({
    month: "2026-10",
    net_through: net(orders, "2026-10", "2026-10-10"),
  });
});

test("if a month's first day is unread, sales_by_month marks the month as partial, and does not compare the next month with it", async () => {
  const orders = everyDay(Date.UTC(2026, 8, 1), 75);
  const netBefore = async (from: number) => {
    const brand = makeBrand({ orders, now: Date.UTC(2026, 10, 14, 15) });
    await syncOrders(brand, sinceFlag(from));
    const [september, october] = months(brand);
    return [september?.is_partial, october?.net_before];
  };
  expect(await netBefore(Date.UTC(2026, 8, 1))).toEqual([0, net(orders, "2026-09", "2026-09-30")]);
  expect(await netBefore(Date.UTC(2026, 8, 2))).toEqual([1, null]);
});

test.each([
  ["the mirror starts", false],
  ["a gap ends", true],
])(
  "if %s in the middle of the current month, net_through in sales_by_month is the sum of the complete days since then",
  async (_, hasOlder) => {
    const orders = everyDay(Date.UTC(2026, 8, 1), 75, 1);
    const brand = makeBrand({ orders, now: Date.UTC(2026, 10, 8, 15) });
    if (hasOlder) await syncOrders(brand, untilFlag(Date.UTC(2026, 8, 10)));
    await syncOrders(brand, sinceFlag(Date.UTC(2026, 10, 3)));
    brand.pass(6 * day);
    await syncOrders(brand, ["--since", "7d"]);
    brand.pass(day);
    // The date ranges that were read for files do not affect `net_through`.
    expect((await brand.run("sync content")).code).toBe(0);
    const from = "2026-11-03";
    expect(months(brand).at(-1)?.net_through).toBe(net(orders, from, "2026-11-13"));
    const { out } = await brand.run("export sales_by_month --json --as-of 2026-11-09 --columns net_through");
    expect(JSON.parse(out).at(-1)).toEqual({ net_through: net(orders, from, "2026-11-07") });
  },
);

test("`net_before` (the previous month's amount) in sales_by_month is null for a brand's first month", async () => {
  const orders = everyDay(Date.UTC(2026, 10, 3), 12);
  const brand = makeBrand({ orders, now: Date.UTC(2026, 10, 14, 15) });
  await syncOrders(brand);
  expect(months(brand)).toMatchObject([
    { is_partial: 1, net_through: net(orders, "2026-11", "2026-11-13"), net_before: null },
  ]);
});

test("sales_by_month marks a month as partial until a sync starts after the end of that month", async () => {
  const orders = everyDay(Date.UTC(2026, 9, 1), 31);
  const brand = makeBrand({ orders, now: Date.UTC(2026, 9, 31, 23) });
  await syncOrders(brand);
  const partial = () => months(brand).map(({ month, is_partial }) => [month, is_partial]);
  expect(partial()).toEqual([["2026-10", 1]]);
  brand.pass(2 * hour);
  await syncOrders(brand);
  expect(partial()).toEqual([["2026-10", 0]]);
  brand.pass(day);
  brand.add("orders", orderAt("new", brand.now() - hour));
  await syncOrders(brand);
  expect(partial()).toEqual([
    ["2026-10", 0],
    ["2026-11", 1],
  ]);
});

test("sales_by_month has a row without a month for orders with unreadable dates, so the sum of all rows includes every order", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2, { order_date: "soon" })]);
  const rows = mirror.db.prepare("SELECT month, orders FROM sales_by_month").raw().all();
  expect(rows).toEqual([
    [null, 1],
    ["2026-09", 1],
  ]);
});

test("`net_before` in sales_by_month is null if the previous month has no orders in the currency, and 0 if the orders add up to 0", async () => {
  const at = (month: number, nth: number) => Date.UTC(2026, month, nth, 12);
  const orders = [
    orderAt("a", at(6, 3)),
    orderAt("b", at(8, 3)),
    orderAt("c", at(9, 20)),
    orderAt("d", at(10, 2), { currency: "USD" }),
    orderAt("e", at(10, 2)),
    orderAt("f", at(9, 3), { currency: "USD", is_cancelled: true }),
    orderAt("g", at(9, 3), { currency: null }),
    orderAt("h", at(10, 3), { currency: null }),
  ];
  const brand = makeBrand({ orders, now: at(10, 10) });
  await syncOrders(brand);
  const before = Object.fromEntries(
    months(brand).map(({ month, currency, net_before }) => [`${month} ${currency}`, net_before]),
  );
  expect(before).toEqual({
    "2026-07 EUR": null,
    "2026-09 EUR": null,
    "2026-10 EUR": 10,
    "2026-10 USD": null,
    "2026-11 USD": 0,
    "2026-11 EUR": 0,
    "2026-10 null": null,
    "2026-11 null": 10,
  });
});

test("sales_by_month marks the first month as partial if the first sync's --since is in the middle of that month", async () => {
  const orders = everyDay(Date.UTC(2026, 8, 1), 60);
  const brand = makeBrand({ orders, now: Date.UTC(2026, 10, 5) });
  await syncOrders(brand, sinceFlag(Date.UTC(2026, 8, 10)));
  expect(months(brand).map(({ month, is_partial }) => [month, is_partial])).toEqual([
    ["2026-09", 1],
    ["2026-10", 0],
  ]);
});

test("export sales_by_month --as-of returns the same rows as an export made at the requested time", async () => {
  const orders = everyDay(Date.UTC(2026, 8, 1), 75);
  const brand = makeBrand({
    orders: orders.filter((order) => monthOf(order) < "2026-11"),
    now: Date.UTC(2026, 9, 9, 15),
  });
  brand.data.orders = orders.filter(({ order_date }) => String(order_date) < "2026-10-09T15");
  await syncOrders(brand);
  brand.pass(30 * day);
  brand.data.orders = orders;
  await syncOrders(brand);
  const { out } = await brand.run(
    "export sales_by_month --json --as-of 2026-10-09 --columns month,is_partial,net_before",
  );
  expect(JSON.parse(out)).toEqual([
    { month: "2026-09", is_partial: false, net_before: null },
    { month: "2026-10", is_partial: true, net_before: net(orders, "2026-09", "2026-09-08") },
  ]);
});

test("when a sync reads the last unread day of a month, the month becomes complete and its `reported_at` becomes the end of that sync", async () => {
  const orders = everyDay(Date.UTC(2026, 7, 1), 112, 1);
  const brand = makeBrand({ orders, now: Date.UTC(2026, 8, 10, 3) });
  const placedBy = (ms: number) => orders.filter(({ order_date }) => Date.parse(String(order_date)) <= ms);
  const nightOf = async (flags: string[] = []) => {
    brand.data.orders = placedBy(brand.now());
    return await syncOrders(brand, flags);
  };
  const partialMonths = () => months(brand).map(({ month, is_partial }) => `${month} ${is_partial}`);
  await nightOf();
  brand.pass(70 * day);
  for (let n = 0; n < 3; n += 1) {
    await nightOf(sinceFlag(brand.now() - 7 * day));
    expect(partialMonths()).toEqual(["2026-08 0", "2026-09 1", "2026-11 1"]);
    expect(months(brand)[2]?.net_before).toBeNull();
    brand.pass(day);
  }
  const before = at(brand.now());
  brand.pass(hour);
  const half = await nightOf([...sinceFlag(Date.UTC(2026, 8, 1)), ...untilFlag(Date.UTC(2026, 9, 1))]);
  expect(partialMonths()).toEqual(["2026-08 0", "2026-09 0", "2026-11 1"]);
  brand.pass(day);
  const whole = await nightOf();
  expect(partialMonths()).toEqual(["2026-08 0", "2026-09 0", "2026-10 0", "2026-11 1"]);
  expect(
    brand.sql("SELECT month, reported_at, difference FROM restatements WHERE month > '2026-08'"),
  ).toEqual([
    { month: "2026-09", reported_at: half.finished_at, difference: 0 },
    { month: "2026-10", reported_at: whole.finished_at, difference: 0 },
  ]);
  const { out } = await brand.run(
    `export sales_by_month --json --as-of ${before} --columns month,is_partial`,
  );
  expect(JSON.parse(out)).toEqual([
    { month: "2026-08", is_partial: false },
    { month: "2026-09", is_partial: true },
    { month: "2026-11", is_partial: true },
  ]);
});

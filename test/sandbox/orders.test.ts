import { expect, test } from "vitest";
import { createBrandEvents } from "../../src/sandbox/activity.js";
import { createBrand, emptyBrand } from "../../src/sandbox/brand.js";
import { at, day, fileAt, noon, orderAt, ordersBefore } from "../support/records.js";
import { ask, askAll, history } from "./support.js";

const keys = history.keys;
const ids = (path: string, options: Parameters<typeof ask>[1] = {}) =>
  askAll(path, options).map(({ id }) => id);

test("the sandbox's pages list each order exactly once, newest first and with all fields", () => {
  expect(askAll("/orders")).toEqual(history.orders);
  const dates = history.orders.map(({ order_date }) => Date.parse(order_date));
  expect(dates).toEqual(dates.toSorted((a, b) => b - a));
  expect(new Set(history.orders.map(({ id }) => id)).size).toBe(300);
});

test("the sandbox lists the most recently attributed order first among orders with the same date", () => {
  const brand = { ...emptyBrand(keys), orders: [orderAt("a", noon)] };
  createBrandEvents(brand, () => noon).add("orders", orderAt("b", noon));
  expect(ids("/orders", { brand })).toEqual(["b", "a"]);
});

test("date ranges in the sandbox include both ends to the microsecond, and a date without a time means the entire day", () => {
  const texts = [
    "2026-11-02T00:00:00Z",
    "2026-11-01T23:59:59.999999Z",
    "2026-11-01T00:00:00.000Z",
    "2026-10-31T23:59:59Z",
  ];
  const brand = { ...emptyBrand(keys), orders: texts.map((text, n) => orderAt(`o${n}`, text)) };
  const of = (query: string) => ids(`/orders?${query}`, { brand }).join("");
  expect(of("start_date=2026-11-01&end_date=2026-11-01")).toBe("o1o2");
  expect(of("start_date=2026-11-01T23:59:59.999999Z")).toBe("o0o1");
  expect(of("end_date=2026-11-01T23:59:59.999998Z")).toBe("o2o3");
  expect(of("start_date=2026-11-02T00:00:00Z&end_date=2026-11-02T00:00:00Z")).toBe("o0");
  expect(of("start_date=2026-11-03&end_date=2026-11-01")).toBe("");
  expect(ask("/orders?start_date=2026-11-03", { brand }).pagination).toMatchObject({
    total_items: 0,
    total_pages: 0,
  });
});

test("the sandbox's `active` filter excludes cancelled and fully refunded orders, and an order can match both `cancelled` and `refunded`", () => {
  const orders = createBrand({ seed: 1, orders: 3_000, now: noon }).orders;
  const brand = { ...emptyBrand(keys), orders };
  const { all, active, cancelled, refunded } = {
    all: ids("/orders?status=all", { brand }),
    active: ids("/orders?status=active", { brand }),
    cancelled: ids("/orders?status=cancelled", { brand }),
    refunded: ids("/orders?status=refunded", { brand }),
  };
  const of = (keep: (order: (typeof orders)[number]) => boolean) => orders.filter(keep).map(({ id }) => id);
  expect(all).toEqual(of(() => true));
  expect(active).toEqual(of((one) => !one.is_cancelled && !one.is_refunded));
  expect(cancelled).toEqual(of((one) => one.is_cancelled));
  expect(refunded).toEqual(of((one) => one.is_refunded));
  expect(cancelled.some((id) => refunded.includes(id))).toBe(true);
  expect(ask("/orders?status=cancelled&per_page=1", { brand }).pagination.total_items).toBe(cancelled.length);
});

test("the same sandbox seed and time create the same brand, and a different seed creates a different brand", () => {
  const options = { seed: 4, orders: 50, now: noon };
  expect(createBrand(options)).toEqual(createBrand(options));
  expect(createBrand({ ...options, seed: 5 }).orders).not.toEqual(createBrand(options).orders);
});

test("the sandbox's orders include several currencies, late refunds, identical dates and orders without a host", () => {
  const { orders } = createBrand({ seed: 1, orders: 5_000, now: noon });
  const share = (keep: (order: (typeof orders)[number]) => boolean) =>
    orders.filter(keep).length / orders.length;
  expect([...new Set(orders.map(({ currency }) => String(currency)))].sort()).toEqual([
    "EUR",
    "GBP",
    "USD",
    "null",
  ]);
  expect(share(({ host }) => host === null)).toBeCloseTo(0.02, 1);
  expect(share(({ refund_amount }) => Number(refund_amount) > 0)).toBeCloseTo(0.065, 1);
  expect(share(({ is_cancelled }) => is_cancelled)).toBeCloseTo(0.027, 1);
  const recent = orders.filter(({ order_date }) => order_date > at(noon - 7 * day));
  expect(recent.filter(({ refund_amount }) => Number(refund_amount) > 0).length / recent.length).toBeLessThan(
    0.03,
  );
  expect(new Set(orders.map(({ order_date }) => order_date)).size).toBeLessThan(orders.length);
  for (const { total_amount, refund_amount, commission_amount } of orders)
    for (const amount of [total_amount, refund_amount, commission_amount])
      expect(amount === null || /^\d+(\.\d\d?)?$/.test(JSON.stringify(amount))).toBe(true);
});

const hours = { ...emptyBrand(keys), orders: ordersBefore(noon + 90_400, 6, 61_000, 2) };

test.each([
  ["the order within each pair reversed", "o1,o0,o3,o2,o5,o4", { ties: "reversed" }],
  ["orders sorted by ID", "o0,o1,o2,o3,o4,o5", { order: "id" }],
  ["orders sorted by attribution time", "o0,o1,o2,o3,o4,o5", { order: "attribution" }],
  ["two orders per page", "o0,o1,o2,o3,o4,o5", { maxPerPage: 2 }],
  ["two orders per page and `total_items` limited to 3", "o0,o1,o2,o3", { maxTotal: 3, maxPerPage: 2 }],
] as const)(
  "with %s, the sandbox lists o0 to o5 (three pairs of orders with equal dates) as %s",
  (_, order, variants) => {
    expect(ids("/orders", { brand: hours, variants }).join()).toBe(order);
  },
);

test.each([
  ["seconds", "2026-11-21T12:01:30Z"],
  ["rounded", "2026-11-21T12:01:30Z"],
  ["minutes", "2026-11-21T12:01:00Z"],
  ["midnight", "2026-11-21T00:00:00Z"],
  ["days", "2026-11-21"],
] as const)(
  "with the date precision `%s`, the sandbox returns imprecise dates but filters by the exact dates",
  (datePrecision, date) => {
    const [newest] = ask("/orders", { brand: hours, variants: { datePrecision } }).data;
    expect(newest?.order_date).toBe(date);
    expect(
      ids(`/orders?start_date=${at(noon + 90_400)}`, { brand: hours, variants: { datePrecision } }),
    ).toEqual(["o0", "o1"]);
  },
);

test("the sandbox lists undated records only if no date range is requested, unless an option adds them to every range", () => {
  const brand = { ...emptyBrand(keys), orders: [orderAt("none", null), orderAt("a", noon)] };
  const range = "/orders?start_date=2026-11-21";
  expect(ids("/orders", { brand })).toEqual(["a", "none"]);
  expect(ids(range, { brand })).toEqual(["a"]);
  expect(ids(range, { brand, variants: { undated: "in every range" } })).toEqual(["a", "none"]);
});

test("sandbox options can add a record dated before the requested range or return an outdated `total_items`", () => {
  const brand = { ...emptyBrand(keys), orders: ordersBefore(noon, 3, day) };
  expect(ids("/orders?start_date=2026-11-21", { brand, variants: { includesRecordBelow: true } })).toEqual([
    "o0",
    "o1",
  ]);
  const reply = ask("/orders", { brand, variants: { totalsFrom: { ...brand, orders: [] } } });
  expect([reply.data.length, reply.pagination.total_items]).toEqual([3, 0]);
});

test("a sandbox option makes /gifts, /codes and /surveys return complete lists and reject the `page` parameter", () => {
  const variants = { undocumentedLists: "complete" } as const;
  expect(JSON.parse(ask("/gifts", { variants }).text)).not.toHaveProperty("pagination");
  expect(ask("/gifts", { variants }).data).toHaveLength(64);
  expect(ask("/gifts?page=1", { variants }).status).toBe(400);
  expect(ask("/roster?page=1", { variants }).status).toBe(200);
});

test("the sandbox applies date filters to library files that a test adds", () => {
  const brand = { ...emptyBrand(keys), content: [fileAt("a", noon), fileAt("b", noon - day)] };
  expect(ids("/content?uploaded_before=2026-11-21", { brand })).toEqual(["b"]);
});

import { expect, test } from "vitest";
import {
  createBrandEvents,
  naturalPace,
  sandboxRecordKey,
  simulateActivity,
} from "../../src/sandbox/activity.js";
import { createBrand, emptyBrand } from "../../src/sandbox/brand.js";
import { at, day, hour, listNames, memberOf, noon } from "../support/records.js";
import { ask, history } from "./support.js";

function changing() {
  const brand = { ...history };
  return { brand, ...createBrandEvents(brand, () => noon) };
}

const order = history.orders.find(
  (one) => one.host && Number(one.total_amount) > 50 && !one.is_cancelled && !one.refund_amount,
);
const id = order?.id ?? "";
const total = Number(order?.total_amount);

const changed = (apply: (events: ReturnType<typeof changing>) => unknown) => {
  const one = changing();
  apply(one);
  return one.brand.orders.find((order) => order.id === id);
};

test("an order can be refunded several times up to the full amount, and each refund reduces the commission proportionally", () => {
  const part = changed(({ refund }) => refund(id, 10.5));
  expect(part).toMatchObject({
    refund_amount: 10.5,
    is_refunded: false,
    financial_status: "partially_refunded",
  });
  expect(part?.commission_amount).toBeLessThan(Number(order?.commission_amount));
  const twice = changed(({ refund }) => [refund(id, 10.5), refund(id, 2)]);
  expect(twice?.refund_amount).toBe(12.5);
  const full = changed(({ refund }) => refund(id));
  expect(full).toMatchObject({ refund_amount: total, is_refunded: true, commission_amount: 0 });
});

test("sandbox events can cancel or withdraw an order, change the order's commission rate, or remove the order's host", () => {
  expect(changed(({ cancel }) => cancel(id))).toMatchObject({ is_cancelled: true, commission_amount: 0 });
  expect(changed(({ changeRate }) => changeRate(id, 50))).toMatchObject({ commission_rate: 50 });
  expect(changed(({ loseHost }) => loseHost(id))?.host).toBeNull();
  expect(changed(({ withdraw }) => withdraw(id))).toBeUndefined();
});

test("an order's commission is zero if the total is zero, and unknown if the subtotal is unknown", () => {
  const { brand, changeRate, order } = changing();
  for (const [amounts, commission] of [
    [{ total_amount: 0, subtotal_amount: 0 }, 0],
    [{ total_amount: 9, subtotal_amount: null }, null],
  ] as const) {
    changeRate(order(amounts), 50);
    expect(brand.orders[0]?.commission_amount).toBe(commission);
  }
});

test("new sandbox orders have the current date, and manually attributed sandbox orders have an earlier date", () => {
  const { brand, order, attributeLate } = changing();
  const placed = order();
  expect(ask("/orders", { brand }).data[0]).toMatchObject({
    id: placed,
    order_date: at(noon),
    attribution: "tracked",
  });
  const late = attributeLate(noon - 100 * day);
  expect(brand.orders.find((one) => one.id === late)).toMatchObject({ attribution: "manual" });
  expect(ask(`/orders?end_date=${at(noon - 100 * day)}&per_page=1`, { brand }).data[0]?.id).toBe(late);
});

test("sandbox events can remove hosts from the roster and add hosts to it", () => {
  const { brand, leave, join } = changing();
  leave(history.roster[5]?.host.id ?? "");
  expect(brand.roster).toHaveLength(history.roster.length - 1);
  const joined = join();
  expect(history.people.map(({ profile }) => profile.id)).not.toContain(joined);
  expect(brand.roster[0]).toMatchObject({ host: { id: joined }, joined_at: at(noon) });
});

test("a host's new commission rate applies to the roster and to new orders, and a null rate restores the default", () => {
  const { brand, agreeRate, order } = changing();
  brand.people = history.people.slice(0, 1);
  const hostId = brand.people[0]?.profile.id ?? "";
  brand.roster = [memberOf("r", { host: brand.people[0]?.profile }), memberOf("other")];
  for (const [rate, expected] of [
    [17, 17],
    [null, 12],
  ] as const) {
    agreeRate(hostId, rate);
    expect(brand.roster.map(({ commission_rate }) => commission_rate)).toEqual([expected, 12]);
    const placed = [1, 2, 3].map(() => order());
    const rates = brand.orders.filter((one) => placed.includes(one.id) && one.host);
    expect(new Set(rates.map(({ commission_rate }) => commission_rate))).toEqual(new Set([expected]));
  }
  expect(brand.orders.slice(6)).toEqual(history.orders);
});

test("sandbox events can change or remove a record in any list, and `remove` returns the removed records", () => {
  const { brand, change, remove } = changing();
  for (const list of listNames) {
    const [first, second] = history[list];
    const key = sandboxRecordKey(list, second as never);
    change(list, key, { changed: true } as never);
    expect(brand[list][1]).toEqual({ ...second, changed: true });
    const removed = remove(list, sandboxRecordKey(list, first as never), key);
    expect(removed).toEqual([first, { ...second, changed: true }]);
    expect([...brand[list]]).toEqual(history[list].slice(2));
    expect(() => remove(list, key)).toThrow(RangeError);
    expect(() => change(list, key, {})).toThrow(RangeError);
  }
});

test("sandbox events can add files, gifts and codes", () => {
  const { brand, addContent, addGift, addCode } = changing();
  addContent();
  addGift();
  addCode();
  expect([brand.content.length, brand.gifts.length, brand.codes.length]).toEqual([401, 65, 48]);
});

test("sandbox events can add orders and files to a brand without hosts, products or campaigns", () => {
  const brand = emptyBrand();
  const { addContent, order } = createBrandEvents(brand, () => noon);
  for (let n = 0; n < 50; n += 1) {
    order();
    addContent();
  }
  for (const { host, line_items } of brand.orders) expect([host, line_items]).toEqual([null, []]);
  for (const { host, opportunity } of brand.content) expect([host, opportunity]).toEqual([null, null]);
});

test("sandbox events leave earlier copies of the brand unchanged, and fail for an unknown ID", () => {
  const { brand, refund, leave } = changing();
  const snapshot = { ...brand };
  refund(id);
  expect(snapshot.orders).toBe(history.orders);
  expect(brand.orders).not.toBe(history.orders);
  expect(() => refund("none")).toThrow(RangeError);
  expect(() => leave("none")).toThrow(RangeError);
});

test("the simulation adds a third more orders per hour than the average in the brand's two-year history", () => {
  expect(naturalPace(3 * 730 * 24)).toEqual({ ordersPerHour: 4, speed: 1 });
  expect(naturalPace(3 * 730 * 24, 2)).toEqual({ ordersPerHour: 8, speed: 2 });
});

test("simulating a period in one step has the same result as simulating it hour by hour", () => {
  const pace = naturalPace(300, 20);
  const create = () => createBrand({ seed: 1, orders: 300, now: noon });
  const [atOnce, hourly, inTwoSteps] = [create(), create(), create()];
  simulateActivity(atOnce, noon, noon + 3 * day, pace);
  for (let n = 0; n < 72; n += 1) simulateActivity(hourly, noon + n * hour, noon + (n + 1) * hour, pace);
  expect(hourly).toEqual(atOnce);
  // An event at the boundary between two hours occurs only once.
  const boundary = Date.parse(atOnce.orders[0]?.order_date ?? "");
  simulateActivity(inTwoSteps, noon, boundary, pace);
  simulateActivity(inTwoSteps, boundary, noon + 3 * day, pace);
  expect(inTwoSteps).toEqual(atOnce);
  const old = new Map(history.orders.map((one) => [one.id, one]));
  const changed = atOnce.orders.filter(
    (one) => old.has(one.id) && JSON.stringify(one) !== JSON.stringify(old.get(one.id)),
  );
  const fresh = atOnce.orders.filter((one) => !old.has(one.id));
  expect(fresh.some((one) => one.order_date < at(noon))).toBe(true);
  expect(fresh.some((one) => one.order_date > at(noon + 2 * day))).toBe(true);
  expect(changed.some((one) => Number(one.refund_amount) > 0)).toBe(true);
  for (const list of ["roster", "content", "gifts"] as const) expect(atOnce[list]).not.toEqual(history[list]);
});

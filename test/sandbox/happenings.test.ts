import { describe, expect, test } from "vitest";
import { createBrand } from "../../src/sandbox/data/brand-data.js";
import { createBrandEvents } from "../../src/sandbox/events.js";
import { naturalPace, simulateActivity } from "../../src/sandbox/live.js";
import { at, day, hour, noon } from "../support/records.js";
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

describe("orders", () => {
  const changed = (happen: (happenings: ReturnType<typeof changing>) => unknown) => {
    const one = changing();
    happen(one);
    return one.brand.orders.find((order) => order.id === id);
  };

  test("a refund comes in parts until it is full, and takes its share of the commission back", () => {
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

  test("a cancelled order pays nothing; a rate can change, a host vanish", () => {
    expect(changed(({ cancel }) => cancel(id))).toMatchObject({ is_cancelled: true, commission_amount: 0 });
    expect(changed(({ changeRate }) => changeRate(id, 50))).toMatchObject({ commission_rate: 50 });
    expect(changed(({ loseHost }) => loseHost(id))?.host).toBeNull();
    expect(changed(({ withdraw }) => withdraw(id))).toBeUndefined();
  });

  test("a new order is the newest; a late one is as old as it says, and came by hand", () => {
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
});

test("a host leaves the roster, and a new one joins", () => {
  const { brand, leave, join } = changing();
  leave(history.roster[5]?.host.id ?? "");
  expect(brand.roster).toHaveLength(history.roster.length - 1);
  const joined = join();
  expect(history.people.map(({ profile }) => profile.id)).not.toContain(joined);
  expect(brand.roster[0]).toMatchObject({ host: { id: joined }, joined_at: at(noon) });
});

test("files, gifts and codes come", () => {
  const { brand, addContent, addGift, addCode } = changing();
  addContent();
  addGift();
  addCode();
  expect([brand.content.length, brand.gifts.length, brand.codes.length]).toEqual([401, 65, 48]);
});

test("a happening replaces arrays and records: a snapshot stays as it was; an unknown id throws", () => {
  const { brand, refund, leave } = changing();
  const snapshot = { ...brand };
  refund(id);
  expect(snapshot.orders).toBe(history.orders);
  expect(brand.orders).not.toBe(history.orders);
  expect(() => refund("none")).toThrow(RangeError);
  expect(() => leave("none")).toThrow(RangeError);
});

test("time passes the same way at once and by the hour, and everything that can happen does", () => {
  const pace = naturalPace(300, 20);
  const [at_once, hourly] = [
    createBrand({ seed: 1, orders: 300, now: noon }),
    createBrand({ seed: 1, orders: 300, now: noon }),
  ];
  simulateActivity(at_once, noon, noon + 3 * day, pace);
  for (let n = 0; n < 72; n += 1) simulateActivity(hourly, noon + n * hour, noon + (n + 1) * hour, pace);
  expect(hourly).toEqual(at_once);
  const old = new Map(history.orders.map((one) => [one.id, one]));
  const changed = at_once.orders.filter(
    (one) => old.has(one.id) && JSON.stringify(one) !== JSON.stringify(old.get(one.id)),
  );
  const fresh = at_once.orders.filter((one) => !old.has(one.id));
  expect(fresh.some((one) => one.order_date < at(noon))).toBe(true);
  expect(fresh.some((one) => one.order_date > at(noon + 2 * day))).toBe(true);
  expect(changed.some((one) => Number(one.refund_amount) > 0)).toBe(true);
  for (const list of ["roster", "content", "gifts"] as const)
    expect(at_once[list]).not.toEqual(history[list]);
});

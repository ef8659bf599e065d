import { expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { mixed } from "../support/fake/dates.js";
import { change, day, hour, nights, orderAt, withdraw } from "../support/nights.js";
import { sorted } from "./oracle.js";

const begin = Date.UTC(2026, 6, 10, 3);

/** A refund that came between two nights, and when. */
interface Refund {
  order_id: string;
  month: string;
  currency: string | null;
  refunded_amount: number;
  seen: string;
  age: number;
}

const round = (amount: number) => Math.round(amount * 1e6) / 1e6;

/** Nights on which refunds come to orders of any age; some are cancelled or withdrawn later. */
async function refundedBrand() {
  const orders = Array.from({ length: 80 }, (_, n) =>
    orderAt(`o${n}`, begin - n * 29 * hour, {
      currency: ["EUR", "USD", null][n % 3] ?? null,
      refund_amount: n % 9 === 0 ? 1 : n % 5 === 0 ? null : 0,
      total_amount: 50,
    }),
  );
  const brand = await nights({ orders }, { revenue: "net" }, { begin });
  const all: Refund[] = [];
  for (let night = 0; night < 30; night += 1) {
    const { started_at, failure } = await brand.sync("orders", { full: true, acceptRemovals: true });
    expect(failure).toBeNull();
    for (const refund of all) refund.seen ||= started_at;
    brand.pass((1 + (night % 3)) * day + hour);
    for (let n = 0; n < 3; n += 1) {
      const one = brand.api.records.orders[
        mixed("which", night * 3 + n) % brand.api.records.orders.length
      ] as JsonObject;
      const added = (1 + (mixed("amount", night * 3 + n) % 900)) / 100;
      const placed = Date.parse(String(one.order_date));
      // Two refunds between two nights are one that the mirror sees.
      if (all.some(({ order_id, seen }) => order_id === one.id && seen === "")) continue;
      all.push({
        order_id: String(one.id),
        month: String(one.order_date).slice(0, 7),
        currency: one.currency as string | null,
        refunded_amount: added,
        seen: "",
        age: (brand.now() - placed) / day,
      });
      change(brand, String(one.id), { refund_amount: round(Number(one.refund_amount ?? 0) + added) });
    }
    brand.pass(hour);
  }
  const { started_at } = await brand.sync("orders", { full: true });
  for (const refund of all) refund.seen ||= started_at;
  change(brand, all[0]?.order_id ?? "", { is_cancelled: true });
  withdraw(brand, all[1]?.order_id ?? "");
  brand.pass(day);
  await brand.sync("orders", { full: true, acceptRemovals: true });
  const gone = [all[0]?.order_id, all[1]?.order_id];
  return { brand, refunds: all.filter(({ order_id }) => !gone.includes(order_id)) };
}

test("each refund that came is told, of orders that count, with an interval that holds its age", async () => {
  const { brand, refunds } = await refundedBrand();
  const rows = brand.sql<{
    order_id: string;
    currency: string | null;
    refunded_amount: number;
    days_at_least: number;
    days_at_most: number;
    seen_changed_at: string;
  }>("SELECT * FROM late_refunds");
  const plain = rows.map(({ order_id, currency, refunded_amount }) => ({
    order_id,
    currency,
    refunded_amount,
  }));
  expect(sorted(plain)).toEqual(
    sorted(
      refunds.map(({ order_id, currency, refunded_amount }) => ({ order_id, currency, refunded_amount })),
    ),
  );
  expect(rows.length).toBeGreaterThan(60);
  for (const row of rows) {
    const own = refunds.filter(
      ({ order_id, refunded_amount }) => order_id === row.order_id && refunded_amount === row.refunded_amount,
    );
    expect(own.some(({ age }) => row.days_at_least <= age && age <= row.days_at_most)).toBe(true);
    expect(row.days_at_most - row.days_at_least).toBeLessThanOrEqual(5);
  }
});

test("a refund that was taken back is told with less than 0", async () => {
  const brand = await nights({ orders: [orderAt("a", begin - 40 * day)] }, {}, { begin });
  for (const refund of [0, 4, 0]) {
    change(brand, "a", { refund_amount: refund });
    await brand.sync("orders", { full: true });
    brand.pass(hour);
  }
  expect(brand.sql("SELECT refunded_amount FROM late_refunds")).toEqual([
    { refunded_amount: 4 },
    { refunded_amount: -4 },
  ]);
});

test("an amount that goes from null to 0, or back, is no refund that came", async () => {
  const brand = await nights({ orders: [orderAt("a", begin - 40 * day)] }, {}, { begin });
  for (const refund of [null, 0, null]) {
    change(brand, "a", { refund_amount: refund });
    await brand.sync("orders", { full: true });
    brand.pass(hour);
  }
  expect(brand.sql("SELECT old, new FROM changes WHERE field = 'refund_amount'")).toHaveLength(2);
  expect(brand.sql("SELECT * FROM late_refunds")).toEqual([]);
});

import { expect, test } from "vitest";
import { asked, brandForTest, byId, type OrderSeen, orderAged, ordersOf } from "../scenarios/brand.js";

test("an order moves to the day that another left, and no count of all tells: both are mended", async () => {
  const brand = await brandForTest({ orders: 1_200, seed: 5 });
  expect((await brand.run("sync orders")).code).toBe(0);
  const orders = ordersOf(brand.sandbox);
  // Neither cancelled nor refunded: so that no other count gives the two away.
  const isPlain = (order: OrderSeen) => !order.is_cancelled && !order.is_refunded;
  const mover = orders.slice(300).find(isPlain) as OrderSeen;
  const leaver = orders.slice(1_000).find(isPlain) as OrderSeen;
  brand.sandbox.events.redate(mover.id, Date.parse(leaver.order_date) + 1);
  brand.sandbox.events.withdraw(leaver.id);
  const { code, err, out } = await brand.run("verify orders --repair");
  expect(code, err + out).toBe(0);
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
});

test("figures that are restated while no order changes are a hint, and no difference", async () => {
  const brand = await brandForTest({ orders: 300 });
  expect((await brand.run("sync orders")).code).toBe(0);
  const restate = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(restate);
    if (typeof value !== "object" || value === null) return value;
    const point = value as Record<string, unknown>;
    if (String(point.date).startsWith("2026-03-1")) return { ...point, revenue: Number(point.revenue) + 1 };
    return Object.fromEntries(Object.entries(point).map(([name, inner]) => [name, restate(inner)]));
  };
  brand.sandbox.intercept = ({ path }) =>
    path.startsWith("/analytics")
      ? { kind: "envelope", change: (envelope) => restate(envelope) as Record<string, unknown> }
      : undefined;
  const { code, out, requests } = await brand.run("verify orders");
  expect(code, out).toBe(0);
  expect(out).toMatch(/^orders: proven/);
  // It has looked: the days are read.
  expect(asked(requests, "/orders").filter((query) => query.get("per_page") === "100")).not.toEqual([]);

  const order = orderAged(brand.sandbox, 251);
  expect(order.order_date).toMatch(/^2026-03-1/);
  brand.sandbox.events.refund(order.id, 7);
  const differing = await brand.run("verify orders");
  expect(differing.code, differing.out).toBe(8);
  expect(differing.out).toMatch(/2026-03: different: 2026-03-1\d: its figures moved since it was read/);
});

import { expect, test } from "vitest";
import { brandForTest, byId, type OrderSeen, ordersOf } from "../scenarios/brand.js";

test("an order moves to the day that another left, and the mirror knows no figures by day: neither is guessed", async () => {
  const brand = await brandForTest({ orders: 1_200, seed: 5 });
  // A run with --until does not ask for the figures.
  expect((await brand.run("sync orders --until 2026-11-20")).code).toBe(0);
  const orders = ordersOf(brand.sandbox);
  // Neither cancelled nor refunded: so that no other count gives the two away.
  const isPlain = (order: OrderSeen) => !order.is_cancelled && !order.is_refunded;
  const mover = orders.slice(300).find(isPlain) as OrderSeen;
  const leaver = orders.slice(1_000).find(isPlain) as OrderSeen;
  brand.sandbox.events.redate(mover.id, Date.parse(leaver.order_date) + 1);
  brand.sandbox.events.withdraw(leaver.id);

  const { code, err, out } = await brand.run("verify orders --repair");
  expect(code, err + out).toBe(0);
  const mirrored = new Set((brand.mirrored("orders") as OrderSeen[]).map(({ id }) => id));
  expect(mirrored).toContain(mover.id);

  expect((await brand.run("sync orders --full")).code).toBe(0);
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
});

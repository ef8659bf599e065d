import { describe, expect, test } from "vitest";
import { ask, askAll, day, handClock, noon, sandboxOf } from "./support.js";

type Fields = Record<string, unknown>;

describe("time that passes", () => {
  test("a year brings orders, late attributions, refunds, leavers, joiners, campaign moves and files", async () => {
    const sandbox = await sandboxOf({ orders: 2000 }, handClock());
    const sets = ["orders", "roster", "opportunities", "opportunity-details", "content"] as const;
    const before = sets.map((set) => [...sandbox.records(set)] as Fields[]);
    sandbox.advance(365 * day);
    const after = sets.map((set) => [...sandbox.records(set)] as Fields[]);
    const [orders = [], rosterBefore = [], campaigns = [], details = [], files = []] = before;
    const [ordersNow = [], rosterNow = [], campaignsNow = [], detailsNow = [], filesNow = []] = after;
    const old = new Map(orders.map((order) => [order.id, order]));
    const fresh = ordersNow.filter(({ id }) => !old.has(id));
    expect(fresh.length).toBeGreaterThan(1000);
    expect(
      fresh.some((order) => order.attribution === "manual" && Date.parse(String(order.order_date)) < noon),
    ).toBe(true);
    const changed = ordersNow.filter(
      (order) => old.has(order.id) && JSON.stringify(order) !== JSON.stringify(old.get(order.id)),
    );
    expect(changed.some((order) => order.is_refunded)).toBe(true);
    expect(changed.some((order) => order.is_cancelled)).toBe(true);
    expect(
      changed.some((order) => !order.is_refunded && order.refund_amount !== old.get(order.id)?.refund_amount),
    ).toBe(true);
    const hosts = (list: Fields[]) => new Set(list.map(({ relationship_id }) => relationship_id));
    expect([...hosts(rosterBefore)].some((id) => !hosts(rosterNow).has(id))).toBe(true);
    expect([...hosts(rosterNow)].some((id) => !hosts(rosterBefore).has(id))).toBe(true);
    const states = new Map(campaigns.map(({ id, status }) => [id, status]));
    expect(campaignsNow.some(({ id, status }) => states.has(id) && states.get(id) !== status)).toBe(true);
    expect(JSON.stringify(detailsNow)).not.toBe(JSON.stringify(details));
    expect(filesNow.some(({ id }) => !files.some((file) => file.id === id))).toBe(true);
    expect(ordersNow.every(({ order_date }) => Date.parse(String(order_date)) <= sandbox.now())).toBe(true);
    expect(rosterNow.every(({ joined_at }) => Date.parse(String(joined_at)) <= sandbox.now())).toBe(true);
    expect(await askAll(sandbox, "/orders")).toEqual(ordersNow);
  });

  test("the same time in many small steps brings the same as in one", async () => {
    const [one, many] = [await sandboxOf({}, handClock()), await sandboxOf({}, handClock())];
    one.advance(40 * day);
    for (let n = 0; n < 640; n++) many.advance(day / 16);
    for (const set of [
      "orders",
      "roster",
      "opportunity-details",
      "content",
      "gifts",
      "analytics-hosts",
    ] as const) {
      expect([set, [...many.records(set)]]).toEqual([set, [...one.records(set)]]);
    }
  });

  test("a live sandbox moves with the clock, another stands still", async () => {
    for (const live of [true, false]) {
      const clock = handClock();
      const sandbox = await sandboxOf({ live, orders: 1000 }, clock);
      clock.move(30 * day);
      const { total_items } = (await ask(sandbox, "/orders")).json.pagination;
      expect(total_items > 1030).toBe(live);
      expect(total_items === 1000).toBe(!live);
    }
  });

  test("a pace makes more happen in the same time", async () => {
    const [slow, fast] = [await sandboxOf({ orders: 1000 }), await sandboxOf({ orders: 1000, pace: 50 })];
    for (const sandbox of [slow, fast]) sandbox.advance(2 * day);
    expect(fast.count("orders") - 1000).toBeGreaterThan(10 * (slow.count("orders") - 1000));
  });

  test("nothing happens before its time", async () => {
    const sandbox = await sandboxOf({ orders: 1000, pace: 200 }, handClock());
    for (let n = 0; n < 50; n++) {
      sandbox.advance(7 * 60_000);
      const [newest] = sandbox.records("orders") as Generator<{ order_date: string }>;
      expect(Date.parse(newest?.order_date ?? "")).toBeLessThanOrEqual(sandbox.now());
    }
    expect(sandbox.count("orders")).toBeGreaterThan(1030);
  });
});

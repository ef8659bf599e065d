import { describe, expect, test } from "vitest";
import {
  asked,
  type Brand,
  brandForTest,
  byId,
  day,
  margin,
  type OrderSeen,
  orderAged,
  ordersOf,
} from "./brand.js";

function expectEqualToApi(brand: Brand) {
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
}

/** Syncs, lets most of a day pass, does something, and lets the night come. */
async function afterFirstSync(brand: Brand, happening: () => void) {
  const first = await brand.run("sync orders");
  expect(first.code, first.err).toBe(0);
  brand.sandbox.advance(20 * 3_600_000);
  const before = brand.sandbox.now();
  happening();
  const after = brand.sandbox.now();
  brand.sandbox.advance(4 * 3_600_000);
  return { before, after };
}

test("a first sync reads everything, says so in one line, and proves it", async () => {
  const brand = await brandForTest();
  const { code, err } = await brand.run("sync orders");
  expect(code).toBe(0);
  expect(err).toMatch(/^orders: 300 read, 300 new, 0 changed, 0 removed, 8 requests in \d+s, verified\n$/);
  expectEqualToApi(brand);
  expect(brand.lastRun("orders")).toMatchObject({ outcome: "done", verified: 1, rows_new: 300, since: null });
});

describe("the nightly sync", () => {
  test("captures a refund of an order 20 days old, and `changes` tells between which two reads it came", async () => {
    const brand = await brandForTest();
    const order = orderAged(brand.sandbox, 20);
    const { before, after } = await afterFirstSync(brand, () => brand.sandbox.events.refund(order.id, 1));
    const night = await brand.run("sync orders");
    expect(night.code).toBe(0);
    expectEqualToApi(brand);
    const [change, ...others] = brand.changes("orders").filter(({ field }) => field === "refund_amount");
    expect(others).toEqual([]);
    expect(change).toMatchObject({ key: order.id, kind: "changed", new: "1" });
    expect(Date.parse(change?.last_seen_unchanged_at ?? "")).toBeLessThanOrEqual(before);
    expect(Date.parse(change?.last_seen_unchanged_at ?? "")).toBeGreaterThan(before - 21 * 3_600_000);
    expect(Date.parse(change?.seen_changed_at ?? "")).toBeGreaterThanOrEqual(after);
  });

  test("reads the window's pages, and at most 15 requests more", async () => {
    const brand = await brandForTest({ orders: 3_000 });
    await afterFirstSync(brand, () => {});
    const { requests } = await brand.run("sync orders");
    const recent = ordersOf(brand.sandbox).filter(
      ({ order_date }) => Date.parse(order_date) >= brand.sandbox.now() - 31 * day,
    );
    const pages = Math.ceil(recent.length / 100);
    expect(requests.length - 1).toBeLessThanOrEqual(pages + 15);
  });

  test("captures new orders, cancellations and full refunds", async () => {
    const brand = await brandForTest();
    const [cancelled, refunded] = [orderAged(brand.sandbox, 3), orderAged(brand.sandbox, 12)];
    let fresh = "";
    await afterFirstSync(brand, () => {
      fresh = brand.sandbox.events.newOrder();
      brand.sandbox.events.cancel(cancelled.id);
      brand.sandbox.events.refund(refunded.id);
    });
    expect((await brand.run("sync orders")).code).toBe(0);
    expectEqualToApi(brand);
    const seen = brand.changes("orders").map(({ key, kind, field, new: now }) => [key, kind, field, now]);
    expect(seen).toContainEqual([cancelled.id, "changed", "is_cancelled", "true"]);
    expect(seen).toContainEqual([refunded.id, "changed", "is_refunded", "true"]);
    // A new order in a range that no read had covered is no change.
    expect(seen.filter(([key]) => key === fresh)).toEqual([]);
  });

  test("captures that another host, or none, is attributed", async () => {
    const brand = await brandForTest();
    const order = orderAged(brand.sandbox, 9);
    const other = ordersOf(brand.sandbox).find(
      ({ host }) => host !== null && host.id !== order.host?.id,
    )?.host;
    await afterFirstSync(brand, () => brand.sandbox.events.changeHost(order.id, other?.id ?? null));
    expect((await brand.run("sync orders")).code).toBe(0);
    expect(brand.changes("orders")).toContainEqual(
      expect.objectContaining({ key: order.id, field: "host_id", old: order.host?.id, new: other?.id }),
    );
    brand.sandbox.events.changeHost(order.id, null);
    expect((await brand.run("sync orders")).code).toBe(0);
    expectEqualToApi(brand);
    const [row] = brand.sql<{ host_id: null }>("SELECT host_id FROM orders WHERE id = ?", order.id);
    expect(row?.host_id).toBeNull();
  });
});

describe("beyond the window", () => {
  test("a refund of an order 200 days old moves the day's revenue, and the day is read again", async () => {
    const brand = await brandForTest();
    const order = orderAged(brand.sandbox, 200);
    await afterFirstSync(brand, () => brand.sandbox.events.refund(order.id, 1));
    const night = await brand.run("sync orders --audit 0");
    expect(night.code).toBe(0);
    expectEqualToApi(brand);
    const from = Date.parse(order.order_date.slice(0, 10)) - margin;
    const pages = asked(night.requests, "/orders").filter((query) => query.get("per_page") === "100");
    expect(pages.map((query) => Date.parse(query.get("start_date") ?? ""))).toContain(from);
  });

  test("a partial refund that moves no figure at all is captured by the audit, in turn, within known nights", async () => {
    const brand = await brandForTest({ undocumented: { revenue: "gross" }, orders: 1_500 });
    const order = orderAged(brand.sandbox, 200);
    await afterFirstSync(brand, () => brand.sandbox.events.refund(order.id, 1));
    expect((await brand.run("sync orders --audit 0")).code).toBe(0);
    expect(brand.changes("orders")).toEqual([]);
    // 1,500 orders at five hundred a night: three nights.
    for (let night = 1; night <= 4; night += 1) {
      expect((await brand.run("sync orders")).code).toBe(0);
      brand.sandbox.advance(day);
    }
    expectEqualToApi(brand);
  });

  test("`--full` reads everything again, and captures it too", async () => {
    const brand = await brandForTest({ undocumented: { revenue: "gross" } });
    const order = orderAged(brand.sandbox, 200);
    await afterFirstSync(brand, () => brand.sandbox.events.refund(order.id, 1));
    expect((await brand.run("sync orders --full")).code).toBe(0);
    expectEqualToApi(brand);
    expect(brand.changes("orders")).toContainEqual(
      expect.objectContaining({ key: order.id, field: "refund_amount", new: "1" }),
    );
  });

  test("an order of last spring that the team attributes today is found by the counts, and is a change", async () => {
    const brand = await brandForTest();
    let late = "";
    await afterFirstSync(brand, () => {
      late = brand.sandbox.events.lateOrder(brand.sandbox.now() - 200 * day);
    });
    expect((await brand.run("sync orders --audit 0")).code).toBe(0);
    expectEqualToApi(brand);
    expect(brand.changes("orders")).toContainEqual(expect.objectContaining({ key: late, kind: "added" }));
  });

  test("a cancellation of an order 300 days old is found by the count of cancelled ones", async () => {
    const brand = await brandForTest();
    const order = orderAged(brand.sandbox, 300);
    await afterFirstSync(brand, () => brand.sandbox.events.cancel(order.id));
    expect((await brand.run("sync orders --audit 0")).code).toBe(0);
    expectEqualToApi(brand);
  });

  test("a second late attribution and a withdrawal on one day cancel out in the count, not in the figures", async () => {
    const brand = await brandForTest();
    const order = orderAged(brand.sandbox, 250);
    await afterFirstSync(brand, () => {
      brand.sandbox.events.withdraw(order.id);
      brand.sandbox.events.lateOrder(Date.parse(order.order_date) + 1_000);
    });
    expect((await brand.run("sync orders --audit 0")).code).toBe(0);
    expectEqualToApi(brand);
  });
});

describe("an attribution that is withdrawn", () => {
  test.each([
    ["inside the window", 10],
    ["long before it", 250],
  ])("%s: the order gets `removed_at`, and exports leave it out", async (_, age) => {
    const brand = await brandForTest();
    const order = orderAged(brand.sandbox, age);
    await afterFirstSync(brand, () => brand.sandbox.events.withdraw(order.id));
    expect((await brand.run("sync orders")).code).toBe(0);
    expectEqualToApi(brand);
    expect(brand.lastRun("orders")).toMatchObject({ rows_removed: 1 });
    expect(brand.changes("orders")).toContainEqual(
      expect.objectContaining({ key: order.id, kind: "removed" }),
    );
    expect((await brand.run("export orders --ndjson")).out).not.toContain(order.id);
    expect((await brand.run("export order_line_items --ndjson")).out).not.toContain(order.id);
    expect((await brand.run("export orders --ndjson --include-removed")).out).toContain(order.id);
  });

  test("and is given back: the order returns, and `removed_at` is cleared", async () => {
    const brand = await brandForTest();
    const order = orderAged(brand.sandbox, 10);
    await brand.run("sync orders");
    hideOrder(brand, order);
    expect((await brand.run("sync orders")).code).toBe(0);
    expect(brand.mirrored("orders")).toHaveLength(299);
    brand.sandbox.intercept = undefined;
    expect((await brand.run("sync orders")).code).toBe(0);
    expectEqualToApi(brand);
    expect(brand.changes("orders").map(({ key, kind }) => [key, kind])).toEqual([
      [order.id, "removed"],
      [order.id, "returned"],
    ]);
    expect(brand.sql("SELECT removed_at FROM orders WHERE id = ?", order.id)).toEqual([{ removed_at: null }]);
  });
});

describe("an order that is given another date is never taken for removed", () => {
  test.each([
    ["out of the window", 10, 200],
    ["into the window", 200, 10],
    ["within the window", 10, 15],
    ["far away", 100, 400],
  ])("%s", async (_, from, to) => {
    const brand = await brandForTest({ orders: 1_500 });
    const order = orderAged(brand.sandbox, from);
    await afterFirstSync(brand, () => brand.sandbox.events.redate(order.id, brand.sandbox.now() - to * day));
    const night = await brand.run("sync orders --audit 0");
    expect(brand.changes("orders").filter(({ kind }) => kind === "removed")).toEqual([]);
    expect(night.code, night.err).toBe(0);
    expectEqualToApi(brand);
    expect((await brand.run("verify orders")).code).toBe(0);
  });
});

/** The API answers as if this order had no attribution. */
function hideOrder(brand: Brand, order: OrderSeen) {
  const at = Date.parse(order.order_date);
  brand.sandbox.intercept = ({ path, query }) => {
    if (path !== "/orders") return;
    const from = Date.parse(query.get("start_date") ?? "1970-01-01");
    const to = Date.parse(query.get("end_date") ?? "2100-01-01");
    if (at < from || at > to || !["all", null].includes(query.get("status"))) return;
    return {
      kind: "envelope",
      change(envelope) {
        const pagination = envelope.pagination as {
          total_items: number;
          total_pages: number;
          per_page: number;
        };
        pagination.total_items -= 1;
        return { ...envelope, data: (envelope.data as OrderSeen[]).filter(({ id }) => id !== order.id) };
      },
    };
  };
}

import { describe, expect, test } from "vitest";
import { ask, askAll, day, handClock, noon, sandboxOf } from "./support.js";

interface Order extends Record<string, unknown> {
  id: string;
  order_date: string;
  is_cancelled: boolean;
  is_refunded: boolean;
  total_amount: number | null;
  subtotal_amount: number | null;
  refund_amount: number | null;
  currency: string | null;
  host: { id: string; username: string | null } | null;
  product: object | null;
  gear_list: object | null;
  attribution: string;
  external_order_id: string | null;
  line_items: { quantity: number | null; price: number | null; sku: string | null }[];
}

describe("orders", () => {
  test("pages at every size give each order once, newest first, exactly as `records` tells", async () => {
    const sandbox = await sandboxOf({ orders: 237 });
    const all = [...sandbox.records("orders")] as Order[];
    expect(all).toHaveLength(237);
    for (const size of [1, 7, 25, 79, 100]) {
      const got: unknown[] = [];
      const pages = Math.ceil(237 / size);
      for (let page = 1; page <= pages; page++) {
        const { json } = await ask(sandbox, `/orders?per_page=${size}&page=${page}`);
        got.push(...json.data);
        expect(json.pagination).toEqual({
          page,
          per_page: size,
          total_items: 237,
          total_pages: pages,
          has_next: page < pages,
          has_prev: page > 1,
        });
      }
      expect(got).toEqual(all);
    }
    const dates = all.map(({ order_date }) => Date.parse(order_date));
    expect(dates).toEqual([...dates].sort((a, b) => b - a));
    expect(new Set(all.map(({ id }) => id)).size).toBe(237);
    const beyond = (await ask(sandbox, "/orders?page=10000")).json;
    expect([beyond.data, beyond.pagination.has_next, beyond.pagination.has_prev]).toEqual([[], false, true]);
  });

  test("an empty list has no pages", async () => {
    const sandbox = await sandboxOf({ orders: 0 });
    for (const query of ["", "?status=refunded", "?start_date=2026-01-01"]) {
      const { json } = await ask(sandbox, `/orders${query}`);
      expect(json.data).toEqual([]);
      expect(json.pagination).toEqual({
        page: 1,
        per_page: 25,
        total_items: 0,
        total_pages: 0,
        has_next: false,
        has_prev: false,
      });
    }
    expect((await ask(sandbox, "/analytics/clicks")).status).toBe(200);
    expect((await ask(sandbox, "/analytics/hosts")).status).toBe(200);
  });

  test("start and end are inclusive to the millisecond, and a bare date is the whole day", async () => {
    const sandbox = await sandboxOf();
    const all = [...sandbox.records("orders")] as Order[];
    const ids = async (query: string) => (await askAll(sandbox, `/orders?${query}`)).map(({ id }) => id);
    const within = (from: number, to: number) =>
      all
        .filter(({ order_date }) => Date.parse(order_date) >= from && Date.parse(order_date) <= to)
        .map(({ id }) => id);
    const at = Date.parse(all[120]?.order_date ?? "");
    const text = (ms: number) => new Date(ms).toISOString();
    expect(await ids(`start_date=${text(at)}`)).toEqual(within(at, noon));
    expect(await ids(`start_date=${text(at + 1)}`)).toEqual(within(at + 1, noon));
    expect(await ids(`end_date=${text(at)}`)).toEqual(within(0, at));
    expect(await ids(`end_date=${text(at - 1)}`)).toEqual(within(0, at - 1));
    expect((await ids(`start_date=${text(at)}&end_date=${text(at)}`)).length).toBeGreaterThan(0);
    expect(await ids(`start_date=${text(at)}&end_date=${text(at - 1)}`)).toEqual([]);
    const date = text(at).slice(0, 10);
    const midnight = Date.parse(`${date}T00:00:00Z`);
    expect(await ids(`start_date=${date}&end_date=${date}`)).toEqual(within(midnight, midnight + day - 1));
  });

  test("status filters agree with the records, page by page", async () => {
    const sandbox = await sandboxOf({ orders: 3000 });
    const all = [...sandbox.records("orders")] as Order[];
    const holds: Record<string, (order: Order) => boolean> = {
      all: () => true,
      active: (order) => !order.is_cancelled && !order.is_refunded,
      cancelled: (order) => order.is_cancelled,
      refunded: (order) => order.is_refunded,
    };
    for (const [status, test] of Object.entries(holds)) {
      for (const range of ["", "&start_date=2026-03-01&end_date=2026-09-30"]) {
        const expected = all.filter(
          (order) =>
            test(order) &&
            (range === "" || (order.order_date >= "2026-03-01" && order.order_date < "2026-10-01")),
        );
        expect([status, await askAll(sandbox, `/orders?status=${status}${range}`)]).toEqual([
          status,
          expected,
        ]);
      }
    }
    expect(all.some((order) => order.is_cancelled && order.is_refunded)).toBe(true);
  });

  test("the same seed and time give the same orders, another seed gives others", async () => {
    const [a, b, c] = await Promise.all([sandboxOf(), sandboxOf({}, handClock()), sandboxOf({ seed: 2 })]);
    for (const path of [
      "/orders",
      "/roster",
      "/opportunities",
      "/content",
      "/gifts",
      "/analytics/clicks",
      "/analytics/hosts",
    ]) {
      const [first, second, third] = [
        (await ask(a, path)).json,
        (await ask(b, path)).json,
        (await ask(c, path)).json,
      ];
      expect([path, second.data]).toEqual([path, first.data]);
      expect([path, third.data]).not.toEqual([path, first.data]);
    }
    expect(b.key).toBe(a.key);
  });

  test("three million orders start at once, and the deepest page is there", async () => {
    const sandbox = await sandboxOf({ orders: 3_000_000 });
    const { json } = await ask(sandbox, "/orders?per_page=100&page=10000");
    expect(json.pagination.total_items).toBe(3_000_000);
    expect(json.data).toHaveLength(100);
    const cut = json.data[99].order_date;
    const older = (await ask(sandbox, `/orders?per_page=100&end_date=${cut}`)).json;
    expect(older.pagination.total_items).toBeGreaterThanOrEqual(2_000_000);
    expect(older.data.map(({ id }: Order) => id)).toContain(json.data[99].id);
    let counted = 0;
    for (const status of ["active", "refunded", "cancelled"]) {
      counted += (await ask(sandbox, `/orders?per_page=1&status=${status}`)).json.pagination.total_items;
    }
    expect(counted).toBeGreaterThan(3_000_000);
    expect(counted).toBeLessThan(3_100_000);
  });

  test("the data is believable: currencies, null hosts, refunds, ties, odd values, about a kilobyte each", async () => {
    const sandbox = await sandboxOf({ orders: 5000 });
    const all = [...sandbox.records("orders")] as Order[];
    const share = (test: (order: Order) => boolean) => all.filter(test).length / all.length;
    expect(new Set(all.map(({ currency }) => currency))).toEqual(new Set(["USD", "EUR", "GBP", null]));
    expect(share(({ host }) => host === null)).toBeGreaterThan(0.01);
    expect(share(({ host }) => host === null)).toBeLessThan(0.04);
    expect(share(({ is_refunded }) => is_refunded)).toBeGreaterThan(0.02);
    expect(share(({ is_refunded }) => is_refunded)).toBeLessThan(0.06);
    expect(share((order) => !order.is_refunded && (order.refund_amount ?? 0) > 0)).toBeGreaterThan(0.01);
    expect(share(({ attribution }) => attribution === "manual")).toBeGreaterThan(0.02);
    expect(share(({ product }) => product === null)).toBeGreaterThan(0.1);
    expect(share(({ gear_list }) => gear_list === null)).toBeGreaterThan(0.1);
    expect(all.some(({ total_amount }) => total_amount === null)).toBe(true);
    expect(all.some(({ line_items }) => line_items.some(({ quantity }) => quantity === null))).toBe(true);
    expect(all.some(({ line_items }) => line_items.some(({ price }) => price === null))).toBe(true);
    const ties = all.filter((order, place) => order.order_date === all[place + 1]?.order_date).length;
    expect(ties).toBeGreaterThan(10);
    for (const { total_amount, subtotal_amount, refund_amount } of all) {
      for (const amount of [total_amount, subtotal_amount, refund_amount]) {
        expect(amount === null || /^\d+(\.\d\d?)?$/.test(JSON.stringify(amount))).toBe(true);
      }
      expect((refund_amount ?? 0) <= (total_amount ?? 0)).toBe(true);
    }
    const bytes = JSON.stringify(all).length / all.length;
    expect(bytes).toBeGreaterThan(700);
    expect(bytes).toBeLessThan(1300);
    const [newest, oldest] = [all[0], all.at(-1)].map((order) => Date.parse(order?.order_date ?? ""));
    expect(newest).toBeLessThan(noon);
    expect(noon - (oldest ?? 0)).toBeGreaterThan(720 * day);
    const lastYear = share(({ order_date }) => Date.parse(order_date) > noon - 365 * day);
    expect(lastYear).toBeGreaterThan(0.55);
    // A refund takes days to months: the newest orders have fewer.
    const refundedOf = (orders: Order[]) =>
      orders.filter((order) => order.is_refunded).length / orders.length;
    expect(refundedOf(all.slice(0, 300))).toBeLessThan(refundedOf(all.slice(1000)));
  });
});

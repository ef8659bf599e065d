import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.js";
import { ask, askAll, day, noon, sandboxOf } from "./support.js";

interface Order {
  order_date: string;
  is_cancelled: boolean;
  total_amount: number | null;
  subtotal_amount: number | null;
  refund_amount: number | null;
  attribution: string;
  host: { id: string } | null;
}

interface Point {
  date: string;
  orders: number;
  revenue: number;
  subtotal_revenue: number;
  conversion_rate: number;
  total_clicks: number;
  product_clicks: number;
  buy_now_clicks: number;
  unique_buy_now_clicks: number;
  unique_sessions: number;
}

async function clicks(sandbox: Sandbox, query = "") {
  const { status, json } = await ask(sandbox, `/analytics/clicks${query}`);
  expect(status).toBe(200);
  return json.data;
}

function sales(sandbox: Sandbox, holds: (order: Order) => boolean) {
  let [orders, manual, revenue, subtotal] = [0, 0, 0, 0];
  for (const order of sandbox.records("orders") as Generator<Order>) {
    if (order.is_cancelled || !holds(order)) continue;
    orders++;
    if (order.attribution === "manual") manual++;
    revenue += Math.round(((order.total_amount ?? 0) - (order.refund_amount ?? 0)) * 100);
    subtotal += Math.round((order.subtotal_amount ?? 0) * 100);
  }
  return { orders, manual_orders: manual, revenue: revenue / 100, subtotal_revenue: subtotal / 100 };
}

describe("click analytics", () => {
  test("orders and revenue agree with the orders: whole, by day, by host, and to the millisecond", async () => {
    const sandbox = await sandboxOf({ orders: 2000 });
    const whole = await clicks(sandbox, "?limit=100");
    expect(Object.keys(whole)).toEqual(["summary", "timeseries", "top_hosts", "top_products"]);
    expect(whole.summary).toMatchObject(sales(sandbox, () => true));
    for (const point of whole.timeseries.filter((_: Point, n: number) => n % 60 === 7) as Point[]) {
      const { manual_orders, ...figures } = sales(sandbox, (order) =>
        order.order_date.startsWith(point.date),
      );
      expect(point).toMatchObject({ ...figures, date: point.date });
      expect(manual_orders).toBeLessThanOrEqual(point.orders);
    }
    const row = whole.top_hosts.find((one: { host: unknown; orders: number }) => one.host && one.orders > 5);
    const ofHost = sales(sandbox, (order) => order.host?.id === row.host.id);
    expect(row).toMatchObject({
      orders: ofHost.orders,
      revenue: ofHost.revenue,
      subtotal_revenue: ofHost.subtotal_revenue,
    });
    expect((await clicks(sandbox, `?host_id=${row.host.id}`)).summary).toMatchObject(ofHost);
    const at = ([...sandbox.records("orders")] as Order[])[500]?.order_date ?? "";
    for (const [from, to] of [
      [at, at],
      ["2026-02-03T04:05:06Z", at],
      ["2026-02-03", "2026-02-20"],
    ] as const) {
      const end = to.length === 10 ? `${to}T23:59:59.999Z` : to;
      const { summary } = await clicks(sandbox, `?start_date=${from}&end_date=${to}`);
      const inside = (order: Order) =>
        Date.parse(order.order_date) >= Date.parse(from) && Date.parse(order.order_date) <= Date.parse(end);
      expect(summary).toMatchObject(sales(sandbox, inside));
    }
  });

  test("there is a point for every day, and weeks and months add up to the same orders", async () => {
    const sandbox = await sandboxOf({ orders: 1500 });
    const { summary, timeseries } = await clicks(sandbox, "?start_date=2026-01-01&end_date=2026-06-30");
    expect(timeseries.map(({ date }: Point) => date)).toEqual(
      Array.from({ length: 181 }, (_, n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10)),
    );
    for (const group of ["week", "month"]) {
      const grouped = await clicks(sandbox, `?start_date=2026-01-01&end_date=2026-06-30&group_by=${group}`);
      const dates = grouped.timeseries.map(({ date }: Point) => new Date(date));
      if (group === "month") expect(dates.every((date: Date) => date.getUTCDate() === 1)).toBe(true);
      else expect(dates.every((date: Date) => date.getUTCDay() === 1)).toBe(true);
      expect(grouped.timeseries.reduce((sum: number, { orders }: Point) => sum + orders, 0)).toBe(
        summary.orders,
      );
      expect(grouped.summary).toEqual(summary);
    }
  });

  test("figures are possible ones: ratios from 0 to 1, uniques no more than the whole and not additive", async () => {
    const sandbox = await sandboxOf({ orders: 3000 });
    const { summary, timeseries, top_hosts, top_products } = await clicks(sandbox);
    for (const row of [summary, ...timeseries, ...top_hosts] as Point[]) {
      expect(row.conversion_rate).toBeGreaterThanOrEqual(0);
      expect(row.conversion_rate).toBeLessThanOrEqual(1);
      expect(row.unique_buy_now_clicks).toBeLessThanOrEqual(row.buy_now_clicks);
      expect(row.product_clicks + row.buy_now_clicks).toBe(row.total_clicks);
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === "number" && !/revenue|rate/.test(name))
          expect([name, Number.isInteger(value)]).toEqual([name, true]);
      }
    }
    const added = timeseries.reduce((sum: number, point: Point) => sum + point.unique_sessions, 0);
    expect(summary.unique_sessions).toBeLessThan(added);
    expect(summary.unique_users).toBeLessThanOrEqual(summary.unique_sessions);
    expect(top_hosts).toHaveLength(20);
    expect(top_products).toHaveLength(20);
    for (const rows of [top_hosts, top_products] as Point[][]) {
      expect(rows.map((row) => row.total_clicks)).toEqual(
        rows.map((row) => row.total_clicks).sort((a, b) => b - a),
      );
    }
    expect((await clicks(sandbox, "?limit=3")).top_hosts).toEqual(top_hosts.slice(0, 3));
  });

  test("an event on an old day restates that day and no other", async () => {
    const sandbox = await sandboxOf({ orders: 2000 });
    const before = (await clicks(sandbox)).timeseries as Point[];
    const order = ([...sandbox.records("orders")] as (Order & { id: string })[])
      .slice(900)
      .find((one) => !one.is_cancelled && !one.refund_amount && (one.total_amount ?? 0) > 20);
    sandbox.events.refund(order?.id ?? "", 1.5);
    const after = (await clicks(sandbox)).timeseries as Point[];
    const changed = after.filter((point, n) => JSON.stringify(point) !== JSON.stringify(before[n]));
    expect(changed.map(({ date }) => date)).toEqual([order?.order_date.slice(0, 10)]);
    const old = before.find(({ date }) => date === changed[0]?.date);
    expect((old?.revenue ?? 0) - (changed[0]?.revenue ?? 0)).toBeCloseTo(1.5, 6);
    sandbox.events.lateOrder(noon - 700 * day);
    expect((await clicks(sandbox)).summary.orders).toBe(sales(sandbox, () => true).orders);
  });

  test("revenue can be gross: then a refund does not move it", async () => {
    const sandbox = await sandboxOf({ undocumented: { revenue: "gross" } });
    const before = (await clicks(sandbox)).summary.revenue;
    const order = ([...sandbox.records("orders")] as (Order & { id: string })[]).find(
      (one) => !one.refund_amount && one.total_amount,
    );
    sandbox.events.refund(order?.id ?? "", 1.5);
    expect((await clicks(sandbox)).summary.revenue).toBe(before);
  });

  test("an unknown host has nothing", async () => {
    const sandbox = await sandboxOf();
    const { summary, top_hosts } = await clicks(sandbox, "?host_id=00000000-0000-4000-8000-000000000000");
    expect([summary.orders, summary.total_clicks, top_hosts]).toEqual([0, 0, []]);
  });
});

describe("host performance", () => {
  test("each sort ranks by its column, both ways, and rows without a host are among them", async () => {
    const sandbox = await sandboxOf({ orders: 3000 });
    const columns = {
      clicks: "clicks",
      buy_now_clicks: "buy_now_clicks",
      actions: "orders",
      sale_amount: "sales",
    };
    const rows = await askAll(sandbox, "/analytics/hosts");
    expect(rows.filter(({ host }) => host === null).length).toBeGreaterThan(1);
    for (const [sort, column] of Object.entries(columns)) {
      for (const order of ["asc", "desc"]) {
        const sorted = await askAll(sandbox, `/analytics/hosts?sort=${sort}&order=${order}`);
        const values = sorted.map((row) => Number(row[column]));
        expect(values).toEqual([...values].sort((a, b) => (order === "asc" ? a - b : b - a)));
        expect(sorted).toHaveLength(rows.length);
      }
    }
    expect(await askAll(sandbox, "/analytics/hosts?sort=sale_amount&order=desc")).toEqual(rows);
    const sum = rows.reduce((total, row) => total + Number(row.orders), 0);
    expect(sum).toBe(sales(sandbox, () => true).orders);
  });
});

import { expect, test } from "vitest";
import { createBrandEvents } from "../../src/sandbox/activity.js";
import { type Brand, emptyBrand } from "../../src/sandbox/brand.js";
import { day, hour, noon, orderAt } from "../support/records.js";
import { ask, askAll, history, type RequestOptions, type Row } from "./support.js";

const cents = (amount: unknown) => Math.round(Number(amount) * 100);
const sum = (rows: readonly Row[], member: string) =>
  rows.reduce((total, row) => total + cents(row[member]), 0);

interface Clicks {
  summary: Row;
  timeseries: Row[];
  top_hosts: Row[];
  top_products: Row[];
}

function clicks(query = "", options: RequestOptions = {}): Clicks {
  return ask(`/analytics/clicks${query}`, options).one as unknown as Clicks;
}

test("the sandbox's click analytics match the orders in total, by day, by host and within a date range", () => {
  const counted = history.orders.filter((one) => !one.is_cancelled);
  const net = counted.reduce((total, one) => total + cents(one.total_amount) - cents(one.refund_amount), 0);
  const { summary, timeseries } = clicks();
  expect([summary.orders, cents(summary.revenue)]).toEqual([counted.length, net]);
  expect(summary.manual_orders).toBe(counted.filter((one) => one.attribution === "manual").length);
  expect([sum(timeseries, "orders"), sum(timeseries, "revenue")]).toEqual([counted.length * 100, net]);
  expect(sum(timeseries, "subtotal_revenue")).toBe(sum(counted, "subtotal_amount"));
  const top = clicks("?limit=100").top_hosts;
  expect(top).toHaveLength(100);
  const id = (top[0]?.host as { id: string } | undefined)?.id;
  const ofHost = counted.filter(({ host }) => host?.id === id).length;
  expect([top[0]?.orders, clicks(`?host_id=${id}`).summary.orders]).toEqual([ofHost, ofHost]);
  const date = counted[100]?.order_date ?? "";
  const later = counted.filter(({ order_date }) => Date.parse(order_date) >= Date.parse(date));
  expect(clicks(`?start_date=${date}`).summary.orders).toBe(later.length);
});

test("the daily, weekly and monthly data points in the sandbox's click analytics add up to the same totals", () => {
  const days = clicks().timeseries;
  expect(days.at(-1)?.date).toBe("2026-11-21");
  const dates = days.map(({ date }) => Date.parse(String(date)) / day);
  expect(dates).toEqual(dates.map((_, n) => (dates[0] ?? 0) + n));
  for (const bucket of ["week", "month"]) {
    const points = clicks(`?group_by=${bucket}`).timeseries;
    for (const member of ["orders", "revenue", "total_clicks", "profile_views"])
      expect(sum(points, member)).toBe(sum(days, member));
    for (const { date } of points)
      expect(bucket === "month" ? String(date).slice(8) : new Date(String(date)).getUTCDay()).toBe(
        bucket === "month" ? "01" : 1,
      );
  }
});

test("in the sandbox's click analytics, conversion rates are between 0 and 1, and the number of unique sessions in a period is less than the sum of the daily numbers", () => {
  const { summary, timeseries, top_hosts, top_products } = clicks();
  for (const row of [summary, ...timeseries, ...top_hosts]) {
    expect(Number(row.conversion_rate)).toBeGreaterThanOrEqual(0);
    expect(Number(row.conversion_rate)).toBeLessThanOrEqual(1);
    expect(Number(row.unique_buy_now_clicks)).toBeLessThanOrEqual(Number(row.buy_now_clicks));
    expect(row.total_clicks).toBe(Number(row.product_clicks) + Number(row.buy_now_clicks));
  }
  expect(cents(summary.unique_sessions)).toBeLessThan(sum(timeseries, "unique_sessions"));
  expect([top_hosts.length, top_products.length]).toEqual([20, 20]);
  expect(clicks("?limit=3").top_products).toEqual(top_products.slice(0, 3));
});

test("the sandbox's clicks for the current day increase over time, and future days have no clicks", () => {
  const morning = clicks("?start_date=2026-11-21", { now: noon - 6 * hour });
  const evening = clicks("?start_date=2026-11-21", { now: noon + 6 * hour });
  expect(Number(evening.summary.total_clicks)).toBeGreaterThan(Number(morning.summary.total_clicks));
  expect(clicks("?start_date=2027-01-01")).toMatchObject({ timeseries: [], top_products: [] });
});

test("refunding an old order changes the sandbox's click analytics only for that order's day", () => {
  const brand = { ...history };
  const before = clicks().timeseries;
  const order = history.orders.find((one) => !one.is_cancelled && Number(one.total_amount) > 20);
  createBrandEvents(brand, () => noon).refund(order?.id ?? "", 10);
  const changed = clicks("", { brand }).timeseries.filter((one, n) => one.revenue !== before[n]?.revenue);
  expect(changed.map(({ date }) => date)).toEqual([order?.order_date.slice(0, 10)]);
});

const orders = [
  orderAt("a", noon - day, { total_amount: 10, refund_amount: 4 }),
  orderAt("b", noon - day, { total_amount: 20, is_cancelled: true }),
  orderAt("c", noon - 200 * day, { total_amount: 40 }),
];
const brand: Brand = { ...emptyBrand(history.keys), orders };

test.each([
  ["the documented API", 2, 46, {}],
  ["an API that returns gross revenue", 2, 50, { revenue: "gross" }],
  ["an API that counts cancelled orders", 3, 66, { cancelled: "in" }],
  ["an API that omits old days", 1, 6, { dailyTotals: "recent" }],
  ["an API that returns outdated totals", 1, 40, { dailyTotalsFrom: { ...brand, orders: orders.slice(2) } }],
] as const)(
  "for orders of 10 (4 refunded), 20 (cancelled) and 40 (old), %s reports an order count of %i and a revenue of %i",
  (_, count, revenue, variants) => {
    const { timeseries } = clicks("", { brand, variants });
    expect(sum(timeseries, "orders")).toBe(count * 100);
    expect(sum(timeseries, "revenue")).toBe(revenue * 100);
  },
);

test("sandbox options can omit daily totals, omit empty days or make the revenue change every hour", () => {
  expect(ask("/analytics/clicks", { brand, variants: { dailyTotals: "absent" } }).status).toBe(402);
  expect(clicks("", { brand, variants: { emptyDays: "missing" } }).timeseries).toHaveLength(2);
  const drift = (now: number) =>
    sum(clicks("", { brand: history, variants: { dailyTotalsDrift: true }, now }).timeseries, "revenue");
  expect(drift(noon)).not.toBe(drift(noon + hour));
});

test("the sandbox's click analytics list each host with the totals of the host's orders, and contain three buy-now clicks per tracked order", () => {
  const pair = [orderAt("a", noon - day), orderAt("b", noon - day - hour, { attribution: "manual" })];
  const { summary, top_hosts } = clicks("", { brand: { ...brand, orders: pair } });
  const sums = { orders: 2, revenue: 20, subtotal_revenue: 16, buy_now_clicks: 3, total_clicks: 6 };
  expect(summary).toMatchObject({ ...sums, manual_orders: 1, conversion_rate: 0.3333 });
  expect(top_hosts).toMatchObject([{ host: { id: "h1" }, ...sums }]);
});

test("click analytics for a brand without orders contain a data point with zeros for the current day", () => {
  const { timeseries } = clicks("", { brand: { ...brand, orders: [] } });
  expect(timeseries).toMatchObject([{ date: "2026-11-21", orders: 0, total_clicks: 0, conversion_rate: 0 }]);
});

test("the sandbox's host ranking includes a row without a host, and can be sorted by each column in both directions", () => {
  const columns = {
    clicks: "clicks",
    buy_now_clicks: "buy_now_clicks",
    actions: "orders",
    sale_amount: "sales",
  };
  for (const [sort, column] of Object.entries(columns)) {
    const values = askAll(`/analytics/hosts?sort=${sort}`).map((row) => Number(row[column]));
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    const rising = askAll(`/analytics/hosts?sort=${sort}&order=asc`).map((row) => Number(row[column]));
    expect(rising).toEqual(values.toReversed());
  }
  expect(ask("/analytics/hosts").data).toEqual(ask("/analytics/hosts?sort=sale_amount&order=desc").data);
  expect(askAll("/analytics/hosts").filter(({ host }) => host === null)).toHaveLength(1);
});

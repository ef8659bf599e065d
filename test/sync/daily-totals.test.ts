import { describe, expect, test } from "vitest";
import { isSameJson } from "../../src/store/record-diff.js";
import { makeBrand, readsOrders, type SentRequest, type TestBrand } from "../support/brand.js";
import { day, hour, minute, noon, ordersBefore } from "../support/records.js";

type Point = Record<string, number | string>;
interface Clicks {
  timeseries: Point[];
}

const asksForClicks = ({ path }: SentRequest) => path === "/analytics/clicks";

/**
 * Modifies every data point in the responses from `/analytics/clicks`. `nth` is the number of the response, starting at
 * 1.
 */
function changePoints(brand: TestBrand, change: (point: Point, nth: number) => Point): void {
  let nth = 0;
  brand.before = (request) => {
    if (!asksForClicks(request)) return undefined;
    nth += 1;
    return {
      envelope: (body) => {
        const data = body.data as Clicks;
        return { ...body, data: { ...data, timeseries: data.timeseries.map((one) => change(one, nth)) } };
      },
    };
  };
}

/** Changes the last digit of each amount, as if the API had summed the amounts in a different order. */
function changeLastDigits(brand: TestBrand): void {
  changePoints(brand, (point, request) => {
    const drift = (value: unknown) => Number(value) * (1 + (request % 5) * Number.EPSILON);
    const { revenue, subtotal_revenue, conversion_rate } = point;
    return {
      ...point,
      revenue: drift(revenue),
      subtotal_revenue: drift(subtotal_revenue),
      conversion_rate: drift(conversion_rate),
    };
  });
}

const orders = ordersBefore(noon - hour, 1_200, 6 * hour);

// If sync finds no differences, the next day's run requests two pages of orders: one for the latest day, and one for
// the day of the first run.
describe("amounts that differ only by rounding errors", () => {
  test("sync and verify ignore rounding differences in daily totals", async () => {
    const brand = makeBrand({ orders });
    changeLastDigits(brand);
    await brand.run("sync orders --audit 0");
    brand.pass(day);
    const { requests, code } = await brand.run("sync orders --audit 0 --window 0d");
    expect([code, brand.lastRun().verified, requests.filter(readsOrders).length]).toEqual([0, 1, 2]);
    const verified = await brand.run("verify orders --evidence");
    expect([verified.code, verified.out]).toEqual([0, expect.not.stringContaining("different")]);
  });

  test("sync ignores rounding differences between the daily totals of successive runs", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders --audit 0");
    changeLastDigits(brand);
    brand.pass(day);
    const { requests } = await brand.run("sync orders --audit 0 --window 0d");
    expect(requests.filter(readsOrders)).toHaveLength(2);
  });

  test("sync ignores rounding differences in monthly clicks", async () => {
    const brand = makeBrand({ orders });
    changeLastDigits(brand);
    await brand.run("sync analytics-clicks");
    brand.pass(day);
    const { requests } = await brand.run("sync analytics-clicks --window 0d");
    const months = requests.filter(({ query }) => query.start_date !== undefined);
    expect(months.map(({ query }) => query.start_date?.slice(0, 7))).toEqual(["2026-11"]);
    await brand.run("sync analytics-clicks --full");
    expect(brand.lastRun("analytics-clicks")).toMatchObject({ rows_read: 11, rows_changed: 0 });
  });

  test("sync does not add a row to the ranking history if a host's totals differ only by a rounding error", async () => {
    const brand = makeBrand();
    let request = 0;
    brand.before = ({ path }) => {
      if (path !== "/analytics/hosts") return undefined;
      request += 1;
      const sales = 10.1 * (1 + request * Number.EPSILON);
      const data = [{ host: { id: "h1" }, clicks: 1, buy_now_clicks: 1, orders: 1, sales }];
      const pagination = {
        page: 1,
        per_page: 100,
        total_items: 1,
        total_pages: 1,
        has_next: false,
        has_prev: false,
      };
      return { body: JSON.stringify({ success: true, data, pagination }) };
    };
    await brand.run("sync analytics-hosts");
    brand.pass(day);
    await brand.run("sync analytics-hosts");
    expect(brand.sql("SELECT count(*) AS n FROM analytics_hosts_snapshots")).toEqual([{ n: 1 }]);
  });
});

test.each([
  [0.1 + 0.2, 0.3, "equal"],
  [1e15 + 0.5, 1e15, "equal"],
  [9007199254740990, 9007199254740991, "different"],
  [12.5, 12.501, "different"],
  [0, 1e-9, "different"],
])("sync treats the amounts %d and %d as %s", (a, b, expected) => {
  expect(isSameJson({ value: a }, { value: b })).toBe(expected === "equal");
});

test("sync re-reads a day whose revenue changed by a tenth of a cent", async () => {
  const brand = makeBrand({ orders });
  await brand.run("sync orders --audit 0");
  brand.pass(day);
  const [first] = brand.data.orders.slice(1_000);
  brand.change("orders", first?.id ?? "", { total_amount: Number(first?.total_amount) + 0.001 });
  changePoints(brand, (point) =>
    point.date === String(first?.order_date).slice(0, 10)
      ? { ...point, revenue: Number(point.revenue) + 0.001 }
      : point,
  );
  await brand.run("sync orders --audit 0 --window 0d");
  expect(brand.lastRun()).toMatchObject({ verified: 1, rows_changed: 1 });
});

describe("drifting amounts (amounts that differ on most days although no order has changed)", () => {
  const rates = (rate: (day: string, request: number) => number) => (brand: TestBrand) =>
    changePoints(brand, (point, request) => ({
      ...point,
      revenue: Number(point.revenue) * rate(String(point.date), request),
    }));
  const applyNewRate = rates((_, request) => 1 + request / 1_000);
  const hourly = ordersBefore(noon - hour, 6_000, hour);
  const runNextDay = async (brand: TestBrand, command = "sync orders") => {
    brand.pass(day);
    return await brand.run(command);
  };

  test("sync ignores changed amounts in daily totals if they affect more than half of the days", async () => {
    const days = [60, 61, 62, 63].map((age) => ordersBefore(noon - age * day, 300, minute));
    const orders = days.flatMap((list, n) => list.map((order) => ({ ...order, id: `${n}-${order.id}` })));
    const syncAfterChange = async (changedDays: number) => {
      const brand = makeBrand({ orders });
      await brand.run("sync orders");
      brand.pass(day);
      let nth = 0;
      changePoints(brand, (point) =>
        nth++ < changedDays ? { ...point, revenue: Number(point.revenue) + 1 } : point,
      );
      return (await brand.run("sync orders --audit 0")).err;
    };
    expect(await syncAfterChange(2)).not.toContain("changed at once");
    expect(await syncAfterChange(3)).toContain("changed at once");
  });

  test("sync warns only once about drifting amounts, and sends only a few requests", async () => {
    const brand = makeBrand({ orders: hourly });
    applyNewRate(brand);
    await brand.run("sync orders");
    const first = await runNextDay(brand);
    expect([first.code, first.requests.length]).toEqual([0, expect.any(Number)]);
    expect(first.err).toMatch(/warning: orders: the API's amounts for \d+ of \d+ days changed at once/);
    expect(first.err).toMatch(/verified by counts$/m);
    for (const _ of [1, 2]) {
      const { requests, code, err } = await runNextDay(brand);
      expect([code, err]).toEqual([0, expect.stringMatching(/^orders: .*, verified by counts\n$/)]);
      // The limit allows for the window, the audit and a sample of 500 orders.
      expect(requests.filter(readsOrders).length).toBeLessThanOrEqual(8 + 5 + 6);
    }
    expect(brand.lastRun().verified).toBe(1);
  });

  test("if amounts drift, verify states that it compares only counts, and reports no difference", async () => {
    const brand = makeBrand({ orders: hourly });
    applyNewRate(brand);
    await brand.run("sync orders");
    const { requests, code, out } = await runNextDay(brand, "verify orders --evidence");
    expect([code, out]).toEqual([0, expect.not.stringContaining("different")]);
    expect(out).toMatch(
      /counts agree \(all, cancelled, refunded\); amounts were not compared, because those for \d+ of/,
    );
    expect(out).toContain("cannot detect a change to orders that affects none of these numbers;");
    expect(requests.length).toBeLessThan(20);
  });

  test("while amounts drift, sync finds a late attribution by comparing each day's order count", async () => {
    const brand = makeBrand({ orders: hourly });
    applyNewRate(brand);
    await brand.run("sync orders");
    brand.withdraw("o4500");
    brand.attributeLate(noon - 200 * day);
    await runNextDay(brand, "sync orders --audit 0");
    expect(brand.lastRun()).toMatchObject({ verified: 1, rows_new: 1, rows_removed: 1 });
  });

  test("if a sample of old orders contains a changed order, sync reports all changed daily totals and exits with code 8", async () => {
    const many = ordersBefore(noon - hour, 2_750, 4 * hour);
    const brand = makeBrand({ orders: many, variants: { maxPerPage: 25 } });
    await brand.run("sync orders --audit 0");
    for (let n = 0; n < many.length; n += 3) brand.refund(`o${n}`, 1);
    const { code, err } = await runNextDay(brand, "sync orders --audit 0");
    expect([code, err]).toEqual([8, expect.stringMatching(/the API's daily totals changed on \d+ days/)]);
    expect(err).not.toContain("changed at once");
    expect((await brand.run("verify orders")).code).toBe(8);
  });

  test("if the window includes all orders, sync verifies the amounts despite drift", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 200, hour) });
    applyNewRate(brand);
    await brand.run("sync orders");
    const { code, err } = await runNextDay(brand);
    expect([code, err]).toEqual([0, expect.stringMatching(/, verified\n$/)]);
    expect((await brand.run("verify orders")).code).toBe(0);
  });
});

test("if a request for daily totals fails during the sync of clicks, the sync of orders repeats the request", async () => {
  const brand = makeBrand({ orders: orders.slice(0, 10) });
  let responses = 0;
  brand.before = (request) => {
    if (!asksForClicks(request)) return undefined;
    responses += 1;
    return responses > 1 ? undefined : { envelope: (body) => ({ ...body, data: {} }) };
  };
  const { code, err } = await brand.run("sync analytics-clicks orders");
  expect([code, brand.lastRun("analytics-clicks").outcome]).toEqual([8, "failed"]);
  expect([brand.lastRun("orders").verified, err]).toEqual([1, expect.not.stringContaining("daily totals")]);
});

test("if the API's daily totals lack order counts, sync ignores the totals instead of assuming zero orders", async () => {
  const brand = makeBrand({ orders: orders.slice(0, 10) });
  changePoints(brand, ({ orders: _, ...point }) => point as Point);
  const { code, err } = await brand.run("sync orders");
  expect([code, err]).toEqual([0, expect.stringContaining("the API returned no daily totals")]);
});

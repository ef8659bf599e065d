import { expect, test } from "vitest";
import { makeBrand, readsOrders } from "../support/brand.js";
import { hour, minute, noon, ordersBefore } from "../support/records.js";

test.each([
  ["is in seconds", "7", 7_000, 9_000],
  ["is a date", new Date(noon + 20_000).toUTCString(), 15_000, 22_000],
  ["is a date in the past", "Wed, 21 Oct 2015 07:28:00 GMT", 0, 2_000],
  ["is negative", "-5", 0, minute],
  ["is not a number", "soon", 0, minute],
  ["consists of two values", "2814, 2", 0, minute],
  ["is implausibly long", "99999999999", 0, 6 * minute],
])("sync waits and retries after a 429 whose Retry-After %s", async (_, retryAfter, least, most) => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 5, hour) });
  brand.once(readsOrders, () => ({ status: 429, headers: { "retry-after": retryAfter } }));
  const { code, err } = await brand.run("sync orders");
  expect(brand.now() - noon).toBeGreaterThanOrEqual(least);
  expect(brand.now() - noon).toBeLessThanOrEqual(most);
  if (most < 6 * minute) expect([code, brand.mirrored().length], err).toEqual([0, 5]);
});

test("sync gives up if it makes no progress within --max-wait", async () => {
  const outage = (until: number) => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 5, hour) });
    brand.before = (request) => (readsOrders(request) && brand.now() < until ? { status: 503 } : undefined);
    return brand;
  };
  expect((await outage(noon + 10 * minute).run("sync orders")).code).toBe(6);
  expect((await outage(noon + 10 * minute).run("sync orders --max-wait 30m")).code).toBe(0);
  expect((await outage(noon + 3 * minute).run("sync orders --max-wait 1m")).code).toBe(6);
});

test("sync completes even if every other request gets a 429", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 400, hour) });
  brand.before = () =>
    brand.requests.length % 2 ? { status: 429, headers: { "retry-after": "1" } } : undefined;
  const { code } = await brand.run("sync orders");
  expect([code, brand.mirrored().length]).toEqual([0, 400]);
});

test.each([60, 30])(
  "with a rate limit of %i requests per minute, sync never gets a 429 from an API with the same limit",
  async (limit) => {
    const brand = makeBrand({ history: 200, listLimit: 40, rateLimit: limit });
    const { code, requests } = await brand.run("sync", { env: { BRANDAPI_RATE_LIMIT: String(limit) } });
    expect(code).toBe(0);
    expect(requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(requests.length).toBeGreaterThan(limit * 1.5);
    expect(brand.now() - noon).toBeLessThan((Math.ceil(requests.length / limit) + 1) * minute);
  },
);

test("a sync that sends fewer requests than the rate limit allows does not wait", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 900, hour), rateLimit: 60 });
  await brand.run("sync orders", { env: { BRANDAPI_RATE_LIMIT: "60" } });
  expect(brand.now() - noon).toBeLessThan(5_000);
});

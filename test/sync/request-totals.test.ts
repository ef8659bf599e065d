import { expect, test } from "vitest";
import { ApiUnavailable, NotFound } from "../../src/errors.js";
import { orders } from "../../src/resources/orders.js";
import { hasSameAmounts, hasSameCount, requestDailyTotals } from "../../src/sync/daily-totals.js";
import type { DatedSession } from "../../src/sync/session.js";

/** Requests the daily totals from an API that responds with the given data, or with an error. */
async function request(data: unknown, { hasSource = true } = {}) {
  const get = async () => {
    if (data instanceof Error) throw data;
    return { data };
  };
  const { totalsSource, ...strategy } = orders.strategy;
  const resource = { ...orders, strategy: { ...strategy, ...(hasSource && { totalsSource }) } };
  const session = { api: { get }, cachedTotals: new Map(), readableUntil: 0, resource };
  const { apiTotals, error } = await requestDailyTotals(session as unknown as DatedSession);
  return { totals: apiTotals && [...apiTotals], error: error?.message ?? null };
}

const point = (date: string, orders: number, revenue = 0) => ({ date, orders, revenue, subtotal_revenue: 0 });

test("requestDailyTotals returns the totals for all days with orders or amounts", async () => {
  const timeseries = [
    point("2026-11-01", 0),
    point("2026-11-02", 3),
    point("2026-11-03", 0, -5),
    point("2026-11-04T00:00:00Z", 1, 7),
    point("total", 4, 2),
    { date: "2026-11-05", orders: 2, revenue: null },
  ];
  expect(await request({ timeseries })).toEqual({
    totals: [
      ["2026-11-02", { count: 3, amounts: [0, 0] }],
      ["2026-11-03", { count: 0, amounts: [-5, 0] }],
      ["2026-11-04", { count: 1, amounts: [7, 0] }],
      ["2026-11-05", { count: 2, amounts: [0, 0] }],
    ],
    error: null,
  });
});

const totals = (count: number, ...amounts: number[]) => ({ count, amounts });

test.each([
  [
    "the totals of a day are equal in two responses",
    "the counts equal and the amounts equal",
    totals(1, 5, 0),
    totals(1, 5, 0),
  ],
  [
    "one amount of a day differs",
    "the counts equal and the amounts different",
    totals(1, 5, 0),
    totals(1, 5, 3),
  ],
  ["the count of a day differs", "the counts different and the amounts equal", totals(1, 5), totals(2, 5)],
  [
    "only one response has totals for a day, with amounts of zero",
    "the counts different and the amounts equal",
    undefined,
    totals(1, 0),
  ],
  [
    "only one response has totals for a day, with a count of zero",
    "the counts equal and the amounts different",
    undefined,
    totals(0, 5),
  ],
  ["neither response has totals for a day", "the counts equal and the amounts equal", undefined, undefined],
  [
    "only one response has a second amount for a day",
    "the counts equal and the amounts different",
    totals(1, 5),
    totals(1, 5, 3),
  ],
  [
    "only one response has a second amount for a day and this amount is zero",
    "the counts equal and the amounts equal",
    totals(1, 5),
    totals(1, 5, 0),
  ],
])("if %s, sync considers %s", (_, expected, a, b) => {
  const compare = (x: typeof a, y: typeof b) =>
    `the counts ${hasSameCount(x, y) ? "equal" : "different"} and the amounts ${hasSameAmounts(x, y) ? "equal" : "different"}`;
  expect([compare(a, b), compare(b, a)]).toEqual([expected, expected]);
});

test("requestDailyTotals returns no totals and no error if the API has no totals for the resource", async () => {
  expect(await request({}, { hasSource: false })).toEqual({ totals: null, error: null });
});

test.each([
  ["has no list of days", { summary: {} }, "The API's response to /analytics/clicks has no `timeseries`."],
  [
    "has a day without a count",
    { timeseries: [{ date: "2026-11-01" }] },
    "The API's response to /analytics/clicks has a day without `orders`.",
  ],
  ["is an error that concerns only this request", new NotFound("no such path"), "no such path"],
])("requestDailyTotals returns an error if the response %s", async (_, data, error) => {
  expect(await request(data)).toEqual({ totals: null, error });
});

test.each([
  [
    "if the API is down",
    new ApiUnavailable("the API is down", { failureScope: "outage" }),
    "the API is down",
  ],
  ["if the program has a bug", new TypeError("undefined is not a function"), "undefined is not a function"],
])("requestDailyTotals throws the error instead of returning it %s", async (_, error, message) => {
  await expect(request(error)).rejects.toThrow(message);
});

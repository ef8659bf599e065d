import { describe, expect, test } from "vitest";
import { makeBrand, readsOrders, type TestBrand } from "../support/brand.js";
import type { Fault } from "../support/faults.js";
import { hour, noon, ordersBefore } from "../support/records.js";

const orders = ordersBefore(noon - hour, 350, hour);

/** Every answer from the third page on is another one. */

function brandWith(fault: Fault) {
  const brand = makeBrand({ orders });
  let page = 0;
  brand.before = (request) => {
    if (readsOrders(request)) page += 1;
    return readsOrders(request) && page > 2 ? fault : undefined;
  };
  return brand;
}

/** Whole answers are kept: the first page at least, and nothing of the third. */
function expectKept(brand: TestBrand): void {
  const kept = brand.mirrored().length;
  expect(kept).toBeGreaterThanOrEqual(100);
  expect(kept).toBeLessThanOrEqual(200);
}

type Envelope = Record<string, unknown> & {
  data: Record<string, unknown>[];
  pagination: Record<string, unknown>;
};
const change = (to: (envelope: Envelope) => unknown): Fault => ({ envelope: (one) => to(one as Envelope) });
const paging = (fields: object) =>
  change((one) => ({ ...one, pagination: { ...one.pagination, ...fields } }));
const data = (value: unknown) => change((one) => ({ ...one, data: value }));
const first = (fields: object) =>
  change((one) => ({ ...one, data: [{ ...one.data[0], ...fields }, ...one.data.slice(1)] }));

/** They pass: the same request is sent again. */
const passing: [fault: string, fault: Fault, says: string, code: number][] = [
  ["the connection is reset", "reset", "connection", 6],
  ["the answer is cut off", "cut", "", 6],
  ["the API answers 429", { status: 429, headers: { "retry-after": "2" } }, "HTTP 429", 6],
  ["the API answers 500", { status: 500 }, "500", 6],
  ["a proxy answers 502", { status: 502, body: "<h1>Bad gateway</h1>" }, "502", 6],
  ["the API answers 503", { status: 503 }, "503", 6],
  ["a proxy answers 504", { status: 504 }, "504", 6],
  ["a proxy answers 408", { status: 408 }, "408", 6],
  ["a captive portal answers with a web page", "html", "web page, not JSON", 7],
  ["a 200 without a body", { body: "" }, "", 7],
  ["a 200 that is cut, with a length that agrees", { body: '{"success":true,"da' }, "", 7],
];

describe.each(passing)("%s", (_, fault, says, code) => {
  test("once: the sync goes on, and is complete", async () => {
    const brand = makeBrand({ orders });
    brand.once(
      ({ path, query }) => path === "/orders" && query.end_date !== undefined,
      () => fault,
    );
    const { code, err } = await brand.run("sync orders");
    expect([code, brand.mirrored().length], err).toEqual([0, 350]);
    expect(brand.lastRun()).toMatchObject({ outcome: "done", verified: 1, retries: 1 });
  });

  test(`for good: exit ${code} after the patience, and the first page is kept`, async () => {
    const brand = brandWith(fault);
    const begun = brand.now();
    const ran = await brand.run("sync orders");
    expect(ran.code, ran.err).toBe(code);
    expectKept(brand);
    expect(ran.err).toContain(says);
    expect(brand.now() - begun).toBeLessThan(6 * 60_000);
    brand.before = undefined;
    const next = await brand.run("sync orders");
    expect([next.code, brand.mirrored().length]).toEqual([0, 350]);
  });
});

/** They do not pass: nothing of the answer is kept, and nothing is asked twice. */
const final: [fault: string, fault: Fault, code: number, says: RegExp][] = [
  ["400", { status: 400 }, 7, /rejected the parameters of \/orders \(400\)/],
  ["401", { status: 401 }, 4, /rejected the key \(401\)[\s\S]*hint: create a new key/],
  ["402", { status: 402 }, 5, /plan does not include \/orders[\s\S]*hint: check the brand's plan/],
  ["403", { status: 403 }, 5, /denied access to \/orders \(403\)/],
  ["404", { status: 404 }, 7, /base URL looks wrong/],
  ["410", { status: 410 }, 7, /no longer provides \/orders/],
  [
    "a redirect",
    { status: 302, headers: { location: "https://elsewhere.test/" } },
    7,
    /Redirects are not followed/,
  ],
  ["an undocumented status", { status: 418 }, 7, /undocumented status: 418/],
  ["`success` is false", change((one) => ({ ...one, success: false })), 7, /does not have `success: true`/],
  ["`success` is missing", change(({ success: _, ...one }) => one), 7, /does not have `success: true`/],
  ["`data` is null", data(null), 7, /`data`/],
  ["`data` is missing", change(({ data: _, ...one }) => one), 7, /no object or array as `data`/],
  ["`data` is an object where a list was asked for", data({ orders: [] }), 7, /not a list/],
  ["an item is a number", data([1, 2]), 7, /orders/],
  ["an item has no id", first({ id: undefined }), 7, /id/],
  ["an item's id is an object", first({ id: {} }), 7, /id/],
  ["an id that JavaScript would round", first({ id: 2 ** 60 }), 7, /id/],
  ["`pagination` is missing", change(({ pagination: _, ...one }) => one), 7, /no `pagination`/],
  ["`total_items` is text", paging({ total_items: "350" }), 7, /`total_items`/],
  ["`total_items` is negative", paging({ total_items: -1 }), 7, /`total_items`/],
  ["another page than was asked for", paging({ page: 7 }), 7, /page/],
  [
    "more items than were asked for",
    change((one) => ({ ...one, data: [...one.data, ...one.data] })),
    7,
    /100 items/,
  ],
  ["a body without an end", "endless", 7, /larger|more than|too large/],
  [
    "a body that is nested too deep",
    { body: `{"success":true,"data":${"[".repeat(5_000)}${"]".repeat(5_000)}}` },
    7,
    /deep|nested/,
  ],
];

test.each(final)("%s: exit at once, and the first page is kept", async (_, fault, code, says) => {
  const brand = brandWith(fault);
  const { code: ended, err, out } = await brand.run("sync orders");
  expect(ended, err).toBe(code);
  expectKept(brand);
  expect(err).toMatch(says);
  expect(err.split("\n").filter((line) => line.startsWith("brandapi: "))).toHaveLength(1);
  expect(out + err).not.toMatch(/\bat .*:\d+:\d+|undefined|\[object/);
  expect(brand.lastRun()).toMatchObject({ outcome: "failed", verified: 0 });
});

test("an answer that holds the key is refused, and the key is nowhere", async () => {
  const brand = brandWith({ status: 500 });
  brand.before = (request) =>
    readsOrders(request) ? change((one) => ({ ...one, note: brand.key })) : undefined;
  const { code, err, out } = await brand.run("sync orders --verbose");
  expect([code, brand.mirrored()]).toEqual([7, []]);
  expect(out + err).not.toContain(brand.key);
});

test("one resource that fails stops no other: exit 8, with a list", async () => {
  const brand = makeBrand({ history: 20 });
  brand.before = ({ path }) => (path === "/roster" ? { status: 404 } : undefined);
  const { code, err } = await brand.run("sync roster orders content");
  expect(code).toBe(8);
  expect(err).toMatch(/1 of 3 resources failed: .*\/roster/);
  expect(brand.mirrored("content")).toHaveLength(400);
});

test("an API that is away ends the whole run after one patience", async () => {
  const brand = makeBrand({ history: 20 });
  brand.before = ({ path }) => (path === "/me" ? undefined : "reset");
  const begun = brand.now();
  expect((await brand.run("sync")).code).toBe(6);
  expect(brand.now() - begun).toBeLessThan(11 * 60_000);
});

test("with --json the error is an object on stdout too", async () => {
  const { out, code } = await brandWith({ status: 401 }).run("sync orders --json");
  const last = JSON.parse(out.trim().split("\n").at(-1) ?? "");
  expect([code, last.error.code, Object.keys(last.error)]).toEqual([
    4,
    "unauthorized",
    ["code", "message", "hint"],
  ]);
});

import { expect, test } from "vitest";
import { makeBrand, readsOrders, type TestBrand } from "../support/brand.js";
import type { Fault } from "../support/faults.js";
import { hour, noon, ordersBefore } from "../support/records.js";

const orders = ordersBefore(noon - hour, 350, hour);

/** Returns a brand whose API responds with a fault from the third page onward. */
function brandWith(fault: Fault) {
  const brand = makeBrand({ orders });
  let page = 0;
  brand.before = (request) => {
    if (readsOrders(request)) page += 1;
    return readsOrders(request) && page > 2 ? fault : undefined;
  };
  return brand;
}

/** Checks that the mirror contains the first page, and nothing from the third page onward. */
function expectFirstPages(brand: TestBrand): void {
  const stored = brand.mirrored().length;
  expect(stored).toBeGreaterThanOrEqual(100);
  expect(stored).toBeLessThanOrEqual(200);
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

/** Faults after which the request is retried. */
const temporary: [name: string, fault: Fault, message: string, code: number][] = [
  ["the API resets the connection", "reset", "connection", 6],
  ["the connection closes in the middle of the response", "cut", "", 6],
  ["the API returns 429", { status: 429, headers: { "retry-after": "2" } }, "HTTP 429", 6],
  ["the API returns 500", { status: 500 }, "500", 6],
  ["a proxy returns 502", { status: 502, body: "<h1>Bad gateway</h1>" }, "502", 6],
  ["the API returns 503", { status: 503 }, "503", 6],
  ["a proxy returns 504", { status: 504 }, "504", 6],
  ["a proxy returns 408", { status: 408 }, "408", 6],
  ["a captive portal returns a web page", "html", "web page, not JSON", 7],
  ["the API returns 200 without a body", { body: "" }, "", 7],
  ["the API returns 200 with truncated JSON", { body: '{"success":true,"da' }, "", 7],
];

test.each(temporary)(
  "if one request fails because %s, a sync retries the request once and completes",
  async (_, fault) => {
    const brand = makeBrand({ orders });
    brand.once(
      ({ path, query }) => path === "/orders" && query.end_date !== undefined,
      () => fault,
    );
    const { code, err } = await brand.run("sync orders");
    expect([code, brand.mirrored().length], err).toEqual([0, 350]);
    expect(brand.lastRun()).toMatchObject({ outcome: "done", verified: 1, retries: 1 });
  },
);

test.each(temporary)(
  "if requests fail for longer than --max-wait because %s, a sync gives up but keeps the pages it has already read",
  async (_, fault, message, code) => {
    const brand = brandWith(fault);
    const begun = brand.now();
    const ran = await brand.run("sync orders");
    expect(ran.code, ran.err).toBe(code);
    expectFirstPages(brand);
    expect(ran.err).toContain(message);
    expect(brand.now() - begun).toBeLessThan(6 * 60_000);
    brand.before = undefined;
    const next = await brand.run("sync orders");
    expect([next.code, brand.mirrored().length]).toEqual([0, 350]);
  },
);

/** Faults after which the request is not retried, and nothing from the response is stored. */
const permanent: [name: string, fault: Fault, code: number, message: RegExp][] = [
  ["the API returns HTTP 400", { status: 400 }, 7, /rejected the parameters for \/orders \(400\)/],
  [
    "the API returns HTTP 401",
    { status: 401 },
    4,
    /rejected the key \(401\)[\s\S]*hint: check the key in the BRANDAPI_KEY variable for a typo/,
  ],
  [
    "the API returns HTTP 402",
    { status: 402 },
    5,
    /plan does not include \/orders[\s\S]*hint: check the brand's plan/,
  ],
  ["the API returns HTTP 403", { status: 403 }, 5, /denied access to \/orders \(403\)/],
  ["the API returns HTTP 404", { status: 404 }, 7, /base URL looks wrong/],
  ["the API returns HTTP 410", { status: 410 }, 7, /no longer provides \/orders/],
  [
    "the API returns a redirect",
    { status: 302, headers: { location: "https://elsewhere.test/" } },
    7,
    /Redirects are not followed[\s\S]*the target is on https:\/\/elsewhere\.test;/,
  ],
  ["the API returns HTTP 418", { status: 418 }, 7, /undocumented status: 418/],
  [
    "`success` in a response is false",
    change((one) => ({ ...one, success: false })),
    7,
    /does not have `success: true`/,
  ],
  [
    "`success` in a response is missing",
    change(({ success: _, ...one }) => one),
    7,
    /does not have `success: true`/,
  ],
  ["`data` in a response is null", data(null), 7, /`data`/],
  [
    "`data` in a response is missing",
    change(({ data: _, ...one }) => one),
    7,
    /no object or array in `data`/,
  ],
  ["`data` in a response is an object instead of a list", data({ orders: [] }), 7, /not a list/],
  ["an item in a response is a number", data([1, 2]), 7, /orders/],
  ["an item in a response has no ID", first({ id: undefined }), 7, /\bid\b/i],
  ["an item in a response has an object as its ID", first({ id: {} }), 7, /\bid\b/i],
  ["an item in a response has an ID that is too large for a double", first({ id: 2 ** 60 }), 7, /\bid\b/i],
  ["`pagination` in a response is missing", change(({ pagination: _, ...one }) => one), 7, /no `pagination`/],
  ["`total_items` in a response is a string", paging({ total_items: "350" }), 7, /`total_items`/],
  ["`total_items` in a response is negative", paging({ total_items: -1 }), 7, /`total_items`/],
  ["a response contains a different page than requested", paging({ page: 7 }), 7, /page/],
  [
    "a response contains more items than requested",
    change((one) => ({ ...one, data: [...one.data, ...one.data] })),
    7,
    /100 items/,
  ],
  ["the body of a response never ends", "endless", 7, /larger|more than|too large/],
  [
    "the body of a response is nested too deeply",
    { body: `{"success":true,"data":${"[".repeat(5_000)}${"]".repeat(5_000)}}` },
    7,
    /deep|nested/,
  ],
];

test.each(permanent)(
  "if %s, a sync fails without a retry and keeps the pages it has already read",
  async (_, fault, code, message) => {
    const brand = brandWith(fault);
    const { code: exitCode, err, out } = await brand.run("sync orders");
    expect(exitCode, err).toBe(code);
    expectFirstPages(brand);
    expect(err).toMatch(message);
    expect(err.split("\n").filter((line) => line.startsWith("brandapi: "))).toHaveLength(1);
    expect(out + err).not.toMatch(/\bat .*:\d+:\d+|undefined|\[object/);
    expect(brand.lastRun()).toMatchObject({ outcome: "failed", verified: 0 });
  },
);

test("a response that contains the API key is rejected, and the key is neither stored nor printed", async () => {
  const brand = brandWith({ status: 500 });
  brand.before = (request) =>
    readsOrders(request) ? change((one) => ({ ...one, note: brand.key })) : undefined;
  const { code, err, out } = await brand.run("sync orders --verbose");
  expect([code, brand.mirrored()]).toEqual([7, []]);
  expect(out + err).not.toContain(brand.key);
});

test("a sync continues with the other resources if one fails, and exits with code 8", async () => {
  const brand = makeBrand({ history: 20 });
  brand.before = ({ path }) => (path === "/roster" ? { status: 404 } : undefined);
  const { code, err } = await brand.run("sync roster orders content");
  expect(code).toBe(8);
  expect(err).toMatch(/1 of 3 resources failed: .*\/roster/);
  expect(brand.mirrored("content")).toHaveLength(400);
});

test("if the API is unreachable, a sync waits only once, not once per resource", async () => {
  const brand = makeBrand({ history: 20 });
  brand.before = ({ path }) => (path === "/me" ? undefined : "reset");
  const begun = brand.now();
  expect((await brand.run("sync")).code).toBe(6);
  expect(brand.now() - begun).toBeLessThan(11 * 60_000);
});

test("sync --json prints an error to stdout as a JSON object", async () => {
  const { out, code } = await brandWith({ status: 401 }).run("sync orders --json");
  const last = JSON.parse(out.trim().split("\n").at(-1) ?? "");
  expect([code, last.error.code, Object.keys(last.error)]).toEqual([
    4,
    "unauthorized",
    ["code", "message", "hint"],
  ]);
});

import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { measured } from "../support/peak.js";
import { envOf, expectSeen, runAt, sharedSandbox, syncedHome } from "./matrix.js";

/** As large as a body may be, nearly. */
const bodyBytes = 31 * 2 ** 20;
/** What was measured is 180 MB; what was built of such bodies took up to 4 GB. */
const mostMb = 300;

const envelope = (data: string, more = "") => `{"success":true,"data":${data}${more},"_timing":{}}`;
const paged = (data: string, items: number) =>
  envelope(
    data,
    `,"pagination":{"page":1,"per_page":100,"total_items":${items},"total_pages":1,"has_next":false,"has_prev":false}`,
  );
const times = (unit: string, count: number) => `${`${unit},`.repeat(count - 1)}${unit}`;
const flood = (unit: string) => times(unit, Math.floor((bodyBytes - 1_000) / (unit.length + 1)));
const members = (count: number) => Array.from({ length: count }, (_, n) => `"m${n}":${n}`).join(",");
const order = (tail: string) =>
  paged(`[{"id":"o1","order_date":"2026-01-01T00:00:00.000Z","line_items":[],${tail}}]`, 1);

const floods: [name: string, resource: string, body: () => string, says: RegExp][] = [
  ["items that are objects", "orders", () => paged(`[${flood("{}")}]`, 100), /more than 100 items/],
  ["items that are numbers", "orders", () => paged(`[${flood("1")}]`, 100), /more than 100 items/],
  ["items that are arrays", "roster", () => paged(`[${flood("[]")}]`, 100), /more than 100 items/],
  ["items without pages", "gifts", () => envelope(`[${flood("{}")}]`), /more than 200,000 items/],
  [
    "two million items without pages",
    "gifts",
    () => envelope(`[${times('{"id":1}', 2e6)}]`),
    /more than 200,000 items/,
  ],
  ["arrays in one item", "orders", () => order(`"x":[${flood("[]")}]`), /more than 500,000 values/],
  ["line items", "orders", () => order(`"line_items":[${flood("{}")}]`), /more than 500,000 values/],
  ["numbers in one item", "orders", () => order(`"x":[${flood("1.50")}]`), /more than 500,000 values/],
  ["texts in one item", "gifts", () => envelope(`[{"x":[${flood('"ab"')}]}]`), /more than 1,500,000 values/],
  ["values with blanks between", "orders", () => order(`"x":[${flood("1 ")}]`), /more than 500,000 values/],
  [
    "arrays in arrays",
    "orders",
    () => order(`"x":[${flood("[".repeat(90) + "]".repeat(90))}]`),
    /more than 500,000 values/,
  ],
  [
    "days of clicks",
    "analytics-clicks",
    () => envelope(`{"summary":{},"timeseries":[${flood("{}")}],"top_hosts":[],"top_products":[]}`),
    /more than 1,500,000 values/,
  ],
  ["members of the envelope", "orders", () => `{${members(1.5e6)}}`, /more than 10,000 members/],
  ["members of one item", "orders", () => order(members(1e6)), /more than 10,000 members/],
  ["members of an open record", "gifts", () => envelope(`[{${members(1e6)}}]`), /more than 10,000 members/],
  ["members of the data", "gifts", () => envelope(`{${members(1e6)}}`), /more than 10,000 members/],
  ["digits", "orders", () => order(`"x":${"7".repeat(bodyBytes - 1_000)}`), /more than 1,000 digits/],
  [
    "figures by day",
    "orders",
    () => envelope(`{"timeseries":[${flood("{}")}]}`),
    /analytics\/clicks holds more than 1,500,000 values/,
  ],
];

test.each(floods)(
  "a body full of %s: exit 7, in little memory, and the mirror is as it was",
  async (name, resource, body, says) => {
    const sandbox = await sharedSandbox();
    const home = await syncedHome(sandbox, `sync ${resource}`);
    const path = name === "figures by day" ? "/analytics/clicks" : pathOf(resource);
    const held = countsOf(home);
    const text = body();
    sandbox.intercept = (request) => (request.path === path ? { kind: "raw", body: text } : undefined);

    const { peakMb, ...result } = await measured(["sync", resource, "--max-wait", "0s"], {
      home,
      env: envOf(sandbox, home, sandbox.key),
    });

    expectSeen({ ...result, code: result.code ?? -1, home }, { code: 7, says }, [sandbox.key]);
    expect(peakMb).toBeLessThan(mostMb);
    expect(countsOf(home)).toEqual(held);
  },
);

/** Honest answers, larger than any that was ever seen. */
const numbered = <One>(count: number, one: (n: number) => One) =>
  Array.from({ length: count }, (_, n) => one(n));
const lineItem = { title: "Shoe", variant_title: "Red, 42", sku: "S-1", quantity: 1, price: 12.5 };
const heavy: [name: string, resource: string, path: string, rows: number, body: () => string][] = [
  [
    "100 orders of 100 line items each",
    "orders",
    "/orders",
    100,
    () =>
      paged(
        JSON.stringify(
          numbered(100, (n) => ({
            id: `o${n}`,
            order_date: "2026-01-01T00:00:00.000Z",
            line_items: numbered(100, () => lineItem),
          })),
        ),
        100,
      ),
  ],
  ["an order of 900 members", "orders", "/orders", 1, () => order(members(900))],
  [
    "30,000 codes of 20 members without pages",
    "codes",
    "/codes",
    30_000,
    () =>
      envelope(
        JSON.stringify(
          numbered(30_000, (n) => ({
            id: `c${n}`,
            ...Object.fromEntries(numbered(19, (m) => [`member_${m}`, `value ${n}`])),
          })),
        ),
      ),
  ],
  [
    "a survey whose results have 20,000 rows",
    "surveys",
    "/surveys",
    1,
    () =>
      envelope(JSON.stringify([{ id: "s1", answers: numbered(20_000, (n) => ({ n, share: n / 20_000 })) }])),
  ],
];

test.each(heavy)("%s are no flood: all are mirrored", async (_, resource, path, rows, body) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const text = body();
  sandbox.intercept = (request) => {
    if (request.path.endsWith("/results")) return { kind: "raw", body: envelope("{}") };
    return request.path === path ? { kind: "raw", body: text } : undefined;
  };
  const result = await runAt(sandbox, home, `sync ${resource}`);
  expectSeen(result, { code: 0, moves: true }, [sandbox.key]);
  const db = new Sqlite(join(home, "mirror.sqlite"), { readonly: true });
  const count = db.prepare("SELECT count(*) FROM records WHERE resource = ?").pluck().get(resource);
  db.close();
  expect(count).toBe(rows);
});

function pathOf(resource: string): string {
  return `/${resource.replace("analytics-", "analytics/")}`;
}

test("an undocumented list whose pages hold 150,000 records each is read whole", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const page = (number: number) => {
    const records = numbered(150_000, (n) => `{"id":${number * 150_000 + n}}`);
    const pagination = `"page":${number},"per_page":150000,"total_items":300000,"total_pages":2,"has_next":${number === 1},"has_prev":${number === 2}`;
    return envelope(`[${records.join(",")}]`, `,"pagination":{${pagination}}`);
  };
  sandbox.intercept = ({ path, query }) => {
    if (path !== "/gifts") return undefined;
    if (query.has("per_page")) return { kind: "status", status: 400 };
    return { kind: "raw", body: page(Number(query.get("page") ?? 1)) };
  };
  const result = await runAt(sandbox, home, "sync gifts --quiet");
  expectSeen(result, { code: 0, moves: true }, [sandbox.key]);
  expect(countsOf(home).records).toEqual([["gifts", 300_000, expect.any(Number)]]);
});

/** What the mirror holds. */
function countsOf(home: string) {
  const path = join(home, "mirror.sqlite");
  const db = new Sqlite(path, { readonly: true });
  try {
    const records = db
      .prepare("SELECT resource, count(*), sum(length(json)) FROM records GROUP BY 1")
      .raw()
      .all();
    const notices = db.prepare("SELECT count(*) FROM notices").pluck().get();
    return { records, notices };
  } finally {
    db.close();
  }
}

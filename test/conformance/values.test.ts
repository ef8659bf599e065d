import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { type FakeApi, type FakeRecords, fakeApi } from "../support/fake-api.js";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";

const order = (id: string, rest: string) =>
  `{"id":"${id}","order_date":"2026-11-01T10:00:00Z","currency":"EUR","is_cancelled":false,"is_refunded":false,"host":null,"line_items":[],${rest}}`;

/** Syncs from an API that sends these exact texts: the records of its lists, and what other paths answer with. */
async function synced(
  records: Partial<Record<keyof FakeRecords, string[]>>,
  resource: string,
  answers: FakeApi["answers"] = {},
) {
  const api = fakeApi(records as Partial<FakeRecords>);
  Object.assign(api.answers, answers);
  const home = makeHome();
  const db = join(home, "mirror.sqlite");
  const env = {
    BRANDAPI_BASE_URL: api.baseUrl,
    BRANDAPI_KEY: api.key,
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: db,
  };
  const run = (command: string) => brandapi(command, { home, env, fetch: api.fetch });
  const result = await run(`sync ${resource}`);
  const rows = (query: string) => {
    const mirror = new Sqlite(db, { readonly: true });
    try {
      return mirror.prepare(query).raw().all();
    } finally {
      mirror.close();
    }
  };
  return { result, run, rows, api };
}

test("amounts and rates come back as they were sent, to the last digit", async () => {
  const { result, run } = await synced(
    {
      orders: [
        order("o1", '"total_amount":12.50,"commission_rate":10.0,"refund_amount":0.10'),
        order("o2", '"total_amount":1234567890123456.78,"commission_rate":1e1,"refund_amount":-0'),
      ],
    },
    "orders",
  );
  expect(result.code).toBe(0);
  const { out } = await run("export orders --csv --columns id,total_amount,commission_rate,refund_amount");
  expect(out.split("\n").slice(1).sort()).toEqual([
    "",
    "o1,12.50,10.0,0.10",
    "o2,1234567890123456.78,1e1,-0",
  ]);
  const json = await run("export orders --ndjson");
  expect(json.out).toContain('"total_amount":12.50,"commission_rate":10.0,"refund_amount":0.10');
});

test("integers beyond 2^53 stay exact, as ids and as values", async () => {
  const items = ["9007199254740992", "9007199254740993"].map(
    (id) => `{"id":${id},"uses":9007199254740993,"rate":0.10}`,
  );
  const { result, rows, run } = await synced({ codes: items }, "codes");
  expect(result.code).toBe(0);
  expect(rows("SELECT key FROM records ORDER BY key")).toEqual([["9007199254740992"], ["9007199254740993"]]);
  const { out } = await run("export codes --csv --columns id,uses,rate");
  expect(out.split("\n").slice(1).sort()).toEqual([
    "",
    "9007199254740992,9007199254740993,0.10",
    "9007199254740993,9007199254740993,0.10",
  ]);
  const json = await run("export codes --ndjson");
  expect(json.out.trim().split("\n").sort()).toEqual(items);
});

test("a field of another type is kept in the record, null in its column, and warned about once", async () => {
  const { result, rows, run } = await synced(
    {
      orders: [
        order("o1", '"total_amount":"12.50","is_x":1').replace('"host":null', '"host":"someone"'),
        order("o2", '"total_amount":"13.50"').replace('"currency":"EUR"', '"currency":{"code":"EUR"}'),
        order("o3", '"total_amount":3').replace('"line_items":[]', '"line_items":{"a":1}'),
        order("o4", '"total_amount":4').replace('"line_items":[]', '"line_items":[7,{"title":8}]'),
      ],
    },
    "orders",
  );
  expect(result.code).toBe(0);
  expect(rows("SELECT id, total_amount, currency, host_id FROM orders ORDER BY id")).toEqual([
    ["o1", null, "EUR", null],
    ["o2", null, null, null],
    ["o3", 3, "EUR", null],
    ["o4", 4, "EUR", null],
  ]);
  const { out } = await run("export orders --json");
  expect(JSON.parse(out)).toContainEqual(
    expect.objectContaining({ id: "o1", total_amount: "12.50", host: "someone" }),
  );
  const warnings = result.err.split("\n").filter((line) => line.startsWith("warning:"));
  expect(warnings.filter((line) => line.includes("orders.total_amount"))).toHaveLength(1);
  expect(warnings.filter((line) => line.includes("orders.currency"))).toHaveLength(1);
  expect(warnings.filter((line) => line.includes("order_line_items"))).toHaveLength(3);
  expect(warnings.filter((line) => line.includes("orders.host"))).toHaveLength(1);
  const again = await run("sync orders --full");
  expect(again.err).not.toContain("warning");
});

test("text with a NUL, lone surrogates or odd member names is kept as it was sent", async () => {
  const items = [
    '{"id":"a","note":"x\\u0000y","__proto__":{"z":1},"constructor":2,"lone":"\\ud800"}',
    '{"id":"b","":1,"with space":2,"SELECT":3}',
  ];
  const { result, run } = await synced({ gifts: items }, "gifts");
  expect(result.code).toBe(0);
  const { out } = await run("export gifts --ndjson");
  expect(out.trim().split("\n").sort()).toEqual(items);
});

test("records without an id are kept by their place, and a list that shrinks loses the last places", async () => {
  const gifts = ['{"kind":"a"}', '{"kind":"b"}', '"just text"', "7"];
  const { result, rows, run } = await synced({ gifts }, "gifts");
  expect(result.code).toBe(0);
  expect(rows("SELECT key, json FROM records ORDER BY key")).toEqual([
    ["#0", '{"kind":"a"}'],
    ["#1", '{"kind":"b"}'],
    ["#2", '"just text"'],
    ["#3", "7"],
  ]);
  gifts.pop();
  expect((await run("sync gifts")).code).toBe(0);
  expect(rows("SELECT key FROM records WHERE removed_at IS NOT NULL")).toEqual([["#3"]]);
});

test("a survey's results that come as a list, or in pages, are all kept, keyed by the survey", async () => {
  const first = Array.from({ length: 60 }, (_, n) => `{"id":${n},"share":0.5}`);
  const { result, rows, run } = await synced({ surveys: ['{"id":1}', '{"id":2}', '{"id":3}'] }, "surveys", {
    "/surveys/1/results": first,
    "/surveys/2/results": ['{"question":"a"}', '{"question":"b"}'],
    "/surveys/3/results": '{"questions":[{"id":"q"}]}',
  });
  expect(result.code, result.err).toBe(0);
  expect(rows("SELECT survey_id, count(*) FROM survey_results GROUP BY 1 ORDER BY 1")).toEqual([
    ["1", 60],
    ["2", 2],
    ["3", 1],
  ]);
  first.pop();
  expect((await run("sync surveys")).code).toBe(0);
  expect(rows("SELECT count(*) FROM survey_results WHERE removed_at IS NULL")).toEqual([[62]]);
});

test("a list in pages that changes once while it is read is read again, not given up", async () => {
  const items = Array.from({ length: 60 }, (_, n) => `{"id":${n}}`);
  const api = fakeApi({ codes: items });
  let requests = 0;
  const home = makeHome();
  const env = { BRANDAPI_BASE_URL: api.baseUrl, BRANDAPI_KEY: api.key, BRANDAPI_RATE_LIMIT: "none" };
  const { code, err } = await brandapi("sync codes", {
    home,
    env,
    fetch: async (url, init) => {
      requests += 1;
      const response = await api.fetch(url, init);
      if (requests !== 3) return response;
      const text = (await response.text()).replace('"total_items":60', '"total_items":59');
      return new Response(text, response);
    },
  });
  expect(code, err).toBe(0);
});

test("nulls wherever the document allows them crash nothing and are no complaint", async () => {
  const listed =
    '{"id":"c1","title":"T","status":"ACTIVE","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","payment":null,"attachments":[{"url":null,"filename":null}],"content_types":[],"category":[],"assignment_counts":{},"description":null,"deadline":null';
  const { result, rows } = await synced(
    {
      orders: [
        order("o1", '"total_amount":null,"product":null,"gear_list":null,"refund_amount":null')
          .replace('"EUR"', "null")
          .replace("[]", '[{"title":null,"quantity":null,"price":null}]'),
      ],
      roster: [
        '{"relationship_id":"r1","host":{"id":"h1","username":null,"socials":null},"status":"active","commission_rate":10,"joined_at":"2026-01-01T00:00:00Z","activated_at":null,"campaigns":null}',
      ],
      recommendations: ['{"host":{"id":"h1","motto":null},"product_count":0,"products":[]}'],
      opportunities: [`${listed}}`],
      content: [
        '{"id":"f1","source":"upload","media_type":"image","filename":null,"created_at":"2026-01-01T00:00:00Z","uploaded_by":"brand","host":null,"opportunity":null,"deliverable":null,"download_path":"/x"}',
      ],
      hosts: ['{"host":null,"clicks":1,"sales":0}', '{"host":null,"clicks":1,"sales":0}'],
    },
    "orders roster recommendations opportunities content analytics-clicks analytics-hosts",
    {
      "/opportunities/c1": `${listed},"deliverables":[{"id":"d","title":"t","due_date":null}],"assignments":[{"id":"a","status":"READY","host":null,"brand_payment_state":null}]}`,
      "/analytics/clicks":
        '{"summary":{"orders":0},"timeseries":[{"date":"2026-11-01","orders":0}],"top_hosts":[{"host":null}],"top_products":[]}',
    },
  );
  expect(result.code, result.err).toBe(0);
  expect(result.err).not.toContain("warning");
  for (const table of [
    "order_line_items",
    "roster",
    "recommendations",
    "opportunity_assignments",
    "content",
    "opportunity_deliverables",
  ])
    expect(rows(`SELECT count(*) FROM ${table}`), table).toEqual([[1]]);
  expect(rows("SELECT count(*) FROM analytics_hosts")).toEqual([[2]]);
});

import { expect, test } from "vitest";
import { encodeObjects } from "../../src/export/json.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import fc from "../support/property.js";

async function exported(path: string, ...args: string[]): Promise<string> {
  const run = await brandapi(["export", ...args, "--db", path]);
  expect(run.err).toBe("");
  expect(run.code).toBe(0);
  return run.out;
}

test("JSON and NDJSON contain each record as returned by the API, including unknown fields at any depth", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 10 }),
      async (extras) => {
        const mirror = await makeMirror();
        const records = extras.map((extra, n) =>
          anOrder(n, { ...(extra as object), id: `order-${n}`, extra: extra as never }),
        );
        writeRead(mirror, "orders", records);
        mirror.db.close();
        expect(JSON.parse(await exported(mirror.path, "orders", "--json"))).toEqual(
          JSON.parse(JSON.stringify(records)),
        );
        const lines = (await exported(mirror.path, "orders", "--ndjson")).split("\n").slice(0, -1);
        expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(records)));
      },
    ),
    { numRuns: 25 },
  );
});

test("a JSON export is a single array, even for a large or empty table", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "roster", [], { whole: true });
  expect(await exported(mirror.path, "roster", "--json")).toBe("[]\n");
  expect(await exported(mirror.path, "roster", "--ndjson")).toBe("");
  const records = Array.from({ length: 2_500 }, (_, n) => anOrder(n));
  writeRead(mirror, "orders", records);
  mirror.db.close();
  expect(JSON.parse(await exported(mirror.path, "orders", "--json"))).toEqual(records);
  expect(await exported(mirror.path, "orders", "--json", "--where", "id IN (SELECT id FROM orders)")).toBe(
    await exported(mirror.path, "orders", "--json"),
  );
});

test("a JSON export with --columns contains only the selected columns, with booleans, numbers and nested JSON", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { total_amount: 12.5 })]);
  writeRead(mirror, "opportunities", [
    {
      text: '{"id":"o","category":["a","b"],"assignment_counts":{"ACTIVE":2},"payment":{"flatFee":100,"bonuses":[{"at":1.5}]}}',
    },
  ]);
  mirror.db.close();
  expect(
    await exported(
      mirror.path,
      "orders",
      "--ndjson",
      "--columns",
      "total_amount,is_cancelled,host_id,product_id",
    ),
  ).toBe('{"total_amount":12.5,"is_cancelled":false,"host_id":"host-1","product_id":null}\n');
  expect(
    await exported(
      mirror.path,
      "opportunities",
      "--ndjson",
      "--columns",
      "category,assignment_counts,payment_flatFee,payment_bonuses,title",
    ),
  ).toBe(
    '{"category":["a","b"],"assignment_counts":{"ACTIVE":2},"payment_flatFee":100,"payment_bonuses":[{"at":1.5}],"title":null}\n',
  );
});

test("a JSON export preserves the types of undocumented columns", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "codes", [
    { text: '{"id":"1","live":true,"value":10.5,"note":"x"}' },
    { text: '{"id":"2","live":1,"value":"10.50","note":5}' },
    { text: '{"id":"3","live":"[1]","value":2,"note":"true"}' },
  ]);
  mirror.db.close();
  expect(await exported(mirror.path, "codes", "--ndjson", "--columns", "live,value,note")).toBe(
    '{"live":1,"value":10.5,"note":"x"}\n{"live":1,"value":"10.50","note":5}\n{"live":"[1]","value":2,"note":"true"}\n',
  );
});

const values = [
  [1, "boolean", "true"],
  [0, "boolean", "false"],
  [2, "boolean", "true"],
  [null, "boolean", "null"],
  [null, "json", "null"],
  ['{"a": [1]}', "json", '{"a": [1]}'],
  ["{cut", "json", '"{cut"'],
  ["[1]", "text", '"[1]"'],
  [9_007_199_254_740_993n, "any", "9007199254740993"],
  [1.5, "number", "1.5"],
] as const;

test.each(values.map(([value, type, json]) => [String(value), type, json, value] as const))(
  "a JSON export writes the stored value `%s` of a column of type `%s` as `%s`",
  (_, type, json, value) => {
    const columns = [{ name: 'a"b', type, about: "" }];
    const source = { name: "t", columns, batches: () => [[[value]]] };
    expect([...encodeObjects(source)]).toEqual([[`{"a\\"b":${json}}`]]);
  },
);

test("a JSON export contains one object per row for child tables and monthly clicks, and complete records for survey results", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [
    anOrder(1, { line_items: [{ title: "a", quantity: 2, price: 1.5 }, { title: "b" }] }),
  ]);
  writeRead(
    mirror,
    "analytics-clicks",
    [
      {
        summary: { total_clicks: 5 },
        timeseries: [{ date: "2026-10-01", total_clicks: 5 }],
        top_hosts: [],
        top_products: [],
      },
    ],
    { parameters: { period_start: "2026-10-01", period_end: "2026-10-31", group_by: "day", host_id: null } },
  );
  writeRead(mirror, "survey-results", [{ id: "r", answers: [1, 2] }], { parameters: { survey_id: "s" } });
  mirror.db.close();
  const items = JSON.parse(await exported(mirror.path, "order_line_items", "--json"));
  expect(items).toMatchObject([
    { order_id: "order-1", position: 0, title: "a", quantity: 2, price: 1.5, sku: null },
    { order_id: "order-1", position: 1, title: "b", quantity: null },
  ]);
  const [month] = JSON.parse(await exported(mirror.path, "analytics-clicks-periods", "--json"));
  expect(month).toMatchObject({ period_start: "2026-10-01", group_by: "day", total_clicks: 5 });
  expect(month).not.toHaveProperty("timeseries");
  expect(JSON.parse(await exported(mirror.path, "survey_results", "--json"))).toEqual([
    { id: "r", answers: [1, 2] },
  ]);
});

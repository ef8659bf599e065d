import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { flat, type Row } from "./flat.js";
import { grown } from "./grown.js";

function served({ data }: TestBrand): Record<string, readonly Row[]> {
  const surveys = data.surveys.map(({ id }) => ({ survey_id: id, ...(data.results[id] as Row) }));
  const { orders, roster, recommendations, opportunities, content, gifts, codes } = data;
  const lists = { orders, roster, recommendations, opportunities, content, gifts, codes };
  return { ...lists, surveys: data.surveys, "survey-results": surveys };
}

function sorted(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

async function expectFaithful(brand: TestBrand): Promise<void> {
  for (const [table, records] of Object.entries(served(brand))) {
    const { out } = await brand.run(`export ${table} --ndjson`);
    const exported = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
    expect([table, exported.length]).toEqual([table, records.length]);
    expect(sorted(exported)).toEqual(sorted(records));
  }
}

test("an export after one sync contains all records as the API returns them, and a second sync changes nothing", async () => {
  const brand = makeBrand({ history: 120, listLimit: 40 });
  const first = await brand.run("sync");
  expect([first.code, first.err.includes("warning")]).toEqual([0, false]);
  await expectFaithful(brand);
  const again = await brand.run("sync --json");
  expect(again.code).toBe(0);
  for (const line of again.out.trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ rows_new: 0, rows_removed: 0, verified: true });
  expect(brand.sql("SELECT * FROM changes")).toEqual([]);
});

/** The child tables, each with the list and field that contain its rows, and the columns that identify the parent record. */
const children: [table: string, list: string, member: string, parent: Row][] = [
  ["order_line_items", "orders", "line_items", { order_id: "id" }],
  ["recommendation_products", "recommendations", "products", { host_id: "host.id" }],
  ["opportunity_deliverables", "opportunities", "deliverables", { opportunity_id: "id" }],
  ["opportunity_assignments", "opportunities", "assignments", { opportunity_id: "id" }],
  ["opportunity_attachments", "opportunities", "attachments", { opportunity_id: "id" }],
];
const own = new Set(["synced_at", "removed_at", "record_id", "row_id", "day", "month", "position"]);
const isOwn = (name: string) => own.has(name) || name.endsWith("_utc");

test("the mirror has a column for each field of the API, and each column contains the values that the API returned", async () => {
  const brand = makeBrand({ history: 300, listLimit: 60 });
  await brand.run("sync");
  const records = served(brand);
  const expected = Object.entries(records).map(
    ([name, rows]) => [name.replace("-", "_"), rows.map(flat)] as const,
  );
  for (const [table, list, member, parent] of children) {
    const rows = (records[list] ?? []).flatMap((record) => {
      const [[column = "", from = ""] = []] = Object.entries(parent);
      const key = from === "host.id" ? (record.host as Row).id : record[String(from)];
      return (record[member] as Row[]).map((item) => ({ ...flat(item), [column]: key }));
    });
    expected.push([table, rows]);
  }
  for (const [table, rows] of expected) {
    const found = brand.sql<Row>(`SELECT * FROM ${table}`);
    const columns = Object.keys(found[0] ?? {}).filter((name) => !isOwn(name));
    const cut = (row: Row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null]));
    expect([table, sorted(found.map(cut))]).toEqual([table, sorted(rows.map(cut))]);
    const empty = columns.filter((name) => found.every((row) => row[name] === null));
    expect([table, empty]).toEqual([table, []]);
  }
});

type Data = Row[] & { summary: Row; timeseries: Row[]; top_hosts: Row[] };

function columns(row: Row): Row {
  const { host: _, ...rest } = flat(row);
  return rest;
}

test("each month's clicks and the host ranking are stored as the API returns them", async () => {
  const brand = makeBrand({ history: 60 });
  await brand.run("sync analytics-clicks analytics-hosts");
  const ask = async (path: string) => {
    const headers = { authorization: `Bearer ${brand.key}` };
    const { body } = await brand.fetch(`${brand.env.BRANDAPI_BASE_URL}${path}`, { headers });
    return ((await json(body as AsyncIterable<Uint8Array>)) as { data: Data }).data;
  };
  const october = await ask("/analytics/clicks?start_date=2026-10-01&end_date=2026-10-31&limit=100");
  const [month] = brand.sql<Row>("SELECT * FROM analytics_clicks_periods WHERE period_start = '2026-10-01'");
  expect(month).toMatchObject(october.summary);
  const days = brand.sql<Row>(
    "SELECT * FROM analytics_clicks WHERE period_start = '2026-10-01' ORDER BY date",
  );
  expect(days).toMatchObject(october.timeseries);
  const top = brand.sql<Row>(
    "SELECT * FROM analytics_clicks_top_hosts WHERE period_start = '2026-10-01' ORDER BY position",
  );
  expect(top).toMatchObject(october.top_hosts.map(columns));
  const rows = [
    ...(await ask("/analytics/hosts?per_page=100")),
    ...(await ask("/analytics/hosts?per_page=100&page=2")),
  ];
  expect(brand.sql<Row>("SELECT * FROM analytics_hosts ORDER BY position")).toMatchObject(rows.map(columns));
});

test("unknown fields and enum values are stored at any depth, and reported only once", async () => {
  const brand = makeBrand({ history: 60, listLimit: 20 });
  grown(brand.data);
  const first = await brand.run("sync");
  expect(first.code).toBe(0);
  await expectFaithful(brand);
  const notes = first.err.split("\n").filter((line) => line.includes("the API sends a new field"));
  for (const name of [
    "orders: the API sends a new field `line_items.x_later_1`",
    "opportunities: the API sends a new field `assignments.host.x_later_2`",
  ])
    expect(notes).toContain(`${name}, which is included in JSON exports`);
  expect(new Set(notes).size).toBe(notes.length);
  expect((await brand.run("sync --full")).err).not.toContain("new field");
  expect(await brand.run("sync orders --quiet")).toMatchObject({ code: 0, out: "", err: "" });
});

test.each([
  ["paginated", "string", "paged"],
  ["paginated", "number", "paged"],
  ["unpaginated", "string", "complete"],
  ["unpaginated", "number", "complete"],
] as const)(
  "%s gifts, codes and surveys whose IDs are of type %s are stored completely, and a second sync adds no records",
  async (_, kind, undocumentedLists) => {
    const brand = makeBrand({ history: 10, variants: { undocumentedLists } });
    const { data } = brand;
    const id = (n: number) => (kind === "number" ? n + 1 : `id-${n}`);
    data.results = Object.fromEntries(data.surveys.map((one, n) => [id(n), data.results[String(one.id)]]));
    for (const list of ["gifts", "codes", "surveys"] as const)
      data[list] = data[list].map((record, n) => ({ ...record, id: id(n) }));
    for (const rows of [64, 0]) {
      const { code, requests } = await brand.run("sync gifts codes surveys");
      expect(code).toBe(0);
      // Unpaginated lists reject the `page` parameter with status 400.
      expect(requests.filter(({ status }) => ![200, 400].includes(status))).toEqual([]);
      expect(brand.lastRun("gifts").rows_new).toBe(rows);
    }
    for (const list of ["gifts", "codes", "surveys"] as const)
      expect(
        sorted(
          brand
            .sql<{ json: string }>("SELECT json FROM records WHERE resource = ?", list)
            .map(({ json }) => JSON.parse(json)),
        ),
      ).toEqual(sorted(data[list]));
  },
);

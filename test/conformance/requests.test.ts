import { expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { brandForTest } from "../scenarios/brand.js";
import type { FakeRecords } from "../support/fake-api.js";
import { at, day, hour, nights, noon, ordersBefore } from "../support/nights.js";
import { measureRequests, requestTable } from "./requests.js";

test("a second sync changes nothing, and both send few requests: the table of the README", async () => {
  const brand = await brandForTest({ orders: 2_400 });
  const costs = await measureRequests(brand);
  expect(
    brand.sql(
      `SELECT resource, rows_new, rows_changed, rows_removed FROM sync_runs r
       WHERE run_id = (SELECT max(run_id) FROM sync_runs WHERE resource = r.resource)
         AND rows_new + rows_changed + rows_removed > 0
         -- A day more of clicks.
         AND resource NOT LIKE 'analytics-%'`,
    ),
  ).toEqual([]);
  expect(`\n${requestTable(costs)}\n`).toMatchInlineSnapshot(`
    "
    | resource | first sync | least | second sync | least |
    | --- | ---: | ---: | ---: | ---: |
    | \`orders\` | 28 | 24 | 10 | 2 |
    | \`roster\` | 2 | 2 | 2 | 2 |
    | \`recommendations\` | 1 | 1 | 1 | 1 |
    | \`opportunities\` | 47 | 47 | 36 | 36 |
    | \`content\` | 6 | 4 | 6 | 1 |
    | \`analytics-clicks\` | 26 | 25 | 3 | 2 |
    | \`analytics-hosts\` | 2 | 2 | 2 | 2 |
    | \`gifts\` | 2 | 1 | 2 | 1 |
    | \`codes\` | 2 | 1 | 2 | 1 |
    | \`surveys\` | 10 | 10 | 10 | 10 |
    | all | 126 | 117 | 74 | 58 |
    "
  `);
});

const page = (count: number, make: (n: number) => JsonObject) =>
  Array.from({ length: count }, (_, n) => make(n));

test.each<[string, string, Partial<FakeRecords>, string[]]>([
  [
    "a roster of four pages is four requests",
    "roster",
    { roster: page(350, (n) => ({ relationship_id: `r${n}`, host: { id: `h${n}` } })) },
    ["/roster 1", "/roster 2", "/roster 3", "/roster 4"],
  ],
  [
    "content of three pages is its window and a count",
    "content",
    {
      content: page(280, (n) => ({
        id: `c${n}`,
        source: "upload",
        media_type: "image",
        created_at: at(noon - n * 2 * day),
        host: null,
      })),
    },
    ["/content 1", "/content 1 of one"],
  ],
  [
    "orders of twenty pages are their window, the figures and three counts",
    "orders",
    { orders: ordersBefore(noon, 2_000, 12 * hour) },
    ["/analytics/clicks", "/orders 1", "/orders 1 of one", "/orders 1 of one", "/orders 1 of one"],
  ],
])("a quiet night, without the audit: %s", async (_, resource, records, requests) => {
  const brand = await nights(records);
  await brand.sync(resource);
  brand.pass(day);
  const { asked, verified } = await brand.sync(resource, { audit: 0 });
  expect(verified).toBe(true);
  expect(
    asked.map(({ path, query }) =>
      [path, query.page, query.per_page === "1" ? "of one" : undefined].filter(Boolean).join(" "),
    ),
  ).toEqual(requests);
});

test("a first sync takes one request in a hundred more than its pages, and a few", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 10_000, 2 * hour) });
  const { requests, verified } = await brand.sync();
  expect(verified).toBe(true);
  expect(requests).toBeLessThanOrEqual(100 * 1.02 + 8);
});

import { expect, test } from "vitest";
import { brandForTest } from "../scenarios/brand.js";
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
    | \`orders\` | 28 | 24 | 12 | 2 |
    | \`roster\` | 3 | 2 | 3 | 2 |
    | \`recommendations\` | 1 | 1 | 1 | 1 |
    | \`opportunities\` | 47 | 47 | 36 | 36 |
    | \`content\` | 7 | 4 | 7 | 1 |
    | \`analytics-clicks\` | 26 | 25 | 2 | 2 |
    | \`analytics-hosts\` | 2 | 2 | 2 | 2 |
    | \`gifts\` | 2 | 1 | 2 | 1 |
    | \`codes\` | 2 | 1 | 2 | 1 |
    | \`surveys\` | 10 | 10 | 10 | 10 |
    | all | 128 | 117 | 77 | 58 |
    "
  `);
});

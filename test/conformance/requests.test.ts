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
         AND rows_new + rows_changed + rows_removed > 0`,
    ),
  ).toEqual([]);
  expect(`\n${requestTable(costs)}\n`).toMatchInlineSnapshot();
});

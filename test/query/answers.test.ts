import { expect, test } from "vitest";
import { pageQueries } from "../../bin/docs/example-queries.js";
import { makeBrand } from "../support/brand.js";
import { day } from "../support/records.js";

/** Creates a brand with two months that changed after they were reported, and a sync in the current month. */
async function aBrand() {
  const brand = makeBrand({ history: 500, seed: 11, now: Date.now() - 75 * day });
  expect((await brand.run("sync")).code).toBe(0);
  brand.pass(35 * day);
  expect((await brand.run("sync --full")).code).toBe(0);
  const [refunded, cancelled, ...others] = brand.data.orders.filter(
    ({ is_cancelled, refund_amount, total_amount }) =>
      is_cancelled === false && refund_amount === 0 && typeof total_amount === "number" && total_amount > 20,
  );
  for (const order of [refunded, ...others.slice(0, 20)]) brand.refund(String(order?.id), 5);
  brand.cancel(String(cancelled?.id));
  for (let days = 0; days < 40; days += 1) brand.order({}, brand.now() + days * day);
  brand.join();
  brand.pass(40 * day);
  expect((await brand.run("sync --full")).code).toBe(0);
  return brand;
}

test("each documented example query is a SELECT statement of at most three lines that returns rows", async () => {
  const brand = await aBrand();
  for (const { question, sql } of pageQueries) {
    expect(sql.split("\n").length).toBeLessThanOrEqual(3);
    const { code, out } = await brand.run(["query", sql, "--json"]);
    const rows = JSON.parse(out) as Record<string, unknown>[];
    expect([question, code, rows.length > 0]).toEqual([question, 0, true]);
  }
});

import { expect, test } from "vitest";
import { PlanLacksData } from "../../src/errors.js";
import { readCoverage } from "../../src/mirror/coverage.js";
import { orders } from "../../src/resources/orders.js";
import { syncResource } from "../../src/sync/engine.js";
import { rows } from "../mirror/mirror.js";
import { accessTo, list, mirrored } from "./access.js";
import { listApi } from "./list-api.js";

test("a range of more than 10,000 pages is split by date: no page beyond the API's last is asked for", async () => {
  const api = listApi(list(10_400));
  const access = await accessTo(api, { pageSize: 1 });
  const { run, error } = await syncResource(access, orders);
  expect(error).toBeNull();
  expect(run).toMatchObject({ outcome: "done", rows_new: 10_400 });
  expect(Math.max(...api.asked.map(({ page }) => Number(page)))).toBeLessThanOrEqual(10_000);
  expect(mirrored(access)).toHaveLength(10_400);
  // One count for each part, and the newest order of a part once more: half a per cent each.
  expect(run.requests).toBeLessThan(10_400 * 1.02);
});

test.each([1, 2, 3, 5, 7])(
  "parts that end in the middle of orders of one instant lose none (%d an instant)",
  async (perInstant) => {
    const api = listApi(list(97, perInstant));
    const access = await accessTo(api, { pageSize: 4, pagesPerPart: 2 });
    const { run, error } = await syncResource(access, orders);
    expect(error).toBeNull();
    expect(mirrored(access)).toEqual(api.rows.map(({ id }) => String(id)).sort());
    // Nothing was left for the counts to find: no order is read again but those of an instant between two parts.
    expect(run.rows_read).toBeLessThan(97 + 13 * perInstant + 25);
  },
);

test("orders that all bear one date are read in one piece", async () => {
  const api = listApi(list(60, 60));
  const access = await accessTo(api, { pageSize: 4, pagesPerPart: 2 });
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toHaveLength(60);
});

test("a list that is not newest first is read in one piece, and is as complete", async () => {
  const api = listApi(list(60));
  const inOrder = api.get;
  api.get = async (path, query, options) => {
    const all = await inOrder(path, { ...query, page: 1, per_page: 100 }, options);
    if (query?.per_page === 1) return await inOrder(path, query, options);
    const items = [...(all.items ?? [])].sort((a, b) => (a.json < b.json ? -1 : 1));
    const answer = await inOrder(path, query, options);
    const from = (Number(query?.page) - 1) * Number(query?.per_page);
    return { ...answer, items: items.slice(from, from + Number(query?.per_page)) };
  };
  const access = await accessTo(api, { pageSize: 4, pagesPerPart: 2 });
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toHaveLength(60);
  const [first, ...later] = api.asked
    .filter(({ per_page }) => per_page === 4)
    .map(({ end_date }) => end_date);
  expect(later.slice(0, 15)).toEqual(Array(15).fill(first));
});

test("a part in which an order came behind the reader is not claimed before it was read again", async () => {
  const api = listApi(list(80));
  const access = await accessTo(api, { pageSize: 4, pagesPerPart: 5 });
  let pages = 0;
  api.before = ({ per_page }) => {
    if (per_page !== 4) return;
    pages += 1;
    // Newer than what the reader has passed: the count grows, and no page to come shows it.
    if (pages === 4) api.rows = [...api.rows, ...late];
    if (pages === 6) throw new PlanLacksData("the power fails");
  };
  const late = list(1).map((order) => ({
    ...order,
    id: "late",
    order_date: api.rows.at(-1)?.order_date ?? null,
  }));

  const { error } = await syncResource(access, orders);

  expect(String(error)).toContain("the power fails");
  expect(readCoverage(access.mirror, "orders")).toEqual([]);
});

test("a day that a stopped run and the next one read together is known to both", async () => {
  const api = listApi(list(200, 1, 6 * 3_600_000));
  api.figures = true;
  const access = await accessTo(api, { pageSize: 5, pagesPerPart: 5 });
  let pages = 0;
  api.before = ({ per_page }) => {
    if (per_page === 5) pages += 1;
    if (pages === 12) throw new PlanLacksData("the power fails");
  };
  await syncResource(access, orders);
  api.before = undefined;

  const { run } = await syncResource(access, orders);

  expect(run).toMatchObject({ outcome: "done", verified: true });
  expect(readCoverage(access.mirror, "orders").length).toBeGreaterThan(1);
  expect(rows(access.mirror, "SELECT day FROM tripwires")).toHaveLength(50);
});

test("a part that is disturbed is read again alone, not the whole range", async () => {
  const api = listApi(list(400));
  const access = await accessTo(api, { pageSize: 4, pagesPerPart: 10 });
  let pages = 0;
  api.before = ({ per_page }) => {
    if (per_page === 4) pages += 1;
    if (pages === 55) api.rows = api.rows.filter(({ id }) => id !== "o190");
  };
  const { run, error } = await syncResource(access, orders);
  expect(error).toBeNull();
  expect(mirrored(access)).toEqual(api.rows.map(({ id }) => String(id)).sort());
  expect(run.requests).toBeLessThan(100 + 10 + 30);
});

import { expect, test } from "vitest";
import { PlanLacksData } from "../../src/errors.js";
import { orders } from "../../src/resources/orders.js";
import type { JsonObject } from "../../src/resources/types.js";
import { readCoverage } from "../../src/state/coverage.js";
import { syncResource } from "../../src/sync/engine.js";
import { dayMs } from "../../src/times.js";
import { order, rows } from "../mirror/mirror.js";
import { accessTo, list, listed, mirrored } from "./access.js";
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

test("orders of one instant that come in another order each time are put together from several passes", async () => {
  const api = listApi(list(90, 3));
  // The list is sorted by date; of one date, those that stand first here come first.
  api.before = () => {
    api.rows = api.rows.toReversed();
  };
  const access = await accessTo(api, { pageSize: 4 });
  expect((await syncResource(access, orders)).run).toMatchObject({ verified: true, rows_new: 90 });
  expect(mirrored(access)).toEqual(listed(api));
});

test("orders that all bear one date are read in one piece", async () => {
  const api = listApi(list(60, 60));
  api.before = () => {
    if (api.asked.length > 200) throw new Error("the walk asks for ever");
  };
  const access = await accessTo(api, { pageSize: 4, pagesPerPart: 2 });
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toHaveLength(60);
});

test.each([
  ["oldest first", ({ id }: JsonObject) => Number(String(id).slice(1))],
  ["by id, as a text", ({ id }: JsonObject) => String(id)],
  [
    "newest day first, each from its morning on",
    (order: JsonObject) => fromMorning(String(order.order_date)),
  ],
])("a list in another order is as complete: %s", async (_, placeOf) => {
  const api = listApi(list(60, 1, 3_600_000));
  const inOrder = api.get;
  api.get = async (path, query, options) => {
    if (path !== "/orders" || query?.per_page === 1) return await inOrder(path, query, options);
    const all = await inOrder(path, { ...query, page: 1, per_page: 100 });
    const items = [...(all.items ?? [])].sort((a, b) =>
      placeOf(a.value as JsonObject) < placeOf(b.value as JsonObject) ? -1 : 1,
    );
    const answer = await inOrder(path, query, options);
    const from = (Number(query?.page) - 1) * Number(query?.per_page);
    return { ...answer, items: items.slice(from, from + Number(query?.per_page)) };
  };
  const access = await accessTo(api, { pageSize: 4, pagesPerPart: 2 });
  const { run, error } = await syncResource(access, orders);
  expect(error).toBeNull();
  expect(run.verified).toBe(true);
  expect(mirrored(access)).toEqual(listed(api));
});

function fromMorning(date: string): number {
  const ms = Date.parse(date);
  return (ms % dayMs) - Math.floor(ms / dayMs) * dayMs;
}

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

test("orders that come two at a time behind the reader, again and again, leave parts small enough to settle", async () => {
  const api = listApi(list(400));
  const access = await accessTo(api, { pageSize: 4, pagesPerPart: 10 });
  let pages = 0;
  api.before = ({ per_page, end_date }) => {
    if (per_page !== 4 || pages > 400) return;
    pages += 1;
    // The page to come then begins with orders that are newer than the last one read.
    if (pages % 25 === 15) api.rows = [...api.rows, ...twoBefore(Date.parse(String(end_date)))];
  };
  const twoBefore = (ms: number) =>
    ["a", "b"].map((name) => order(`${name}${pages}`, { order_date: new Date(ms - 1).toISOString() }));

  const { run, error } = await syncResource(access, orders);

  expect(error).toBeNull();
  expect(run.verified).toBe(true);
  expect(mirrored(access)).toEqual(listed(api));
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

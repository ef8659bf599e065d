import { expect, test } from "vitest";
import type { Answer, RequestOptions } from "../../src/api/client.js";
import { analyticsHosts } from "../../src/resources/analytics.js";
import type { JsonObject, Query } from "../../src/resources/types.js";
import { syncResource } from "../../src/sync/engine.js";
import { rows } from "../mirror/mirror.js";
import { accessTo } from "./access.js";
import { answer, listApi } from "./list-api.js";

function hosts(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => ({
    host: { id: `h${n}`, username: null, first_name: null, last_name: null, profile_photo: null },
    clicks: 1,
    buy_now_clicks: 1,
    orders: 1,
    sales: count - n,
  }));
}

/** A page of the ranking as it stands, told of as the client tells. */
async function pageOf(
  ranking: JsonObject[],
  query: Query,
  arrived: RequestOptions["arrived"],
): Promise<Answer> {
  const page = answer(
    ranking.map((row) => ({ row })),
    query,
  );
  await arrived?.(page.pagination);
  return page;
}

test("a ranking that a host leaves while it is read is read again, though its rows are as many as it counts", async () => {
  const api = listApi([]);
  let ranking = hosts(250);
  let asked = 0;
  api.get = async (_path, query = {}, { arrived } = {}) => {
    asked += 1;
    // Of a page already read: the first of the page to come is drawn onto it.
    if (asked === 2) ranking = ranking.filter((_, place) => place !== 10);
    return await pageOf(ranking, query, arrived);
  };
  const access = await accessTo(api);

  const { run, error } = await syncResource(access, analyticsHosts);

  expect(error).toBeNull();
  expect(run.verified).toBe(true);
  const held = rows<{ host_id: string }>(
    access.mirror,
    "SELECT host_id FROM analytics_hosts ORDER BY position",
  );
  expect(held.map(({ host_id }) => host_id)).toEqual(ranking.map(({ host }) => (host as JsonObject).id));
});

test.each([40, 250])("a host with two rows in a ranking of %i that stands still has both", async (count) => {
  const api = listApi([]);
  const ranking = hosts(count);
  ranking[count - 1] = { ...ranking[count - 1], host: ranking[3]?.host ?? null };
  api.get = async (_path, query = {}, { arrived } = {}) => await pageOf(ranking, query, arrived);
  const access = await accessTo(api);

  const { run, error } = await syncResource(access, analyticsHosts);

  expect(error).toBeNull();
  expect(run.verified).toBe(true);
  expect(rows(access.mirror, "SELECT * FROM analytics_hosts WHERE removed_at IS NULL")).toHaveLength(count);
  expect(rows(access.mirror, "SELECT * FROM analytics_hosts WHERE host_id = 'h3'")).toHaveLength(2);
});

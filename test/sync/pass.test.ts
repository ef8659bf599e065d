import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { syncResource } from "../../src/sync/engine.js";
import { rows } from "../mirror/mirror.js";
import { accessTo, list, mirrored } from "./access.js";
import { listApi } from "./list-api.js";

/** Newest first: the fifth page of ten. */
const inFifthPage = "o55";

test("a record without an id leaves its page out, and none of the pages that came with it", async () => {
  const spoiled = list(100).map((order) => (order.id === inFifthPage ? { ...order, id: null } : order));
  const access = await accessTo(listApi(spoiled), { pageSize: 10 });

  const { run, error } = await syncResource(access, orders);

  expect(String(error)).toContain("has no `id`");
  expect(mirrored(access)).toHaveLength(40);
  expect(run).toMatchObject({ outcome: "failed", rows_read: 40, rows_new: 40 });
});

test("after a page that cannot be kept nobody waits for the pages behind it any more", async () => {
  const api = listApi(list(100).map((order) => (order.id === inFifthPage ? { ...order, id: null } : order)));
  const { signal } = new AbortController();
  const waiting = new Set<string>();
  const { get } = api;
  api.get = async (path, query, options) => {
    const page = String(query?.page);
    if (Number(page) > 5) {
      waiting.add(page);
      options?.signal?.addEventListener("abort", () => waiting.delete(page));
    }
    return await get(path, query, options);
  };
  const access = { ...(await accessTo(api, { pageSize: 10 })), signal };

  await syncResource(access, orders);

  expect([...waiting]).toEqual([]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a page that fails in the middle of being written is not half there, and not counted", async () => {
  const api = listApi(list(100));
  const access = await accessTo(api, { pageSize: 10 });
  access.mirror.db.exec(
    `CREATE TRIGGER spoil BEFORE INSERT ON records WHEN NEW.key = '${inFifthPage}' BEGIN SELECT RAISE(ABORT, 'spoilt'); END`,
  );

  await expect(syncResource(access, orders)).rejects.toThrow("spoilt");

  const kept = mirrored(access);
  expect(kept.length % 10).toBe(0);
  expect(kept).not.toContain("o56");
  const [spoilt] = rows<{ rows_read: number }>(access.mirror, "SELECT rows_read FROM sync_runs");
  expect(spoilt?.rows_read).toBe(kept.length);
  access.mirror.db.exec("DROP TRIGGER spoil");
  const { run } = await syncResource(access, orders);
  expect(run).toMatchObject({ outcome: "done", verified: true });
  expect(mirrored(access)).toHaveLength(100);
});

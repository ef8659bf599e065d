import { describe, expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { syncResource } from "../../src/sync/engine.js";
import { order } from "../mirror/mirror.js";
import { accessTo, list, listed, mirrored, start } from "./access.js";
import { listApi } from "./list-api.js";

describe("an answer without any record", () => {
  test.each([1, 5, 20])("removes nothing, however few there were (%d)", async (count) => {
    const api = listApi(list(count));
    const access = await accessTo(api);
    await syncResource(access, orders);
    const before = mirrored(access);
    api.rows = [];

    const { run, error } = await syncResource(access, orders);

    expect(String(error)).toContain(`no longer returns ${count} of ${count} mirrored records`);
    expect(run.outcome).toBe("incomplete");
    expect(mirrored(access)).toEqual(before);
    const accepting = { ...access, options: { ...access.options, acceptRemovals: true } };
    expect((await syncResource(accepting, orders)).error).toBeNull();
    expect(mirrored(access)).toEqual([]);
  });
});

test("nothing is removed while the API's count goes on to differ: who is missing may be among the others", async () => {
  const api = listApi(list(30));
  const access = await accessTo(api);
  await syncResource(access, orders);
  api.rows = api.rows.filter(({ id }) => id !== "o7");
  let counts = 0;
  api.before = ({ per_page }) => {
    if (per_page !== 1) return;
    // Whatever was read, one more has come before it is counted.
    counts += 1;
    api.rows = [...api.rows, order(`late${counts}`, { order_date: "2026-01-01T00:00:30.000Z" })];
  };

  const { run, error } = await syncResource(access, orders);

  expect(String(error)).toContain("does not say that they are gone: nothing was removed");
  expect(run.outcome).toBe("incomplete");
  expect(mirrored(access)).toContain("o7");
  // What stayed undecided is decided when the list stands still.
  api.before = undefined;
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toEqual(listed(api));
});

/** Hours after the first order, as the list has them one an hour. */
const at = (hours: number) => new Date(start + hours * 3_600_000).toISOString();

test.each([
  ["read again, where that is short", 100, 60.5],
  ["counted in parts, where it is long", 2, 20.5],
])(
  "without figures by day, what a run did not read is %s: an order moved there, and another went",
  async (_, pageSize, hours) => {
    const api = listApi(list(200, 1, 3_600_000));
    const access = await accessTo(api, { pageSize, audit: 0 });
    await syncResource(access, orders);
    api.rows = api.rows
      .filter(({ id }) => id !== "o60")
      .map((row) => (row.id === "o150" ? { ...row, order_date: at(hours) } : row));
    const later = { ...access, options: { ...access.options, since: start + 140 * 3_600_000 } };

    const { run, error } = await syncResource(later, orders);

    expect(error).toBeNull();
    expect(run).toMatchObject({ verified: true, rows_removed: 1 });
    expect(mirrored(access)).toEqual(listed(api));
  },
);

test("who is missing is looked for once more where one page holds it, not where many would", async () => {
  const api = listApi(list(40));
  const access = await accessTo(api, { pageSize: 5, audit: 0, full: true });
  await syncResource(access, orders);
  api.rows = api.rows.filter(({ id }) => !["o1", "o2", "o38"].includes(String(id)));
  api.asked.length = 0;

  const { run } = await syncResource(access, orders);

  expect(run).toMatchObject({ verified: true, rows_removed: 3 });
  // The API may keep dates finer than it shows them: a second on either side.
  const looks = api.asked.filter(({ start_date }) => String(start_date).includes(":59.000"));
  expect(looks).toEqual([
    { start_date: "2026-01-01T00:00:59.000Z", end_date: "2026-01-01T00:02:01.001Z", per_page: 5, page: 1 },
    { start_date: "2026-01-01T00:37:59.000Z", end_date: "2026-01-01T00:38:01.001Z", per_page: 5, page: 1 },
  ]);
  expect(mirrored(access)).toEqual(listed(api));
});

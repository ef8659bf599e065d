import { describe, expect, test } from "vitest";
import { silentReporter } from "../../src/reporter.js";
import { orders } from "../../src/resources/orders.js";
import type { JsonObject } from "../../src/resources/types.js";
import { syncResource } from "../../src/sync/engine.js";
import { verifyResource } from "../../src/verify/engine.js";
import { order, rows } from "../mirror/mirror.js";
import { accessTo, list, mirrored, start } from "./access.js";
import { type ListApi, listApi } from "./list-api.js";

const minute = 60_000;
const at = (ms: number) => new Date(ms).toISOString();

describe("the API's filter by state", () => {
  test("that counts something else than its records say is told of once, and spoils no run", async () => {
    const partly = order("partly", { order_date: at(start + 5 * minute), refund_amount: 4 });
    const api = listApi([...list(10), partly]);
    // Here `refunded` selects what was refunded in part as well.
    const selected = listApi([partly]);
    const real = api.get;
    api.get = (path, query = {}, options) =>
      query.status === "refunded"
        ? selected.get(path, { ...query, status: undefined }, options)
        : real(path, query, options);
    const said: string[] = [];
    const access = {
      ...(await accessTo(api)),
      reporter: { ...silentReporter, note: (text: string) => void said.push(text) },
    };

    for (let night = 1; night <= 3; night += 1) {
      const { run, error } = await syncResource(access, orders);
      expect(error).toBeNull();
      expect(run.verified).toBe(true);
    }

    expect(said).toEqual([expect.stringContaining("`refunded` does not count what its records say")]);
  });

  test("that shows on an old order only what it counts spoils no run either", async () => {
    const hour = 60 * minute;
    const api = listApi(list(300, 1, 12 * hour));
    const selected = listApi([]);
    const real = api.get;
    api.get = (path, query = {}, options) =>
      query.status === "refunded"
        ? selected.get(path, { ...query, status: undefined }, options)
        : real(path, query, options);
    const access = await accessTo(api);
    await syncResource(access, orders);
    const partly = (row: JsonObject) => (row.id === "o20" ? { ...row, refund_amount: 4 } : row);
    api.rows = api.rows.map(partly);
    selected.rows = api.rows.filter(({ id }) => id === "o20");

    for (let night = 1; night <= 2; night += 1) {
      const { run, error } = await syncResource(access, orders);
      expect(error).toBeNull();
      expect(run.verified).toBe(true);
    }

    expect(mirroredRefunds(access)).toEqual([4]);
    expect((await verifyResource(access, orders, false)).state).toBe("proven");
  });

  test("that counts what its records say shows a refund that came long after the order", async () => {
    const api = listApi(list(10));
    const access = await accessTo(api);
    await syncResource(access, orders);
    api.rows = api.rows.map((row) => (row.id === "o3" ? { ...row, is_refunded: true } : row));

    const { run, error } = await syncResource(access, orders);

    expect(error).toBeNull();
    expect(run.rows_changed).toBe(1);
  });
});

test("in a mirror that begins in the middle, an old order that no figure shows is found by the count", async () => {
  const api = listApi(list(60));
  speakOnlyOf(api, list(60));
  const access = await accessTo(api);
  const first = { ...access, options: { ...access.options, since: start + 20 * minute } };
  expect((await syncResource(first, orders)).error).toBeNull();
  api.rows = [...api.rows, order("late", { order_date: at(start + 30 * minute) })];

  const { run, error } = await syncResource(access, orders);

  expect(error).toBeNull();
  expect(run.verified).toBe(true);
  const since = api.rows.slice(20).map(({ id }) => String(id));
  expect(mirrored(access)).toEqual(since.sort());
});

function mirroredRefunds({ mirror }: Awaited<ReturnType<typeof accessTo>>): number[] {
  return rows<{ refund_amount: number }>(
    mirror,
    "SELECT refund_amount FROM orders WHERE refund_amount > 0",
  ).map(({ refund_amount }) => refund_amount);
}

/** Lets the API's figures by day be those of some orders, whatever else it lists. */
function speakOnlyOf(api: ListApi, rows: ListApi["rows"]): void {
  const figures = listApi(rows);
  figures.figures = true;
  const real = api.get;
  api.get = (path, query, options) => (path === "/orders" ? real : figures.get)(path, query, options);
}

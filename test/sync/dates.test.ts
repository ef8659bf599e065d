import { describe, expect, test } from "vitest";
import { Stopped } from "../../src/errors.js";
import { silentReporter } from "../../src/reporter.js";
import { orders } from "../../src/resources/orders.js";
import { readCoverage } from "../../src/state/coverage.js";
import type { Access } from "../../src/sync/context.js";
import { syncResource } from "../../src/sync/engine.js";
import { dayMs } from "../../src/times.js";
import { verifyResource } from "../../src/verify/engine.js";
import { order, rows } from "../mirror/mirror.js";
import { accessTo, list, listed, mirrored, start } from "./access.js";
import { listApi } from "./list-api.js";

const now = Date.UTC(2026, 2, 1, 12);
const at = (ms: number) => new Date(ms).toISOString();

async function accessAt(api: ReturnType<typeof listApi>, ms = now): Promise<Access & { said: string[] }> {
  const access = await accessTo(api, { pageSize: 4 });
  const said: string[] = [];
  const reporter = { ...silentReporter, warn: (text: string) => void said.push(text) };
  return { ...access, clock: { ...access.clock, now: () => ms }, reporter, said };
}

function given(access: Access, options: Partial<Access["options"]>): Access {
  return { ...access, options: { ...access.options, ...options } };
}

async function expectDone(access: Access): Promise<void> {
  const { run, error } = await syncResource(access, orders);
  expect(error).toBeNull();
  expect(run.verified).toBe(true);
}

describe("orders dated in the future", () => {
  test("are read, and are kept when the next run finds them again", async () => {
    const api = listApi(list(10));
    api.rows.push(order("tomorrow", { order_date: at(now + dayMs) }));
    const access = await accessAt(api);
    await expectDone(access);
    await expectDone(access);
    expect(mirrored(access)).toEqual(listed(api));
    expect(readCoverage(access.mirror, "orders").every(({ to }) => to <= now)).toBe(true);
  });

  test.each([false, true])(
    "an order that moves there is not taken for removed (figures by day: %s)",
    async (figures) => {
      const api = listApi(list(10));
      api.figures = figures;
      const access = await accessAt(api);
      await expectDone(access);
      api.rows = api.rows.map((row) => (row.id === "o3" ? { ...row, order_date: at(now + 2 * dayMs) } : row));
      await expectDone(given(access, { full: true }));
      expect(mirrored(access)).toEqual(listed(api));
      const [row] = rows<{ order_date: string }>(
        access.mirror,
        "SELECT order_date FROM orders WHERE id = 'o3'",
      );
      expect(row?.order_date).toBe(at(now + 2 * dayMs));
    },
  );

  test("`verify --repair` does not take it for removed either", async () => {
    const api = listApi(list(10));
    const access = await accessAt(api);
    await expectDone(access);
    api.rows = api.rows.map((row) => (row.id === "o3" ? { ...row, order_date: at(now + 2 * dayMs) } : row));
    await verifyResource(access, orders, true);
    expect(mirrored(access)).toEqual(listed(api));
  });

  test("one that is gone is removed, and one that comes back to its day is found there", async () => {
    const api = listApi(list(10));
    api.rows.push(order("a", { order_date: at(now + dayMs) }), order("b", { order_date: at(now + dayMs) }));
    const access = await accessAt(api);
    await expectDone(access);
    api.rows = api.rows
      .filter(({ id }) => id !== "a")
      .map((row) => (row.id === "b" ? { ...row, order_date: at(now - dayMs) } : row));
    await expectDone(access);
    expect(mirrored(access)).toEqual(listed(api));
  });
});

describe("dates finer than a millisecond", () => {
  const fine = () => {
    const api = listApi([
      order("late", { order_date: "2026-01-31T23:59:59.999500Z" }),
      order("next", { order_date: "2026-02-01T00:00:00.000000Z" }),
      order("noon", { order_date: "2026-01-30T12:00:00.000001Z" }),
      ...list(10),
    ]);
    return api;
  };
  const endOfJanuary = Date.UTC(2026, 1, 1) - 1;

  test("at the very end of a range with `--until` settle, and nobody is removed", async () => {
    const access = await accessAt(fine());
    await expectDone(access);
    await expectDone(given(access, { since: Date.UTC(2026, 0, 1), until: endOfJanuary }));
    expect(mirrored(access)).toHaveLength(13);
    expect((await verifyResource(access, orders, false)).state).toBe("proven");
  });

  test("are not lost between a range that ends there and the next one", async () => {
    const api = fine();
    const access = await accessAt(api);
    await expectDone(given(access, { until: endOfJanuary }));
    await expectDone(given(access, { since: endOfJanuary + 1 }));
    expect(access.said).toEqual([]);
    expect(mirrored(access)).toEqual(listed(api));
  });

  test("a late one at the end of a day is found by the counts", async () => {
    const api = fine();
    const access = await accessAt(api);
    await expectDone(access);
    api.rows = [...api.rows, order("late2", { order_date: "2026-01-20T23:59:59.999900Z" })];
    await expectDone(given(access, { windowMs: dayMs, audit: 0 }));
    expect(mirrored(access)).toEqual(listed(api));
  });
});

describe("orders without a date that can be read", () => {
  test.each([
    [null, "everywhere"],
    [null, "apart"],
    ["soon", "everywhere"],
    ["soon", "apart"],
  ] as const)("(%s, listed %s) are kept, told of once, and spoil no count", async (date, undated) => {
    const api = listApi([...list(10), order("x", { order_date: date })]);
    api.undated = undated;
    const access = await accessAt(api);
    await expectDone(access);
    expect(mirrored(access)).toEqual(listed(api));
    await expectDone(access);
    await expectDone(given(access, { full: true, windowMs: dayMs }));
    expect(access.said.filter((text) => text.includes("is no date"))).toHaveLength(1);
    expect((await verifyResource(access, orders, false)).state).toBe("proven");
    // And what else changes is found beside them.
    api.rows = [...api.rows, order("late", { order_date: at(now - 40 * dayMs) })];
    await expectDone(given(access, { windowMs: dayMs, audit: 0 }));
    expect(mirrored(access)).toEqual(listed(api));
  });

  test.each(["everywhere", "apart"] as const)(
    "one that gets its date (listed %s) is no longer without",
    async (undated) => {
      const api = listApi([...list(10), order("x", { order_date: null })]);
      api.undated = undated;
      const access = await accessAt(api);
      await expectDone(access);
      api.rows = api.rows.map((row) => (row.id === "x" ? { ...row, order_date: at(now - 40 * dayMs) } : row));
      await expectDone(access);
      await expectDone(access);
      expect(mirrored(access)).toEqual(listed(api));
    },
  );

  test.each(["everywhere", "apart"] as const)("one that is gone (listed %s) is removed", async (undated) => {
    const api = listApi([
      ...list(10),
      order("x", { order_date: null }),
      order("stays", { order_date: null }),
    ]);
    api.undated = undated;
    const access = await accessAt(api);
    await expectDone(access);
    api.rows = api.rows.filter(({ id }) => id !== "x");
    await expectDone(access);
    expect(mirrored(access)).toEqual(listed(api));
  });

  test("one that is gone among more than two pages show: the run says so, and `--full` removes it", async () => {
    const none = Array.from({ length: 20 }, (_, n) => order(`x${n}`, { order_date: null }));
    const api = listApi([...list(10), ...none]);
    const access = given(await accessAt(api), { pageSize: 4 });
    expect((await syncResource(given(access, { full: true }), orders)).error).toBeNull();
    api.rows = api.rows.filter(({ id }) => id !== "x3");
    const { error } = await syncResource(access, orders);
    expect(String(error)).toContain("lists 19 records without a date and the mirror holds 20");
    expect(mirrored(access)).toContain("x3");
    await expectDone(given(access, { full: true }));
    expect(mirrored(access)).toEqual(listed(api));
  });

  test("one that nobody has read yet is read with `--full`, and a run that has not says so", async () => {
    const none = Array.from({ length: 20 }, (_, n) => order(`x${n}`, { order_date: null }));
    const api = listApi([...list(10), ...none]);
    const access = given(await accessAt(api), { pageSize: 4 });
    const { error } = await syncResource(access, orders);
    expect(String(error)).toContain("lists 20 records without a date");
    await expectDone(given(access, { full: true }));
    expect(mirrored(access)).toEqual(listed(api));
  });
});

test("what a clock that was ahead claimed is taken back as far as it lies beyond now", async () => {
  const api = listApi(list(10));
  await expectDone(await accessAt(api));
  const ahead = await accessAt(api, now + 400 * dayMs);
  await expectDone(ahead);
  const access = { ...ahead, clock: { ...ahead.clock, now: () => now } };
  api.rows = [...api.rows, order("new", { order_date: at(now - dayMs) })];
  await expectDone(access);
  expect(Math.max(...readCoverage(access.mirror, "orders").map(({ to }) => to))).toBe(now);
  expect(mirrored(access)).toEqual(listed(api));
});

test("a read that was stopped while the clock was ahead claims nothing beyond now when it is finished", async () => {
  const api = listApi(list(24));
  const ahead = await accessAt(api, now + 400 * dayMs);
  let pages = 0;
  api.before = () => {
    pages += 1;
    if (pages === 4) throw new Stopped("SIGINT");
  };
  await expect(syncResource(ahead, orders)).rejects.toThrow(Stopped);
  api.before = undefined;
  const access = { ...ahead, clock: { ...ahead.clock, now: () => now } };
  await expectDone(access);
  expect(Math.max(...readCoverage(access.mirror, "orders").map(({ to }) => to))).toBe(now);
  expect(mirrored(access)).toEqual(listed(api));
});

test.each([
  ["milliseconds", 24],
  ["seconds", 20],
])("an API that shows %s of finer dates: counts are compared where no date is near", async (_, shownDate) => {
  const api = listApi(
    Array.from({ length: 60 }, (_, n) => {
      const at = new Date(start + n * 7_000_000 + n * 37).toISOString();
      return order(`o${n}`, { order_date: at.replace("Z", `${String(n * 13).padStart(3, "0")}Z`) });
    }),
  );
  api.shownDate = shownDate;
  const access = await accessTo(api, { pageSize: 10 });

  expect((await syncResource(access, orders)).run).toMatchObject({ verified: true, rows_read: 60 });
  api.rows = api.rows.filter(({ id }) => id !== "o25");
  const full = { ...access, options: { ...access.options, full: true } };
  expect((await syncResource(full, orders)).run).toMatchObject({ verified: true, rows_removed: 1 });
  expect(mirrored(access)).toEqual(listed(api));
});

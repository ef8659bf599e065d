import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import type { DatedStrategy, Resource } from "../../src/resources/resource.js";
import { estimateDated, readDated } from "../../src/sync/dated.js";
import { makeMirror } from "../support/mirror.js";
import { at, day, hour, noon } from "../support/records.js";
import { listedAt, makeDatedRun } from "./dated-run.js";

const { totalsSource: _, ...strategy } = orders.strategy;
const withoutTotals: Resource<DatedStrategy> = { ...orders, strategy };
const listed = Array.from({ length: 120 }, (_, n) => listedAt(`o${n}`, noon - (n + 1) * day));

test.each([
  [
    "daily totals and counts",
    orders,
    { what: "verification: daily totals and counts", requests: 5, open: true },
  ],
  ["counts", withoutTotals, { what: "verification: counts", requests: 4, open: true }],
])(
  "the first sync's plan contains the requests for all dates and for a verification with %s",
  async (_, resource, verification) => {
    const { run } = await makeDatedRun(listed);
    expect(await estimateDated({ ...run, resource })).toEqual([
      { what: "everything until 2026-11-21 11:59: 120 records", requests: 2 },
      verification,
    ]);
  },
);

test("if gaps remain between the dates that were read, `covered_from` in readDated's result is the end of the newest gap", async () => {
  const mirror = await makeMirror();
  const read = async (since: number, until: number) => {
    const { run } = await makeDatedRun(listed, { mirror, options: { since, until } });
    return await readDated({ ...run, resource: withoutTotals });
  };
  const first = await read(noon - 100 * day, noon - 80 * day - 1);
  expect([first.hasGaps, first.columns.covered_from]).toEqual([false, at(noon - 100 * day)]);
  const second = await read(noon - 60 * day, noon - 50 * day - 1);
  expect([second.hasGaps, second.columns.covered_from]).toEqual([true, at(noon - 60 * day)]);
  const third = await read(noon - 20 * day, noon);
  expect([third.hasGaps, third.columns.covered_from]).toEqual([true, at(noon - 20 * day)]);
  expect(third).toMatchObject({ incompleteReasons: [], isVerified: true, isLimitedToCounts: false });
  // The gap after the end of this run does not matter.
  const beforeGap = await read(noon - 110 * day, noon - 90 * day);
  expect(beforeGap).toMatchObject({ isVerified: true, hasGaps: false });
  expect(beforeGap.columns.covered_from).toBe(at(noon - 110 * day));
});

test("if `--until` is before the first date of the mirror, sync warns and is not verified", async () => {
  const mirror = await makeMirror();
  const read = async (options: { since?: number; until?: number }) => {
    const { run, warnings } = await makeDatedRun(listed, { mirror, options });
    return { ...(await readDated({ ...run, resource: withoutTotals })), warnings };
  };
  await read({ since: noon - 10.5 * day });
  const { columns, isVerified, warnings } = await read({ until: noon - 20 * day });
  expect([isVerified, columns.covered_from]).toEqual([false, null]);
  expect(warnings).toEqual([
    "orders: the mirror starts on 2026-11-11, after the last date of this run, so the run is not verified; `--since` and `--full` read older dates",
  ]);
});

test("readDated counts each record and requests each page once, even if all responses are delayed", async () => {
  const readLate = async (orders: typeof listed) => {
    const { requests, run } = await makeDatedRun(orders);
    await readDated({ ...run, clock: { ...run.clock, sleep: async () => {} }, resource: withoutTotals });
    return { requests, rows: run.mirror.selectValues("SELECT rows_read FROM sync_runs") };
  };
  expect((await readLate(listed)).rows).toEqual([120]);
  const sameSecond = Array.from({ length: 130 }, (_, n) => listedAt(`same${n}`, noon - hour));
  const { requests, rows } = await readLate([...sameSecond, ...listed]);
  // The 130 orders from the same second are read as a list of two pages, after the normal read has returned 100 of them.
  expect(rows).toEqual([250]);
  expect(requests.filter(({ page }) => page === 2)).toHaveLength(1);
});

test("if a response contains a record without an ID, readDated fails but keeps the records from earlier responses", async () => {
  const withoutId = listed.map((one, n) =>
    n === 110 ? { ...one, record: { order_date: at(one.at) } } : one,
  );
  const { run } = await makeDatedRun(withoutId);
  await expect(readDated({ ...run, resource: withoutTotals })).rejects.toThrow("has no `id`");
  expect(run.mirror.selectValues("SELECT rows_read FROM sync_runs")).toEqual([100]);
});

test("readDated returns the record counts of the API and the mirror, and the number of count mismatches", async () => {
  const { run } = await makeDatedRun([...listed, listedAt("new", noon - hour)]);
  const result = await readDated({ ...run, resource: withoutTotals });
  expect(result.columns).toEqual({ api_total: 121, mirror_total: 121, differing: 0, covered_from: null });
});

import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { type DayTotals, SyncState } from "../../src/store/sync-state.js";
import {
  confirmDrift,
  confirmSampleUnchanged,
  describeDrift,
  findAmountDrift,
  selectSample,
  warnOfDrift,
} from "../../src/sync/amount-drift.js";
import { readRange } from "../../src/sync/read-range.js";
import { dayRange, startOfDay, utcDay } from "../../src/util/time-ranges.js";
import { makeMirror } from "../support/mirror.js";
import { day, minute, noon } from "../support/records.js";
import { type ListedOrder, listedAt, makeDatedRun } from "./dated-run.js";

const firstDay = startOfDay(noon) - 100 * day;
/** Days are numbered from 0. */
const nameOf = (number: number) => utcDay(firstDay + number * day);
const days = (count: number) => Array.from({ length: count }, (_, number) => nameOf(number));
const range = (from: number, to: number) => ({
  from: firstDay + from * day,
  to: firstDay + (to + 1) * day - 1,
});

const totalsOf = (amounts: readonly (number | null)[], count = 100): Map<string, DayTotals> =>
  new Map(
    amounts.flatMap((amount, number) =>
      amount === null ? [] : [[nameOf(number), { count, amounts: [amount] }]],
    ),
  );

test.each([
  [
    "the changed days if the amounts of most days have changed",
    [2, 2, 2, 1],
    100,
    { days: days(3), compared: 4 },
  ],
  ["null if the amounts of only half of the days have changed", [2, 2, 1, 1], 100, null],
  ["null if no amounts have changed", [1, 1, 1, 1], 100, null],
  ["null if the counts of the days have changed as well", [2, 2, 2, 2], 99, null],
  [
    "the changed days if the API returns no totals for the unchanged days",
    [2, 2, null, null],
    100,
    { days: days(2), compared: 2 },
  ],
])("findAmountDrift returns %s", async (_, amounts, count, drift) => {
  const mirror = await makeMirror();
  const state = new SyncState(mirror, orders.name);
  mirror.transaction(() => {
    state.applyReading({
      runId: 1,
      range: range(0, 3),
      requestedAt: noon,
      isComplete: true,
      ids: [],
      changed: null,
      faulty: null,
    });
    // Day 4 is not covered, so its totals are not compared.
    for (const number of [4, 2, 0, 1, 3])
      state.storedTotals.replace(dayRange(nameOf(number)), totalsOf([1, 1, 1, 1, 1]));
  });
  expect(findAmountDrift(state, totalsOf([...amounts, 2], count))).toEqual(drift);
  expect(findAmountDrift(state, null)).toBeNull();
});

/** Returns 100 orders per day, newest first. */
function ordersFor(dayCount: number): ListedOrder[] {
  return Array.from({ length: dayCount * 100 }, (_, n) =>
    listedAt(`o${n}`, firstDay + Math.floor(n / 100) * day + (n % 100) * minute),
  ).reverse();
}

/** Syncs days 0 to `count - 1`, doubles all their amounts, and returns a new run. */
async function makeDrift(
  count: number,
  change: (listed: ListedOrder[]) => ListedOrder[] = (all) => all,
  respond?: Parameters<typeof makeDatedRun>[1],
) {
  const mirror = await makeMirror();
  const listed = ordersFor(count);
  const { run: first } = await makeDatedRun(listed, { mirror, apiTotals: totalsOf(Array(count).fill(1)) });
  await readRange(first, range(0, count - 1));
  const made = await makeDatedRun(change(listed), {
    ...respond,
    mirror,
    apiTotals: totalsOf(Array(count).fill(2)),
  });
  return { ...made, drift: { days: days(count), compared: count } };
}

const start = new Date(firstDay).toISOString();
const refundFirst = (listed: ListedOrder[]) =>
  listed.map((one, n) => (n === listed.length - 1 ? listedAt("o0", one.at, { refund_amount: 5 }) : one));
const withdrawFirst = (listed: ListedOrder[]) => listed.slice(0, -1);
const addFirst = (listed: ListedOrder[]) => [...listed, listedAt("new", firstDay)];
const replaceFirst = (listed: ListedOrder[]) => addFirst(withdrawFirst(listed));

test("confirmDrift re-reads the oldest days, up to 500 records in total, to check whether only amounts have changed", async () => {
  const { drift, requests, run } = await makeDrift(7);
  expect(await confirmDrift(run, drift)).toBe(true);
  expect([requests[0]?.end_date, requests.at(-1)?.start_date]).toEqual([
    `${nameOf(4)}T23:59:59.999999Z`,
    start,
  ]);
});

test.each([
  ["one of these records has changed", refundFirst],
  ["the API no longer returns one of these records", withdrawFirst],
  ["the API also returns a new record", addFirst],
])("confirmDrift re-reads old records, and returns false if %s", async (_, change) => {
  const { drift, run } = await makeDrift(6, change);
  expect(await confirmDrift(run, drift)).toBe(false);
});

test("confirmDrift returns false if one old record is missing from the API, even if a different record has reappeared", async () => {
  const { drift, run } = await makeDrift(6, withdrawFirst);
  const [id = 0] = run.mirror.selectValues<number>("SELECT record_id FROM records WHERE key = 'o1'");
  run.mirror.transaction(() => run.state.missing.add([{ id, lastSeenAt: null }]));
  expect(await confirmDrift(run, drift)).toBe(false);
});

test("confirmDrift returns false if the list of old records changes during every read", async () => {
  // During each read, the list shrinks after the first page.
  const respond = (matching: readonly ListedOrder[], { page }: { page?: unknown }) =>
    page === 1 ? matching : matching.slice(0, -1);
  const { drift, run } = await makeDrift(6, (listed) => listed.toReversed(), { respond });
  expect(await confirmDrift(run, drift)).toBe(false);
});

test("if the days with changed amounts contain at most 500 records in total, confirmDrift returns false without sending a request", async () => {
  const { drift, requests, run } = await makeDrift(5);
  expect(await confirmDrift(run, drift)).toBe(false);
  expect(requests).toEqual([]);
});

test("confirmDrift does not re-read a day that was already read in the same run", async () => {
  const { drift, requests, run } = await makeDrift(7);
  await readRange(run, range(0, 0));
  requests.length = 0;
  expect(await confirmDrift(run, drift)).toBe(true);
  expect([requests[0]?.end_date, requests.at(-1)?.start_date]).toEqual([
    `${nameOf(5)}T23:59:59.999999Z`,
    `${nameOf(1)}T00:00:00.000Z`,
  ]);
});

test.each([
  ["returns true if they are unchanged", (listed: ListedOrder[]) => listed, true],
  ["returns false if one of them has changed", refundFirst, false],
  ["returns false if the API no longer returns one of them", withdrawFirst, false],
  ["returns false if the API also returns a new record", addFirst, false],
  ["returns false if the API returns a new record instead of one of them", replaceFirst, false],
  [
    "returns false if the API lists an ID twice",
    (listed: ListedOrder[]) => [...listed, ...listed.slice(-1)],
    false,
  ],
])("isSampleUnchanged re-reads the oldest records, and %s", async (_, change, expected) => {
  const { drift, requests, run } = await makeDrift(6, change);
  expect(await confirmSampleUnchanged(run, selectSample(run.state, drift.days))).toBe(expected);
  expect(requests[0]).toMatchObject({ start_date: start, end_date: `${nameOf(4)}T23:59:59.999999Z` });
});

test("isSampleUnchanged re-reads at least one day, even if that day has more than 500 records", async () => {
  const listed = Array.from({ length: 501 }, (_, n) => listedAt(`o${n}`, firstDay + n * 1_000)).reverse();
  const mirror = await makeMirror();
  const { requests, run } = await makeDatedRun(listed, { mirror });
  await readRange(run, range(0, 1));
  requests.length = 0;
  expect(await confirmSampleUnchanged(run, selectSample(run.state, days(2)))).toBe(true);
  expect(requests[0]).toMatchObject({ start_date: start, end_date: `${nameOf(0)}T23:59:59.999999Z` });
});

test("if the amounts of most days have changed, sync warns only once that it ignores amounts", async () => {
  const { run, warnings } = await makeDatedRun([]);
  const drift = { days: days(3), compared: 4 };
  warnOfDrift(run, drift);
  warnOfDrift(run, drift);
  expect(warnings).toEqual([expect.stringContaining("the API's amounts for 3 of 4 days changed at once")]);
  expect(describeDrift(drift)).toContain("for 3 of 4 days changed at once");
});

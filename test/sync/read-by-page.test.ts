import { expect, test } from "vitest";
import { readByPage } from "../../src/sync/read-by-page.js";
import { Budget, type DatedRun } from "../../src/sync/session.js";
import { startOfDay } from "../../src/util/time-ranges.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { day, hour, noon, orderAt } from "../support/records.js";
import { type ListedOrder, listedAt, makeDatedRun } from "./dated-run.js";

const firstDay = startOfDay(noon) - 400 * day;
/** The start of a day. Days are numbered from 0. */
const dayAt = (number: number) => firstDay + number * day;
/** The range from the start of one day to the end of another. */
const days = (from: number, last = from) => ({ from: dayAt(from), to: dayAt(last + 1) - 1 });
const orderOn = (number: number, id = `on${number}`) => listedAt(id, dayAt(number) + hour);
const faultyOn = (number: number, id = `faulty${number}`): ListedOrder => ({
  at: dayAt(number) + hour,
  record: { ...orderAt(id, null), order_date: "soon" } as unknown as ListedOrder["record"],
});

/** Converts each range to its first and last day, as numbers of days since `firstDay`. */
function toDays(ranges: readonly { from: number; to: number }[]) {
  return ranges.map(({ from, to }) => [(from - firstDay) / day, (to + 1 - firstDay) / day - 1]);
}

/** Returns the first and last day of each date range that was requested, either for counts or for lists. */
function requestedDays(requests: readonly Record<string, unknown>[], kind: "counts" | "lists") {
  const matching = requests.filter(
    ({ page, per_page }) => page === 1 && (per_page === 1) === (kind === "counts"),
  );
  return toDays(
    matching.map(({ end_date, start_date }) => ({
      from: Date.parse(`${start_date}`),
      to: Date.parse(`${end_date}`),
    })),
  );
}

const faultyDays = ({ state }: DatedRun) => toDays(state.loadFaultySlices());

const faultyRecords = (count: number) => Array.from({ length: count }, (_, n) => faultyOn(3, `faulty${n}`));
const spread = [1, 9, 2, 8, 3].map((number) => orderOn(number));

test.each([
  [
    "finds a record with an unreadable date by bisecting the date range at the day of the median record",
    [...spread, faultyOn(6)],
    [[4, 7]],
  ],
  [
    "stops bisecting when a part of the date range contains only records with unreadable dates",
    [orderOn(0), faultyOn(6)],
    [[1, 9]],
  ],
  ["marks only the day of a record with an unreadable date as faulty", [...spread, faultyOn(8)], [[8, 8]]],
  [
    "marks only one day as faulty if that day has ten records with unreadable dates and a valid record",
    [orderOn(3), ...faultyRecords(10)],
    [[3, 3]],
  ],
  [
    "marks the entire date range as faulty if it has eleven records with unreadable dates",
    [orderOn(3), ...faultyRecords(11)],
    [[0, 9]],
  ],
  ["marks the entire date range as faulty if an ID is listed twice", [...spread, orderOn(3)], [[0, 9]]],
  [
    "marks the entire date range as faulty if its only record has an unreadable date",
    [faultyOn(5)],
    [[0, 9]],
  ],
])("readByPage %s", async (_, listed, faulty) => {
  const { run } = await makeDatedRun(listed);
  expect(await readByPage(run, days(0, 9))).toBe(dayAt(0));
  expect(faultyDays(run)).toEqual(faulty);
});

test.each([
  ["a date range only once if all records are valid", spread, days(0, 9)],
  ["a single day only once, even if a record has an unreadable date", [orderOn(3), faultyOn(3)], days(3)],
])("readByPage requests %s", async (_, listed, slice) => {
  const { requests, run } = await makeDatedRun(listed);
  await readByPage(run, slice);
  expect(requestedDays(requests, "lists")).toEqual(toDays([slice]));
});

test("readByPage does not re-read the halves of a date range if the API counts a record with an unreadable date in both halves", async () => {
  const respond = (matching: readonly ListedOrder[]) => [...matching, faultyOn(5)];
  const { requests, run } = await makeDatedRun(spread, { respond });
  await readByPage(run, days(0, 9));
  expect(faultyDays(run)).toEqual([[0, 9]]);
  expect(requestedDays(requests, "lists")).toEqual([[0, 9]]);
});

test("readByPage marks the entire date range as faulty if the request budget runs out before it finds the day of the record with an unreadable date", async () => {
  const { requests, run } = await makeDatedRun([...spread, faultyOn(6)]);
  await readByPage(run, days(0, 9), new Budget(run.api, 2));
  expect(faultyDays(run)).toEqual([[0, 9]]);
  expect(requestedDays(requests, "lists")).toEqual([[0, 9]]);
});

/** Returns the given record count for each range, but no records. */
const withCounts = (counts: (from: number, to: number) => number) => ({
  respond: (_: unknown, { end_date, per_page, start_date }: Record<string, unknown>) => {
    const [[from = 0, to = 0] = []] = toDays([
      { from: Date.parse(`${start_date}`), to: Date.parse(`${end_date}`) },
    ]);
    return per_page === 1 ? Array<ListedOrder>(counts(from, to)).fill(orderOn(to)) : [];
  },
});

test.each([
  [
    "reads a date range without splitting it if the API counts 2,000 records",
    (from: number, to: number) => (from === 0 && to === 7 ? 2_000 : 1_000),
    [[0, 7]],
  ],
  [
    "splits a date range with 2,001 records even if all of them are in the newer half",
    (_: number, to: number) => (to === 7 ? 2_001 : 0),
    [
      [7, 7],
      [6, 6],
      [4, 5],
      [0, 3],
    ],
  ],
  [
    "splits a date range if the API counts more than 2,000 records",
    (from: number, to: number) => (from === 0 && to === 7 ? 2_001 : 2_000),
    [
      [4, 7],
      [0, 3],
    ],
  ],
  [
    "splits a date range with 2,001 records even if all of them are in the older half",
    (from: number) => (from === 0 ? 2_001 : 0),
    [
      [4, 7],
      [2, 3],
      [1, 1],
      [0, 0],
    ],
  ],
  ["does not split a date range if the API counts all its records in both halves", () => 2_001, [[0, 7]]],
])("readByPage %s", async (_, counts, slices) => {
  const { requests, run } = await makeDatedRun([], withCounts(counts));
  await readByPage(run, days(0, 7));
  expect(requestedDays(requests, "lists")).toEqual(slices);
});

test.each([
  ["a single day", days(3)],
  ["part of a day", { from: dayAt(3) + hour, to: dayAt(3) + 2 * hour }],
  ["all dates before 2006", { from: Number.NEGATIVE_INFINITY, to: Date.UTC(1990, 0, 1) - 1 }],
])("readByPage reads %s without requesting a record count", async (_, range) => {
  const { requests, run } = await makeDatedRun([]);
  await readByPage(run, range);
  expect(requests).toHaveLength(1);
});

test("if the request budget runs out, readByPage stops after the current part of the date range", async () => {
  const counts = withCounts((from, to) => (to - from > 3 ? 2_001 : 1_500));
  const { requests, run } = await makeDatedRun([], counts);
  expect(await readByPage(run, days(0, 7), new Budget(run.api, 4))).toBe(dayAt(4));
  expect(requestedDays(requests, "lists")).toEqual([[4, 7]]);
});

const mirrored = Array.from({ length: 300 }, (_, n) =>
  orderAt(`m${n}`, dayAt(9 - Math.floor(n / 50)) + hour),
);

test.each([
  ["all days if the request budget suffices", 3, days(0, 9), days(0, 9)],
  ["the newest days whose mirrored records can be read within the request budget", 1, days(0, 9), days(8, 9)],
  ["the newest days of a range that ends before the newest mirrored records", 1, days(0, 7), days(6, 7)],
  ["the newest day with mirrored records even if the request budget is 0", 0, days(0, 9), days(9)],
  [
    "part of the oldest day if the range starts during that day",
    0,
    { ...days(9), from: dayAt(9) + 1 },
    { ...days(9), from: dayAt(9) + 1 },
  ],
])("readByPage reads %s", async (_, requests, range, expected) => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", mirrored);
  const { requests: sent, run } = await makeDatedRun([], { mirror });
  expect(await readByPage(run, range, new Budget(run.api, requests))).toBe(expected.from);
  expect(sent.at(-1)).toMatchObject({ start_date: new Date(expected.from).toISOString() });
});

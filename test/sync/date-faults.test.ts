import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { findDateFault, parseSortedDates, rangeQuery } from "../../src/sync/dates.js";

const range = { from: Date.parse("2026-11-01"), to: Date.parse("2026-11-30T00:00:00.999Z") };

test.each([
  ["first", "2026-11-01T00:00:00Z"],
  ["last", "2026-11-30T00:00:00.9999Z"],
])("a record dated in the %s second of the range (%s) is not reported as faulty", (_, order_date) => {
  expect(findDateFault(orders, { order_date }, range)).toBeNull();
});

test.each([
  [
    "a time before the range",
    "is outside the requested range",
    { order_date: "2026-10-31T23:59:59Z" },
    '"2026-10-31T23:59:59Z" is outside the requested range',
  ],
  [
    "a time after the range",
    "is outside the requested range",
    { order_date: "2026-11-30T00:00:01Z" },
    '"2026-11-30T00:00:01Z" is outside the requested range',
  ],
  ["the date `soon`", "is unreadable", { order_date: "soon" }, '"soon" is not a readable date'],
  [
    "the date 20261105 (a number)",
    "is unreadable",
    { order_date: 20261105 },
    "20261105 is not a readable date",
  ],
  [
    "a date of 99 characters",
    "is unreadable",
    { order_date: "x".repeat(99) },
    `"${"x".repeat(59)} is not a readable date`,
  ],
  ["no date", "is missing", {}, "(missing) is not a readable date"],
])("a record with %s is reported because its date %s", (_date, _why, record, fault) => {
  expect(findDateFault(orders, record, range)).toBe(`\`order_date\` ${fault}`);
});

const at = (second: number) => ({ order_date: `2026-11-05T10:00:${String(second).padStart(2, "0")}Z` });
const seconds = (dates: number[] | null) =>
  dates?.map((ms) => (ms - Date.parse("2026-11-05T10:00:00Z")) / 1_000);

test.each([
  ["returns the dates of records that are sorted newest first", [5, 5, 4, 1], [5, 5, 4, 1]],
  ["returns null if the last record is newer than the one before it", [5, 4, 2, 3], undefined],
  ["returns an empty list for no records", [], []],
])("readSortedDates %s", (_, records, expected) => {
  expect(seconds(parseSortedDates(orders, records.map(at), range))).toEqual(expected);
});

test.each([
  ["without seconds", "2026-11-05T10:00Z"],
  ["outside the range", "2026-10-05T10:00:00Z"],
  ["that is unreadable", "soon"],
])("readSortedDates returns null if a record has a date %s", (_, order_date) => {
  expect(parseSortedDates(orders, [at(5), { order_date }], range)).toBeNull();
});

test("if a date range has no start or no end, the request omits the corresponding parameter", () => {
  expect(rangeQuery(orders.strategy, { ...range, from: Number.NEGATIVE_INFINITY })).toEqual({
    start_date: undefined,
    end_date: "2026-11-30T00:00:00.999999Z",
  });
  expect(rangeQuery(orders.strategy, { ...range, to: Number.POSITIVE_INFINITY })).toEqual({
    start_date: "2026-11-01T00:00:00.000Z",
    end_date: undefined,
  });
});

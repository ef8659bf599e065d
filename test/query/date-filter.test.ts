import { expect, test } from "vitest";
import { dateConditionsSql } from "../../src/query/date-filter.js";
import { maxTimestampMs } from "../../src/util/timestamps.js";

const since = Date.UTC(2026, 9, 1);
const until = Date.UTC(2026, 9, 31, 23, 59, 59, 999);

test("a date filter on a UTC column includes all microseconds of the last millisecond", () => {
  expect(dateConditionsSql({ sql: "date", form: "utc" }, since, until)).toEqual([
    "date >= '2026-10-01 00:00:00'",
    "date < '2026-11-01 00:00:00'",
  ]);
});

test("a date filter on a month or day column includes the months or days that contain its bounds", () => {
  expect(dateConditionsSql({ sql: "month", form: "month" }, since, until)).toEqual([
    "month >= '2026-10'",
    "month <= '2026-10'",
  ]);
  expect(dateConditionsSql({ sql: "day", form: "day" }, undefined, until)).toEqual(["day <= '2026-10-31'"]);
});

test("a date filter on times in the API's format includes both bounds to the millisecond", () => {
  expect(dateConditionsSql({ sql: "at", form: "iso" }, since, until)).toEqual([
    "at >= '2026-10-01T00:00:00.000Z'",
    "at <= '2026-10-31T23:59:59.999Z'",
  ]);
});

test("a date filter that ends at the last moment of the year 9999 has no upper bound", () => {
  expect(dateConditionsSql({ sql: "date", form: "utc" }, undefined, maxTimestampMs)).toEqual([]);
  expect(dateConditionsSql({ sql: "date", form: "utc" }, undefined, maxTimestampMs - 1)).toHaveLength(1);
});

import { expect, test } from "vitest";
import { findLastReadAt } from "../../src/store/coverage.js";
import {
  allTime,
  clipRanges,
  clipToCompleteDays,
  containsInstant,
  dayRange,
  describeRange,
  findGaps,
  isWithinOneOf,
  listMonths,
  mergeRanges,
  overlaps,
  startOfDay,
  startOfSecond,
  subtractRanges,
  type TimeRange,
  utcDay,
} from "../../src/util/time-ranges.js";
import fc from "../support/property.js";

const end = fc.integer({ min: 0, max: 30 });
const range = fc.tuple(end, end).map(([a, b]): TimeRange => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const ranges = fc.array(range, { maxLength: 6 });
const instants = Array.from({ length: 33 }, (_, n) => n - 1);
const isIn = (all: readonly TimeRange[], at: number) => all.some(({ from, to }) => from <= at && at <= to);

test("a range includes every fraction of its last millisecond", () => {
  expect([9.9, 10, 20, 20.5, 21].map((at) => containsInstant({ from: 10, to: 20 }, at))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  const requestedAt = Date.UTC(2026, 10, 21);
  const covered = [{ from: 10_000, to: 19_999, requestedAt, runId: 1 }];
  const isRead = (at: number) => findLastReadAt(covered, at) !== null;
  expect([9_999.9, 10_000, 19_999.5, 20_000].map(isRead)).toEqual([false, true, true, false]);
  const newerFirst = [...covered, { from: 20_000, to: 29_999, requestedAt: requestedAt - 1, runId: 2 }];
  expect(findLastReadAt(newerFirst, null)).toBe("2026-11-21T00:00:00.000Z");
});

test("merging, subtracting and clipping ranges is equivalent to the union, difference and intersection of sets of instants", () => {
  fc.assert(
    fc.property(ranges, ranges, range, (some, others, one) => {
      const joined = mergeRanges(some);
      const left = subtractRanges(joined, others);
      const cut = clipRanges(joined, one);
      const between = findGaps(some);
      expect(cut.filter(({ from, to }) => from > to)).toEqual([]);
      for (const at of instants) {
        expect(isIn(joined, at)).toBe(isIn(some, at));
        expect(isIn(left, at)).toBe(isIn(some, at) && !isIn(others, at));
        expect(isIn(cut, at)).toBe(isIn(some, at) && isIn([one], at));
        const isBetween = at >= (joined[0]?.from ?? 99) && at <= (joined.at(-1)?.to ?? -99);
        expect(isIn(between, at)).toBe(isBetween && !isIn(some, at));
      }
      expect(isWithinOneOf(one, joined)).toBe(instants.every((at) => !isIn([one], at) || isIn(joined, at)));
      for (const [index, { from }] of joined.entries())
        if (index > 0) expect(from - (joined[index - 1]?.to ?? 0)).toBeGreaterThan(1);
    }),
    { numRuns: 300 },
  );
});

test("a range without a beginning or an end can be merged with other ranges and subtracted from them", () => {
  expect(allTime).toEqual({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY });
  expect(subtractRanges([allTime], [{ from: 5, to: 9 }])).toEqual([
    { from: Number.NEGATIVE_INFINITY, to: 4 },
    { from: 10, to: Number.POSITIVE_INFINITY },
  ]);
  expect(
    mergeRanges([
      { ...allTime, to: 3 },
      { ...allTime, from: 4 },
    ]),
  ).toEqual([allTime]);
});

test("a UTC day or month is converted to a range from its first to its last millisecond", () => {
  expect(dayRange("2026-02-28")).toEqual({ from: Date.UTC(2026, 1, 28), to: Date.UTC(2026, 2, 1) - 1 });
  expect(utcDay(Date.UTC(2026, 2, 1) - 1)).toBe("2026-02-28");
  expect(startOfDay(Date.UTC(2026, 2, 1) - 1)).toBe(Date.UTC(2026, 1, 28));
  expect(listMonths({ from: Date.UTC(2025, 11, 31), to: Date.UTC(2026, 1, 1) })).toEqual([
    { month: "2025-12", from: Date.UTC(2025, 11, 1), to: Date.UTC(2026, 0, 1) - 1 },
    { month: "2026-01", from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 1, 1) - 1 },
    { month: "2026-02", from: Date.UTC(2026, 1, 1), to: Date.UTC(2026, 2, 1) - 1 },
  ]);
});

test("describeRange formats a range to the minute", () => {
  const from = Date.UTC(2026, 0, 2, 3, 4);
  expect(describeRange({ from, to: from + 60_000 })).toBe("2026-01-02 03:04 to 2026-01-02 03:05");
  expect(describeRange({ ...allTime, to: from })).toBe("everything until 2026-01-02 03:04");
  expect(describeRange({ ...allTime, from })).toBe("2026-01-02 03:04 to now");
});

test("ranges overlap if they have at least one millisecond in common", () => {
  const range = { from: 10, to: 20 };
  expect([9, 10, 20, 21].map((at) => overlaps(range, { from: at, to: at }))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(overlaps(range, { from: 0, to: 99 })).toBe(true);
});

test("clipToCompleteDays removes partial days from both ends of a range", () => {
  const [first, last] = [Date.UTC(2026, 1, 27), Date.UTC(2026, 2, 2)];
  expect(clipToCompleteDays({ from: first, to: last - 1 })).toEqual({ from: first, to: last - 1 });
  expect(clipToCompleteDays({ from: first + 1, to: last - 2 })).toEqual({
    from: Date.UTC(2026, 1, 28),
    to: Date.UTC(2026, 2, 1) - 1,
  });
  const { from, to } = clipToCompleteDays({ from: first + 1, to: first + 2 });
  expect(to).toBeLessThan(from);
});

test("startOfSecond rounds an instant down to a second, even before 1970", () => {
  expect([1_999, 1_000, -1].map(startOfSecond)).toEqual([1_000, 1_000, -1_000]);
});

test("findGaps returns the gaps between ranges and, if a start is given, the gap before the first range; without ranges, there are no gaps", () => {
  const ranges = [
    { from: 30, to: 39 },
    { from: 10, to: 19 },
  ];
  expect(findGaps(ranges)).toEqual([{ from: 20, to: 29 }]);
  expect(findGaps(ranges, 5)).toEqual([
    { from: 5, to: 9 },
    { from: 20, to: 29 },
  ]);
  expect(findGaps([], 5)).toEqual([]);
});

import { expect, test } from "vitest";
import type { Covered } from "../../src/lib/ranges.js";
import { holds, join, type Range } from "../../src/lib/ranges.js";
import { readCoverage, recordCoverage, trimCovered } from "../../src/state/coverage.js";
import { addCovered } from "../../src/state/index.js";
import { makeMirror } from "../support/mirror.js";
import fc from "../support/property.js";

/** Reads of a small line of instants, in the order in which they happened. */
const reads = fc.array(
  fc.record({
    from: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constant(Number.NEGATIVE_INFINITY)),
    length: fc.integer({ min: 0, max: 25 }),
    runId: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 12 },
);

type Read = { from: number; length: number; runId: number };

function coveredBy({ from, length, runId }: Read, readAt: number): Covered {
  return { from, to: (Number.isFinite(from) ? from : 0) + length, readAt, runId };
}

function coverageOf(list: readonly Read[]): Covered[] {
  return list.reduce<Covered[]>((all, read, index) => addCovered(all, coveredBy(read, index + 1)), []);
}

const instants = Array.from({ length: 72 }, (_, n): Range => ({ from: n - 1, to: n - 1 }));

test("each instant keeps its newest read, whatever was read before it", () => {
  fc.assert(
    fc.property(reads, (list) => {
      const coverage = coverageOf(list);
      for (const instant of instants) {
        const newest = list.findLastIndex((read, index) => holds([coveredBy(read, index)], instant));
        const found = coverage.filter((one) => holds([one], instant));
        expect(found).toHaveLength(newest < 0 ? 0 : 1);
        if (newest < 0) continue;
        expect(found[0]?.runId).toBe(list[newest]?.runId);
        // Neighbours of one run are one, dated by the older: never newer than the truth.
        expect(found[0]?.readAt).toBeLessThanOrEqual(newest + 1);
      }
    }),
    { numRuns: 150 },
  );
});

test("what is covered stays sorted and apart, and is unbroken exactly where every instant was read", () => {
  fc.assert(
    fc.property(reads, (list) => {
      const coverage = coverageOf(list);
      for (const [index, { from, to }] of coverage.entries()) {
        expect(from).toBeLessThanOrEqual(to);
        const next = coverage[index + 1];
        if (next) expect(next.from).toBeGreaterThan(to);
      }
      const joined = join(coverage);
      for (const instant of instants)
        expect(holds(joined, instant)).toBe(
          list.some((read, index) => holds([coveredBy(read, index)], instant)),
        );
      for (const [index, { to }] of joined.entries()) {
        const next = joined[index + 1];
        if (next) expect(next.from - to).toBeGreaterThan(1);
      }
    }),
    { numRuns: 150 },
  );
});

test("reads of one run that touch are one, as old as the older; those of two runs stay two", () => {
  const [oldest, middle, newest] = [
    { from: 0, to: 9, readAt: 1_003, runId: 7 },
    { from: 10, to: 19, readAt: 1_002, runId: 7 },
    { from: 20, to: 29, readAt: 1_001, runId: 8 },
  ];
  const all = [newest, middle, oldest].reduce<Covered[]>(addCovered, []);
  expect(all).toEqual([{ from: 0, to: 19, readAt: 1_002, runId: 7 }, newest]);
  expect(addCovered(all, { from: 30, to: 39, readAt: 1_000, runId: 8 })).toEqual([
    { from: 0, to: 19, readAt: 1_002, runId: 7 },
    { from: 20, to: 39, readAt: 1_000, runId: 8 },
  ]);
});

test("what a clock that was ahead has claimed: dates after now were read by nobody, and every read was before now", () => {
  const now = 1_000;
  const read = (from: number, to: number, readAt: number): Covered => ({ from, to, readAt, runId: 1 });
  expect(
    trimCovered(
      [read(0, 99, 500), read(100, 899, now), read(900, 2_000, 3_000), read(2_001, 2_500, 3_000)],
      now,
      () => 700,
    ),
  ).toEqual([read(0, 99, 500), read(100, 899, 700), read(900, now, 700)]);
  expect(trimCovered([read(now, now, 500)], now, () => 700)).toEqual([read(now, now, 500)]);
});

test("a mirror remembers what was read as it is, from the beginning too, and nothing twice", async () => {
  const mirror = await makeMirror();
  const first = { from: Number.NEGATIVE_INFINITY, to: 100, readAt: 1_000, runId: 1 };
  const far = { from: 300, to: 400, readAt: 2_000, runId: 2 };
  for (const one of [far, first]) recordCoverage(mirror, "orders", one);
  expect(readCoverage(mirror, "orders")).toEqual([first, far]);
  const newer = { from: 50, to: 120, readAt: 3_000, runId: 3 };
  recordCoverage(mirror, "orders", newer);
  expect(readCoverage(mirror, "orders")).toEqual([{ ...first, to: 49 }, newer, far]);
  expect(readCoverage(mirror, "content")).toEqual([]);
  mirror.db.close();
});

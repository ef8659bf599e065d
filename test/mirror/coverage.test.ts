import { expect, test } from "vitest";
import { holds, join, type Range } from "../../src/ranges.js";
import { addCovered, type Covered } from "../../src/state/index.js";
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

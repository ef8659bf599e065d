import { expect, test } from "vitest";
import { addSpan, type Span, stretches } from "../../src/state/coverage.js";
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

function spanOf(
  { from, length, runId }: { from: number; length: number; runId: number },
  readAt: number,
): Span {
  return { from, to: (Number.isFinite(from) ? from : 0) + length, readAt, runId };
}

test("each instant keeps its newest read, whatever was read before it", () => {
  fc.assert(
    fc.property(reads, (list) => {
      const spans = list.reduce<Span[]>((all, read, index) => addSpan(all, spanOf(read, index + 1)), []);
      for (let instant = -1; instant <= 70; instant += 1) {
        const newest = list.findLastIndex((read, index) => holds(spanOf(read, index), instant));
        const found = spans.filter((span) => holds(span, instant));
        expect(found).toHaveLength(newest < 0 ? 0 : 1);
        if (newest < 0) continue;
        expect(found[0]?.runId).toBe(list[newest]?.runId);
        // Neighbours of one run are one span, dated by the older: never newer than the truth.
        expect(found[0]?.readAt).toBeLessThanOrEqual(newest + 1);
      }
    }),
    { numRuns: 150 },
  );
});

test("spans stay sorted and apart, and a stretch is unbroken exactly where every instant was read", () => {
  fc.assert(
    fc.property(reads, (list) => {
      const spans = list.reduce<Span[]>((all, read, index) => addSpan(all, spanOf(read, index + 1)), []);
      for (const [index, span] of spans.entries()) {
        expect(span.from).toBeLessThanOrEqual(span.to);
        const next = spans[index + 1];
        if (next) expect(next.from).toBeGreaterThan(span.to);
      }
      const joined = stretches(spans);
      for (let instant = -1; instant <= 70; instant += 1)
        expect(joined.filter((stretch) => holds(stretch, instant))).toHaveLength(
          list.some((read, index) => holds(spanOf(read, index), instant)) ? 1 : 0,
        );
      for (const [index, { to }] of joined.entries()) {
        const next = joined[index + 1];
        if (next) expect(next.from - to).toBeGreaterThan(1);
      }
    }),
    { numRuns: 150 },
  );
});

function holds({ from, to }: { from: number; to: number }, instant: number): boolean {
  return from <= instant && instant <= to;
}

import { describe, expect, test } from "vitest";
import { addSpan, type Span, stretches } from "../../src/state/coverage.js";
import { type Goal, planWindow } from "../../src/sync/plan.js";
import fc from "../support/property.js";

const day = 86_400_000;
const now = Date.UTC(2026, 10, 21, 12);
const beginning = Number.NEGATIVE_INFINITY;
const plain = { full: false, windowMs: 30 * day };
const ago = (days: number) => now - days * day;
const span = (from: number, to: number): Span => ({ from, to, readAt: to, runId: 1 });

/** In days before now, as people think of it. */
function shown({ from, to }: Goal): string {
  const edge = (ms: number) => (ms === beginning ? "beginning" : `${Math.round((now - ms) / day)}d`);
  return `${edge(from)}..${edge(to)}`;
}

function planned(spans: Span[], unfinished: Goal | null, options: Parameters<typeof planWindow>[2]) {
  const { goals, gaps } = planWindow(spans, unfinished, options, now);
  return {
    goals: goals.map((goal) => `${shown(goal)}${goal.resume ? " resumed" : ""}`),
    gaps: gaps.map(shown),
  };
}

const first100 = [span(beginning, ago(1))];
const holed = [span(beginning, ago(200)), span(ago(90), ago(1))];

describe("what a run reads", () => {
  const cases: [string, Span[], Goal | null, Parameters<typeof planWindow>[2], string[], string[]][] = [
    ["a first run: everything", [], null, plain, ["beginning..0d"], []],
    ["the night after: the window behind the last complete read", first100, null, plain, ["31d..0d"], []],
    ["another window", first100, null, { ...plain, windowMs: 7 * day }, ["8d..0d"], []],
    [
      "after three months: from the window behind where it stopped",
      [span(beginning, ago(92))],
      null,
      plain,
      ["122d..0d"],
      [],
    ],
    ["with a hole in what was read: from the window behind the hole", holed, null, plain, ["230d..0d"], []],
    ["`--full`: everything", first100, null, { ...plain, full: true }, ["beginning..0d"], []],
    [
      "`--since`: from there, even if nothing before it was read",
      [],
      null,
      { ...plain, since: ago(10) },
      ["10d..0d"],
      [],
    ],
    [
      "`--since` above the last read: a gap is named",
      [span(beginning, ago(92))],
      null,
      { ...plain, since: ago(10) },
      ["10d..0d"],
      ["92d..10d"],
    ],
    [
      "`--since` where a stretch ends: nothing lies between the two",
      [span(beginning, ago(10) - 1)],
      null,
      { ...plain, since: ago(10) },
      ["10d..0d"],
      [],
    ],
    ["`--until`: no further", first100, null, { ...plain, until: ago(5) }, ["31d..5d"], []],
    [
      "`--until` in the future: no further than now",
      first100,
      null,
      { ...plain, until: now + 9 * day },
      ["31d..0d"],
      [],
    ],
    ["a range", first100, null, { ...plain, since: ago(20), until: ago(10) }, ["20d..10d"], []],
    [
      "a range beside what was read: a gap is named",
      [span(ago(50), ago(40))],
      null,
      { ...plain, since: ago(20), until: ago(10) },
      ["20d..10d"],
      ["40d..20d"],
    ],
    [
      "a first read stopped a moment ago: that one, resumed",
      [],
      { from: beginning, to: now - 60_000 },
      plain,
      ["beginning..0d resumed"],
      [],
    ],
    [
      "a first read stopped two days ago: it, and what came since",
      [],
      { from: beginning, to: ago(2) },
      plain,
      ["beginning..2d resumed", "32d..0d"],
      [],
    ],
    [
      "a stopped `--since` read, run plainly: it, and what lies between",
      [span(beginning, ago(92))],
      { from: ago(10), to: ago(2) },
      plain,
      ["10d..2d resumed", "122d..10d", "10d..0d"],
      [],
    ],
    [
      "a stopped window, and `--full`: everything anew",
      first100,
      { from: ago(31), to: now },
      { ...plain, full: true },
      ["beginning..0d"],
      [],
    ],
    [
      "a stopped first read, and `--full`: it is the same read",
      [],
      { from: beginning, to: now },
      { ...plain, full: true },
      ["beginning..0d resumed"],
      [],
    ],
    [
      "a stopped read that ends before `--until`: not that one",
      [],
      { from: beginning, to: ago(9) },
      { ...plain, until: ago(5) },
      ["beginning..5d"],
      [],
    ],
    [
      "a stopped read above a lower `--since`: not that one",
      first100,
      { from: ago(5), to: now },
      { ...plain, since: ago(20) },
      ["20d..0d"],
      [],
    ],
  ];
  test.each(cases)("%s", (_, spans, unfinished, options, goals, gaps) => {
    expect(planned(spans, unfinished, options)).toEqual({ goals, gaps });
  });
});

test("`--since` right after a stretch begins at its last millisecond: a finer date would lie between", () => {
  const { goals } = planWindow([span(beginning, ago(10) - 1)], null, { ...plain, since: ago(10) }, now);
  expect(goals[0]?.from).toBe(ago(10) - 1);
});

const days = fc.integer({ min: 0, max: 400 });
const range = fc.tuple(days, days).map(([a, b]) => ({ from: ago(Math.max(a, b)), to: ago(Math.min(a, b)) }));
const history = fc.array(range, { maxLength: 5 });

test("whatever was read before, a plain run leaves one unbroken stretch up to now, the window read anew", () => {
  fc.assert(
    fc.property(history, fc.option(range), (ranges, unfinished) => {
      const spans = ranges.reduce<Span[]>((all, one) => addSpan(all, { ...one, readAt: 1, runId: 1 }), []);
      const { goals, gaps } = planWindow(spans, unfinished, plain, now);
      const after = goals.reduce((all, goal) => addSpan(all, { ...goal, readAt: 2, runId: 2 }), spans);
      expect(gaps).toEqual([]);
      const joined = stretches(after);
      expect(joined).toHaveLength(1);
      expect(now - (joined[0]?.to ?? 0)).toBeLessThanOrEqual(3_600_000);
      const watermark = stretches(spans)[0]?.to;
      if (watermark === undefined) return;
      const read = stretches(after.filter(({ runId }) => runId === 2));
      expect(
        read.some(({ from, to }) => from <= watermark - plain.windowMs && to >= Math.min(watermark, now)),
      ).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a gap is named exactly where, after the run, something between what was read stays unread", () => {
  fc.assert(
    fc.property(history, range, (ranges, { from, to }) => {
      const spans = ranges.reduce<Span[]>((all, one) => addSpan(all, { ...one, readAt: 1, runId: 1 }), []);
      const { goals, gaps } = planWindow(spans, null, { ...plain, since: from, until: to }, now);
      const after = goals.reduce((all, goal) => addSpan(all, { ...goal, readAt: 2, runId: 2 }), spans);
      const joined = stretches(after);
      expect(gaps.map(shown)).toEqual(
        joined.slice(1).map((next, index) => shown({ from: joined[index]?.to ?? 0, to: next.from })),
      );
    }),
    { numRuns: 300 },
  );
});

import { describe, expect, test } from "vitest";
import type { Covered } from "../../src/lib/ranges.js";
import { holds, join, type Range, subtract } from "../../src/lib/ranges.js";
import { addCovered, type Goal } from "../../src/state/index.js";
import { type Before, planDated } from "../../src/sync/plan.js";
import fc from "../support/property.js";

const day = 86_400_000;
const now = Date.UTC(2026, 10, 21, 12);
const beginning = Number.NEGATIVE_INFINITY;
const open = Number.POSITIVE_INFINITY;
const plain = { full: false, windowMs: 30 * day };
const ago = (days: number) => now - days * day;
const read = (from: number, to: number, readAt = to): Covered => ({ from, to, readAt, runId: 1 });
const having = (coverage: Covered[], rest: Partial<Before> = {}): Before => ({
  coverage,
  goal: null,
  floor: coverage.length > 0 ? beginning : null,
  ...rest,
});

/** In days before now, as people think of it. */
function shown({ from, to }: Range): string {
  const edge = (ms: number) =>
    ms === beginning ? "beginning" : ms === open ? "now" : `${Math.round((now - ms) / day)}d`;
  return `${edge(from)}..${edge(to)}`;
}

const first100 = having([read(beginning, ago(1))]);
const holed = having([read(beginning, ago(200)), read(ago(90), ago(1))]);

describe("what a run reads, newest first", () => {
  const cases: [string, Before, Parameters<typeof planDated>[1], string[], string[]][] = [
    ["a first run: everything", having([]), plain, ["beginning..now"], []],
    ["the night after: the window behind the last complete read", first100, plain, ["31d..now"], []],
    ["another window", first100, { ...plain, windowMs: 7 * day }, ["8d..now"], []],
    [
      "after three months: from the window behind where it stopped",
      having([read(beginning, ago(92))]),
      plain,
      ["122d..now"],
      [],
    ],
    [
      "with a gap in what was read: that too, with the window below it",
      holed,
      plain,
      ["31d..now", "230d..90d"],
      [],
    ],
    ["`--full`: everything", first100, { ...plain, full: true }, ["beginning..now"], []],
    ["`--since` on the first run: from there", having([]), { ...plain, since: ago(10) }, ["10d..now"], []],
    [
      "the night after that: no further back than its floor",
      having([read(ago(10), ago(1))], { floor: ago(10) }),
      plain,
      ["10d..now"],
      [],
    ],
    [
      "`--since` above the last read: a gap is named",
      having([read(beginning, ago(92))]),
      { ...plain, since: ago(10) },
      ["10d..now"],
      ["92d..10d"],
    ],
    [
      "`--since` where what was read ends: nothing lies between the two",
      having([read(beginning, ago(10) - 1)]),
      { ...plain, since: ago(10) },
      ["10d..now"],
      [],
    ],
    ["`--until`: no further", first100, { ...plain, until: ago(5) }, ["31d..5d"], []],
    [
      "`--until` in the future: up to now, with what is dated ahead",
      first100,
      { ...plain, until: now + 9 * day },
      ["31d..now"],
      [],
    ],
    [
      "`--until` alone, before all that was read: nothing",
      having([read(ago(10), ago(1))], { floor: ago(10) }),
      { ...plain, until: ago(60) },
      [],
      [],
    ],
    ["a range", first100, { ...plain, since: ago(20), until: ago(10) }, ["20d..10d"], []],
    ["a range of one instant", first100, { ...plain, since: ago(20), until: ago(20) }, ["20d..20d"], []],
    [
      "a range beside what was read: a gap is named",
      having([read(ago(50), ago(40))], { floor: ago(50) }),
      { ...plain, since: ago(20), until: ago(10) },
      ["20d..10d"],
      ["40d..20d"],
    ],
    [
      "a first read that was stopped on its way down: what it left, and nothing of what it has just read",
      having([read(ago(20), now - 60_000, now - 60_000)], {
        floor: beginning,
        goal: { ranges: [{ from: beginning, to: now - 60_000 }], begunAt: now - 120_000 },
      }),
      plain,
      ["0d..now", "beginning..20d"],
      [],
    ],
    [
      "a first read that was stopped two days ago: what it left, and the window anew",
      having([read(ago(20), ago(2), ago(2))], {
        floor: beginning,
        goal: { ranges: [{ from: beginning, to: ago(2) }], begunAt: ago(2) - 1 },
      }),
      plain,
      ["beginning..now"],
      [],
    ],
    [
      "the same with a shorter window: what lies between the two stays as it was read",
      having([read(ago(20), ago(2), ago(2))], {
        floor: beginning,
        goal: { ranges: [{ from: beginning, to: ago(2) }], begunAt: ago(2) - 1 },
      }),
      { ...plain, windowMs: 5 * day },
      ["7d..now", "beginning..20d"],
      [],
    ],
    [
      "what a stopped run has read by a clock that was ahead: that too",
      having([read(ago(200), ago(100), now + day), read(ago(100) + 1, now - 60_000, now - 60_000)], {
        floor: beginning,
        goal: { ranges: [{ from: beginning, to: now - 60_000 }], begunAt: now - 120_000 },
      }),
      plain,
      ["0d..now", "beginning..100d"],
      [],
    ],
    [
      "a part of what a stopped run had set out to read: what it left of it",
      having([read(ago(220), now - 60_000, now - 60_000)], {
        floor: ago(300),
        goal: { ranges: [{ from: ago(300), to: now - 60_000 }], begunAt: now - 120_000 },
      }),
      { ...plain, since: ago(250), until: ago(150) },
      ["250d..220d"],
      ["300d..250d"],
    ],
    [
      "a part of what a run that was stopped two days ago had set out to read: all of it anew",
      having([read(ago(220), ago(2), ago(2))], {
        floor: ago(300),
        goal: { ranges: [{ from: ago(300), to: ago(2) }], begunAt: ago(2) - 1 },
      }),
      { ...plain, since: ago(250), until: ago(150) },
      ["250d..150d"],
      ["300d..250d"],
    ],
    [
      "a `--full` that was stopped two days ago, run again: everything anew",
      having([read(ago(50), ago(2), ago(2))], {
        floor: beginning,
        goal: { ranges: [{ from: beginning, to: ago(2) }], begunAt: ago(2) - 1 },
      }),
      { ...plain, full: true },
      ["beginning..now"],
      [],
    ],
    [
      "what a run had set out to read by a clock that was ahead: what it left, and the window anew",
      having([read(ago(20), now + day, now + day)], {
        floor: beginning,
        goal: { ranges: [{ from: beginning, to: now + day }], begunAt: now + day },
      }),
      plain,
      ["beginning..now"],
      [],
    ],
    [
      "a range of which a stopped run had set out to read a part: all of it",
      having([read(ago(220), now - 60_000, now - 60_000)], {
        floor: ago(300),
        goal: {
          ranges: [
            { from: ago(300), to: ago(200) },
            { from: ago(100), to: now - 60_000 },
          ],
          begunAt: now - 120_000,
        },
      }),
      { ...plain, since: ago(250), until: ago(150) },
      ["250d..150d"],
      ["300d..250d"],
    ],
    [
      "a stopped `--full`, run plainly: what it left",
      having([read(beginning, ago(50), ago(90)), read(ago(50) + 1, now - 60_000, now - 60_000)], {
        goal: { ranges: [{ from: beginning, to: now - 60_000 }], begunAt: now - 120_000 },
      }),
      { ...plain, full: true },
      ["0d..now", "beginning..50d"],
      [],
    ],
    [
      "a stopped window, and `--full`: everything anew",
      having([read(beginning, ago(1))], { goal: { ranges: [{ from: ago(31), to: now }], begunAt: ago(1) } }),
      { ...plain, full: true },
      ["beginning..now"],
      [],
    ],
  ];
  test.each(cases)("%s", (_, before, options, ranges, gaps) => {
    const planned = planDated(before, options, now);
    expect({ ranges: planned.ranges.map(shown), gaps: planned.gaps.map(shown) }).toEqual({ ranges, gaps });
  });
});

test("the floor is the oldest date that was ever asked for: `--since` sets it, only an older one moves it", () => {
  const floorAfter = (before: Before, options: Parameters<typeof planDated>[1]) =>
    planDated(before, options, now).floor;
  expect(floorAfter(having([]), { ...plain, since: ago(10) })).toBe(ago(10));
  const since10 = having([read(ago(10), ago(1))], { floor: ago(10) });
  expect(floorAfter(since10, plain)).toBe(ago(10));
  expect(floorAfter(since10, { ...plain, since: ago(5) })).toBe(ago(10));
  expect(floorAfter(since10, { ...plain, since: ago(40) })).toBe(ago(40));
  expect(floorAfter(since10, { ...plain, full: true })).toBe(beginning);
  expect(floorAfter(having([]), plain)).toBe(beginning);
  // Nothing is asked for, so nothing is moved.
  expect(floorAfter(since10, { ...plain, until: ago(60) })).toBe(ago(10));
});

describe("what a run leaves to the next, should it be stopped", () => {
  const stopped = having([read(beginning, ago(40)), read(ago(20), ago(2), ago(2))], {
    goal: { ranges: [{ from: ago(40), to: ago(2) }], begunAt: ago(2) - 1 },
  });
  const goalAfter = (before: Before, options: Partial<Parameters<typeof planDated>[1]>) =>
    planDated(before, { ...plain, ...options }, now).goal;

  test("is what it reads, up to now", () => {
    expect(goalAfter(first100, {})).toEqual({ ranges: [{ from: ago(31), to: now }], begunAt: now });
  });

  test("is with that what the one before it had left, and counts from when that began", () => {
    expect(goalAfter(stopped, {})).toEqual({ ranges: [{ from: ago(70), to: now }], begunAt: ago(2) - 1 });
  });

  test("is what an earlier one had left, where a range beside it is read", () => {
    expect(goalAfter(stopped, { since: ago(60), until: ago(50) })).toEqual(stopped.goal);
  });

  test("counts from right before now, where a clock that was ahead began it in the future", () => {
    const ahead = having([read(ago(20), now - 1, now - 1)], {
      goal: { ranges: [{ from: beginning, to: now - 1 }], begunAt: now + day },
    });
    expect(goalAfter(ahead, {})).toEqual({ ranges: [{ from: beginning, to: now }], begunAt: now - 1 });
    // Nor can it have set out to read what is still to come: the goal would never be reached.
    const further = { ...ahead, goal: { ranges: [{ from: beginning, to: now + day }], begunAt: now + day } };
    expect(goalAfter(further, {}).ranges).toEqual([{ from: beginning, to: now }]);
  });

  test("is `--full`, which holds what an earlier one had left", () => {
    expect(goalAfter(stopped, { full: true })).toEqual({
      ranges: [{ from: beginning, to: now }],
      begunAt: now,
    });
  });
});

const days = fc.integer({ min: 0, max: 400 });
const range = fc.tuple(days, days).map(([a, b]) => ({ from: ago(Math.max(a, b)), to: ago(Math.min(a, b)) }));
const history = fc.array(range, { maxLength: 5 });

function coverageOf(ranges: readonly Range[]): Covered[] {
  return ranges.reduce<Covered[]>((all, one) => addCovered(all, { ...one, readAt: 1, runId: 1 }), []);
}

test("whatever was read before, a plain run leaves no gap from the floor up to now, and reads the window anew", () => {
  fc.assert(
    fc.property(history, fc.option(days), (ranges, floorDays) => {
      const coverage = coverageOf(ranges);
      const lowest = coverage[0]?.from ?? now;
      const floor =
        coverage.length === 0 && floorDays === null ? null : Math.min(lowest, ago(floorDays ?? 0));
      const planned = planDated({ coverage, goal: null, floor }, plain, now);
      expect(planned.gaps).toEqual([]);
      const joined = join([...coverage, ...planned.ranges]);
      expect(joined).toEqual([{ from: floor ?? beginning, to: open }]);
      const newest = coverage.at(-1)?.to;
      if (newest === undefined) return;
      const anew = { from: Math.max(floor ?? beginning, newest - plain.windowMs), to: open };
      expect(holds(join(planned.ranges), anew)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a gap is named exactly where, after the run, something between what was read stays unread", () => {
  fc.assert(
    fc.property(history, range, (ranges, { from, to }) => {
      const coverage = coverageOf(ranges);
      const before = { coverage, goal: null, floor: coverage[0]?.from ?? null };
      const planned = planDated(before, { ...plain, since: from, until: to }, now);
      const joined = join([...coverage, ...planned.ranges]);
      const all = { from: joined[0]?.from ?? 0, to: joined.at(-1)?.to ?? 0 };
      expect(planned.gaps).toEqual(subtract([all], joined));
    }),
    { numRuns: 300 },
  );
});

test("runs that are stopped anywhere on their way down: the last one leaves nothing that any of them had set out to read", () => {
  const runs = fc.array(
    fc.record({
      stopAfterDays: fc.integer({ min: 0, max: 500 }),
      hoursLater: fc.integer({ min: 0, max: 60 }),
    }),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(history, runs, (ranges, stops) => {
      let clock = now;
      let before: Before = {
        coverage: coverageOf(ranges),
        goal: null,
        floor: ranges.length > 0 ? beginning : null,
      };
      const wanted: (Range & { since: number })[] = [];
      for (const [index, { stopAfterDays, hoursLater }] of stops.entries()) {
        const planned = planDated(before, plain, clock);
        // What a stopped run has read counts for the one that goes on with it.
        const since = before.goal?.begunAt ?? clock;
        wanted.push(...planned.ranges.map((one) => ({ ...one, since })));
        before = readDown(before, planned, clock, stopAfterDays, index + 2);
        clock += hoursLater * 3_600_000;
      }
      before = readDown(before, planDated(before, plain, clock), clock, Number.POSITIVE_INFINITY, 99);
      for (const { from, to, since } of wanted) {
        const anew = join(before.coverage.filter(({ readAt }) => readAt >= since));
        expect(holds(anew, { from, to: Math.min(to, since) })).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([{ full: true }, { since: ago(300) }])(
  "a stopped run of everything once more, %j, is finished by a plain one",
  (options) => {
    const stopped = readDown(first100, planDated(first100, { ...plain, ...options }, now), now, 40, 2);
    const planned = planDated(stopped, plain, now + day);
    const ended = readDown(stopped, planned, now + day, Number.POSITIVE_INFINITY, 3);
    expect(ended.goal).toBeNull();
  },
);

test("a run that has read a gap and the window, each by itself, has reached its goal", () => {
  const planned = planDated(holed, plain, now);
  expect(readDown(holed, planned, now, Number.POSITIVE_INFINITY, 2).goal).toBeNull();
});

/** Reads what is planned, newest first, and stops when it has read so many days: as the state remembers it. */
function readDown(
  before: Before,
  { ranges, goal, floor }: { ranges: readonly Range[]; goal: Goal; floor: number },
  clock: number,
  stopAfterDays: number,
  runId: number,
): Before {
  let left = stopAfterDays * day;
  let coverage = [...before.coverage];
  for (const { from, to } of ranges) {
    const end = Math.min(to, clock);
    const reached = left === Number.POSITIVE_INFINITY ? from : Math.max(from, end - left);
    if (left <= 0 || reached > end) continue;
    coverage = addCovered(coverage, { from: reached, to: end, readAt: clock, runId });
    left -= end - reached;
  }
  const done = coverage.filter(({ readAt }) => readAt >= goal.begunAt);
  return { coverage, floor, goal: subtract(goal.ranges, done).length === 0 ? null : goal };
}

import { describe, expect, test } from "vitest";
import { everything, join, type Range, startOfDay } from "../../src/lib/ranges.js";
import { type Lane, merge, newLanes, type Share } from "../../src/sync/lanes.js";
import { day, hour, nights, noon, ordersBefore, readsOf } from "../support/nights.js";
import fc from "../support/property.js";

const midnight = startOfDay(noon);
const year: Range = { from: midnight - 400 * day, to: noon };

/** As many records on each of the 400 days as said. */
function share(records: (daysAgo: number) => number): Map<number, number> {
  return new Map(Array.from({ length: 400 }, (_, ago) => [midnight - ago * day, records(ago)]));
}

function recordsIn({ from, to }: Range, share: ReadonlyMap<number, number>): number {
  return [...share].reduce((sum, [at, records]) => sum + (at >= from && at <= to ? records : 0), 0);
}

test.each([
  ["a few pages are one lane", 79, 1],
  ["a lane has to be worth a page", 80, 2],
  ["no more than four", 10_000, 4],
])("%s", (_, pages, lanes) => {
  expect(
    newLanes(
      year,
      pages,
      share(() => 5),
    ),
  ).toHaveLength(lanes);
});

test.each<[string, Share]>([
  ["nobody knows how the records lie", null],
  ["as many each day", share(() => 5)],
  ["most lie in the last month", share((ago) => (ago < 30 ? 100 : 1))],
  ["all lie on one day", share((ago) => (ago === 200 ? 100 : 0))],
  ["there are none", share(() => 0)],
])("lanes lie beside one another, cut at midnight, and are the range: %s", (_, records) => {
  const lanes = newLanes(year, 500, records);
  expect(join(lanes)).toEqual([year]);
  const sorted = lanes.toSorted((a, b) => b.from - a.from);
  expect(lanes[0]).toEqual(sorted[0]);
  for (const [index, lane] of sorted.entries()) {
    expect(lane.to).toBeGreaterThanOrEqual(lane.from);
    if (index > 0) expect(lane.to).toBe((sorted[index - 1]?.from ?? 0) - 1);
    if (index > 0) expect((lane.to + 1) % day).toBe(0);
  }
});

test("a range without a beginning is one lane where nobody knows how its records lie", () => {
  expect(newLanes({ ...everything, to: noon }, 500, null)).toHaveLength(1);
});

test("where nobody knows how the records lie, lanes are as long", () => {
  const days = newLanes(year, 500, null).map(({ from, to }) => (to - from) / day);
  expect(days).toHaveLength(4);
  expect(Math.max(...days)).toBeLessThan(1.1 * Math.min(...days));
});

const recent = share((ago) => (ago < 30 ? 100 : 1));
test.each([
  ["in their order", recent],
  ["in another", new Map([...recent].sort(([a], [b]) => ((a / day) % 2) - ((b / day) % 2)))],
])("the figures by day cut lanes of as many records each: %s", (_, records) => {
  const lanes = newLanes(year, 500, records);
  const each = lanes.map((lane) => recordsIn(lane, records));
  expect(Math.max(...each)).toBeLessThan(2 * Math.min(...each));
});

/** Reads a lane a day at a time, downwards, as long as somebody asks. */
function reader(seen: number[], ended: Lane[]) {
  return async function* open(lane: Lane): AsyncGenerator<number, void> {
    try {
      while (lane.to >= lane.from) {
        const start = Math.max(lane.from, startOfDay(lane.to));
        lane.to = start - 1;
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(start);
        yield start;
      }
    } finally {
      ended.push(lane);
    }
  };
}

test("whatever the lanes and however the records lie, each day is read once", async () => {
  const property = fc.asyncProperty(
    fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 60 }),
    fc.integer({ min: 40, max: 400 }),
    async (records, pages) => {
      const days = new Map(records.map((count, ago) => [midnight - ago * day, count]));
      const range = { from: midnight - (records.length - 1) * day, to: midnight + day - 1 };
      const [seen, ended]: [number[], Lane[]] = [[], []];
      for await (const _ of merge(newLanes(range, pages, days), reader(seen, ended), days));
      expect(seen.sort((a, b) => b - a)).toEqual([...days.keys()]);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

/** The lanes that are opened, as they are then. */
async function openedOf(lanes: readonly Lane[], records: Share): Promise<Lane[]> {
  const opened: Lane[] = [];
  const open = reader([], []);
  const watch = (lane: Lane) => {
    opened.push({ ...lane });
    return open(lane);
  };
  for await (const _ of merge(lanes, watch, records));
  return opened;
}

describe("a lane that runs dry takes half of the longest one left", () => {
  const [short, long] = [
    { from: midnight - 9 * day, to: noon },
    { from: midnight - 399 * day, to: midnight - 9 * day - 1 },
  ];
  test.each<[string, Share, number, number]>([
    ["where nobody knows how its records lie", null, 180, 230],
    ["where as many lie on each day", share(() => 5), 180, 230],
    ["of its records, where most lie at its top", share((ago) => (ago < 100 ? 100 : 1)), 50, 70],
  ])("%s", async (_, records, least, most) => {
    const opened = await openedOf([{ ...short }, { ...long }], records);
    expect(opened.length).toBeGreaterThan(2);
    const [, , taken] = opened;
    expect(taken?.from).toBe(midnight - 399 * day);
    const daysAgo = (midnight - (taken?.to ?? 0)) / day;
    expect(daysAgo).toBeGreaterThan(least);
    expect(daysAgo).toBeLessThan(most);
  });
});

test("whoever leaves early ends all lanes", async () => {
  const ended: Lane[] = [];
  const lanes = newLanes(
    year,
    400,
    share(() => 5),
  );
  for await (const _ of merge(
    lanes,
    reader([], ended),
    share(() => 5),
  ))
    break;
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(ended).toHaveLength(lanes.length);
});

test("a lane that fails ends the others, and its failure is told", async () => {
  const ended: Lane[] = [];
  const read = reader([], ended);
  const [top, ...below] = newLanes(
    year,
    400,
    share(() => 5),
  );
  async function* open(lane: Lane): AsyncGenerator<number, void> {
    if (lane === top) throw new Error("refused");
    yield* read(lane);
  }
  const all = async () => {
    for await (const _ of merge(
      [top, ...below],
      open,
      share(() => 5),
    ));
  };
  await expect(all()).rejects.toThrow("refused");
});

test("a long first read is of lanes, and as complete and nearly as cheap as one", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 12_100, 3 * hour) }, { delivery: "late" });
  const { asked, failure, rows_read } = await brand.sync();
  expect({ failure, rows_read }).toEqual({ failure: null, rows_read: 12_100 });
  const [first, ...ends] = readsOf(asked, "/orders").map(({ query }) => query.end_date);
  expect(first).toBeUndefined();
  // Not from the newest to the oldest, as one lane would be.
  expect(ends.some((end, index) => index > 0 && String(end) > String(ends[index - 1]))).toBe(true);
  // A figure, three counts, an audit that finds nothing old; one in a hundred more, and the ends of lanes.
  expect(asked.length).toBeLessThan(121 * 1.02 + 4 + 8);
});

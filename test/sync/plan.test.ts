import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { SyncState } from "../../src/store/sync-state.js";
import { groupDays } from "../../src/sync/daily-totals.js";
import { loadPlanState, type PlanState, planDated, subtractWindow } from "../../src/sync/plan.js";
import type { DatedSession, RequestedDates } from "../../src/sync/session.js";
import { allTime, utcDay } from "../../src/util/time-ranges.js";
import { minTimestampMs } from "../../src/util/timestamps.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { orderAt } from "../support/records.js";

const hour = 3_600_000;
const day = 24 * hour;
const first = Number.NEGATIVE_INFINITY;
const now = 1_000 * day - 1;
/** Returns the range from the start of day `from` to the end of day `to - 1`. The days are numbered from 0. */
const days = (from: number, to: number) => ({ from: from === first ? first : from * day, to: to * day - 1 });
const read = (from: number, to: number, runId = 1) => ({ ...days(from, to), requestedAt: now - day, runId });
const before = (given: Partial<PlanState>): PlanState => ({
  coverage: [],
  faultySlices: [],
  floor: null,
  finishedUntil: null,
  interrupted: [],
  missingDates: [],
  ...given,
});
const defaults = { full: false, windowMs: 30 * day, allFaulty: false };
const plan = (given: PlanState, options: Partial<typeof defaults & RequestedDates>) =>
  planDated(given, { ...defaults, ...options }, { since: options.since, until: options.until ?? now }, now);

const table: [what: string, before: PlanState, options: object, ranges: object[], gaps: object[]][] = [
  ["the first run reads all dates", before({}), {}, [days(first, 1000)], []],
  [
    "the first sync with --since starts at that date",
    before({}),
    { since: 900 * day },
    [days(900, 1000)],
    [],
  ],
  [
    "a later run starts at the end of the last finished sync, minus the window of recent dates to re-read",
    before({ coverage: [read(first, 999)], floor: first, finishedUntil: 999 * day - 1 }),
    {},
    [days(969, 1000)],
    [],
  ],
  [
    "if the clock was set back, the window (recent dates to re-read) ends at the current time",
    before({ coverage: [read(first, 1000)], floor: first, finishedUntil: 1010 * day - 1 }),
    {},
    [days(970, 1000)],
    [],
  ],
  [
    "the window of recent dates to re-read does not start before the oldest date of the first sync",
    before({ coverage: [read(980, 999)], floor: 980 * day, finishedUntil: 999 * day - 1 }),
    {},
    [days(980, 1000)],
    [],
  ],
  [
    "if earlier runs left a gap between the dates that they read, a run reads the gap and re-reads the window before it",
    before({ coverage: [read(first, 800), read(850, 999)], floor: first, finishedUntil: 999 * day - 1 }),
    {},
    [days(969, 1000), days(770, 850)],
    [],
  ],
  [
    "after three months without a run, a run reads all dates since the last run",
    before({ coverage: [read(first, 900)], floor: first, finishedUntil: 900 * day - 1 }),
    {},
    [days(870, 1000)],
    [],
  ],
  [
    "a run with --since reports the gap that it leaves",
    before({ coverage: [read(first, 900)], floor: first, finishedUntil: 900 * day - 1 }),
    { since: 990 * day },
    [days(990, 1000)],
    [days(900, 990)],
  ],
  [
    "a newer --since after an interrupted first run leaves a gap back to the older --since",
    before({ floor: 800 * day }),
    { since: 990 * day },
    [days(990, 1000)],
    [days(800, 990)],
  ],
  [
    "an older --since with --until leaves a gap up to the dates that were read before",
    before({ coverage: [read(900, 999)], floor: 900 * day, finishedUntil: 999 * day - 1 }),
    { since: 800 * day, until: 850 * day - 1 },
    [days(800, 850)],
    [days(850, 900)],
  ],
  [
    "--until limits the dates of a run without other flags",
    before({ coverage: [read(first, 900)], floor: first, finishedUntil: 900 * day - 1 }),
    { until: 950 * day - 1 },
    [days(870, 950)],
    [],
  ],
  [
    "--full includes dates before the --since of the first sync",
    before({ coverage: [read(900, 999)], floor: 900 * day, finishedUntil: 999 * day - 1 }),
    { full: true },
    [days(first, 1000)],
    [],
  ],
  [
    "a run after an interrupted first run reads the remaining dates and the window",
    before({ coverage: [read(700, 1000, 2)], floor: first }),
    {},
    [days(970, 1000), days(first, 700)],
    [],
  ],
  [
    "dates that an interrupted run read within the last hour are skipped",
    before({
      coverage: [read(700, 1000, 2)],
      floor: first,
      interrupted: [{ ...days(700, 1000), requestedAt: now - hour, runId: 2 }],
    }),
    {},
    [days(first, 700)],
    [],
  ],
  [
    "the days of records that an earlier run did not find are always re-read",
    before({
      coverage: [read(first, 999)],
      floor: first,
      finishedUntil: 999 * day - 1,
      interrupted: [{ ...days(969, 999), requestedAt: now, runId: 2 }],
      missingDates: [days(500, 501), days(980, 981)],
    }),
    {},
    [days(999, 1000), days(980, 981), days(500, 501)],
    [],
  ],
];

test.each(table)("planned dates of a sync: %s", (_, given, options, ranges, gaps) => {
  const planned = plan(given, options);
  expect(planned.ranges).toEqual(ranges.map((range) => expect.objectContaining(range)));
  expect(planned.gaps).toEqual(gaps);
});

test("sync re-reads a date range with faulty records only if it is within the planned dates, but verify --repair re-reads every such range", () => {
  const given = before({
    coverage: [read(first, 999)],
    faultySlices: [days(500, 501), days(990, 991)],
    floor: first,
    finishedUntil: 999 * day - 1,
    missingDates: [days(700, 701)],
  });
  expect(plan(given, {}).faultySlices).toEqual([days(990, 991)]);
  const all = plan(given, { allFaulty: true });
  expect(all.faultySlices).toEqual([days(990, 991), days(500, 501)]);
});

test("`since` in a sync's plan is the oldest date to read, or the first sync's --since if no dates have to be read", () => {
  const given = before({ coverage: [read(900, 1000)], floor: 900 * day, finishedUntil: 999 * day - 1 });
  expect(plan(given, {}).since).toBe(969 * day);
  expect(plan({ ...given, faultySlices: [days(950, 951)] }, { allFaulty: true }).since).toBe(950 * day);
  expect(plan({ ...given, interrupted: given.coverage }, { until: 950 * day }).since).toBe(900 * day);
});

test("if an earlier run did not find some records, sync plans to re-read the days of these records, or all dates if one of the records has no readable date", async () => {
  const mirror = await makeMirror();
  const state = new SyncState(mirror, orders.name);
  const missingDates = () =>
    loadPlanState({ mirror, resource: orders, state } as unknown as DatedSession).missingDates;
  writeRead(mirror, "orders", [orderAt("a", 10.5 * day), orderAt("b", "soon"), orderAt("c", 20 * day)]);
  mirror.transaction(() => state.missing.add([{ id: 1, lastSeenAt: null }]));
  expect(missingDates()).toEqual([days(10, 11)]);
  mirror.transaction(() => state.missing.add([{ id: 2, lastSeenAt: null }]));
  expect(missingDates()).toEqual(expect.arrayContaining([days(10, 11), allTime]));
});

test("subtractWindow returns -Infinity only if the result would be before the year 0", () => {
  expect(subtractWindow(minTimestampMs + 5, 5)).toBe(minTimestampMs);
  expect(subtractWindow(minTimestampMs + 5, 6)).toBe(Number.NEGATIVE_INFINITY);
});

test("sync reads changed days together if they are adjacent or fit on one page, starting with the least recently read days", async () => {
  const mirror = await makeMirror();
  for (const [at, count] of [
    [101, 60],
    [103, 39],
    [110, 60],
    [111, 90],
    [120, 60],
    [122, 40],
  ] as const)
    writeRead(
      mirror,
      "orders",
      Array.from({ length: count }, (_, n) => orderAt(`${at}-${n}`, at * day + n)),
    );
  const ids = Array.from({ length: 400 }, (_, n) => n);
  const state = new SyncState(mirror, orders.name);
  for (const [from, to, requestedAt] of [
    [101, 102, 1],
    [102, 110, 9],
    [110, 120, 5],
    [120, 130, 3],
  ] as const) {
    const reading = { runId: requestedAt, range: days(from, to), requestedAt, isComplete: true, ids };
    mirror.transaction(() => state.applyReading(reading));
  }
  const moved = [101, 103, 110, 111, 120, 122].map((at) => utcDay(at * day));
  expect(groupDays(state, moved)).toEqual([days(101, 104), days(120, 121), days(122, 123), days(110, 112)]);
  mirror.db.close();
});

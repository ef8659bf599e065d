import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import {
  copyCoverageToRun,
  findLastReadAt,
  loadCoverage,
  loadFaultySlices,
  loadTrustedCoverage,
  type SyncedDates,
  saveCoverage,
  saveFaultySlices,
  withCoveredRange,
  withFaultySlice,
} from "../../src/store/coverage.js";
import { insertRun, updateRun } from "../../src/store/runs.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";

const faulty = { recordIds: [1], fault: "a fault" };

test("adjacent date ranges from the same run are merged, and replace earlier reads of the same dates", async () => {
  const mirror = await makeMirror();
  const cover = (runId: number, ...readings: [from: number, to: number, requestedAt: number][]) => {
    const state = new SyncState(mirror, orders.name);
    mirror.transaction(() => {
      for (const [from, to, requestedAt] of readings)
        state.applyReading({ runId, range: { from, to }, requestedAt, isComplete: true, ids: [] });
    });
    return state;
  };
  cover(1, [2_000, 2_999, 70_000], [1_000, 1_999, 60_000]);
  const state = cover(2, [2_500, 3_999, 90_000], [4_001, 4_999, 80_000]);
  const expected = [
    { from: 1_000, to: 2_499, requestedAt: 60_000, runId: 1 },
    { from: 2_500, to: 3_999, requestedAt: 90_000, runId: 2 },
    { from: 4_001, to: 4_999, requestedAt: 80_000, runId: 2 },
  ];
  expect(state.loadCoverage()).toEqual(expected);
  expect(loadCoverage(mirror, orders.name)).toEqual(expected);
  expect(mirror.selectRows("SELECT * FROM run_coverage WHERE run_id = 2")).toEqual([
    { run_id: 2, from_at: "1970-01-01T00:00:01.000Z", to_at: "1970-01-01T00:00:03.999Z" },
    { run_id: 2, from_at: "1970-01-01T00:00:04.001Z", to_at: "1970-01-01T00:00:04.999Z" },
  ]);
});

test.each([
  ["a date at midnight", "day", "2026-11-05T00:00:00Z", "2026-11-05T23:59:59.999Z"],
  ["a date without seconds", "minute", "2026-11-05T10:30:00Z", "2026-11-05T10:30:59.999Z"],
  ["a date with seconds", "second", "2026-11-05T10:30:07Z", "2026-11-05T10:30:07.999Z"],
])(
  "for %s, findLastReadAt returns the time of the earliest read that covers any part of the date's %s",
  (_, __, date, last) => {
    const [from, to] = [Date.parse(date), Date.parse(last)];
    const [early, late] = [Date.parse("2026-11-07"), Date.parse("2026-11-08")];
    const newer = { from, to: to - 1, requestedAt: late, runId: 2 };
    const older = { from: to, to, requestedAt: early, runId: 1 };
    const other = { from: to + 1, to: to + 1, requestedAt: early - 1, runId: 1 };
    expect(findLastReadAt([newer, older, other], from)).toBe("2026-11-07T00:00:00.000Z");
    expect(findLastReadAt([newer], from)).toBeNull();
  },
);

test("for an unreadable date, findLastReadAt returns the time of the latest read of any date", () => {
  const read = { from: 0, to: 999, requestedAt: 1_000, runId: 1 };
  expect(findLastReadAt([read, { ...read, requestedAt: 5_000 }, { ...read, requestedAt: 2_000 }], null)).toBe(
    "1970-01-01T00:00:05.000Z",
  );
  expect(findLastReadAt([], null)).toBeNull();
});

test("a date with microseconds counts as read if it is in the last millisecond of a range that was read", () => {
  const range = { from: 7_000, to: 7_999, requestedAt: 0, runId: 1 };
  expect(findLastReadAt([range], 7_999.5)).toBe("1970-01-01T00:00:00.000Z");
});

test("if date ranges overlap, each date belongs to the latest read, even if that read returned faulty records", () => {
  const read = (from: number, to: number, runId: number) => ({ from, to, requestedAt: runId, runId });
  let dates: SyncedDates = { coverage: [], faultySlices: [] };
  dates = withCoveredRange(dates, read(0, 999, 1));
  dates = withFaultySlice(dates, { ...read(600, 699, 2), ...faulty });
  dates = withFaultySlice(dates, { ...read(200, 399, 3), ...faulty });
  dates = withCoveredRange(dates, read(300, 349, 4));
  expect(dates).toEqual({
    coverage: [read(0, 199, 1), read(300, 349, 4), read(400, 599, 1), read(700, 999, 1)],
    faultySlices: [
      { ...read(200, 299, 3), ...faulty },
      { ...read(350, 399, 3), ...faulty },
      { ...read(600, 699, 2), ...faulty },
    ],
  });
});

test("writing a resource's coverage and faulty date ranges replaces all earlier ranges, including those without a start", async () => {
  const mirror = await makeMirror();
  const open = { from: Number.NEGATIVE_INFINITY, to: 999, requestedAt: 5_000, runId: 1 };
  const [covered, slice] = [
    { ...open, from: 2_000, to: 2_999 },
    { ...open, ...faulty },
  ];
  mirror.transaction(() => {
    for (const coverage of [[open], [open, covered]]) saveCoverage(mirror, "orders", coverage);
    for (const slices of [[slice], [slice]]) saveFaultySlices(mirror, "orders", slices);
    saveCoverage(mirror, "content", []);
    saveFaultySlices(mirror, "content", []);
  });
  expect(loadCoverage(mirror, "orders")).toEqual([open, covered]);
  expect(loadFaultySlices(mirror, "orders")).toEqual([slice]);
});

test("dates count as confirmed if the run that read them found equal counts, or completed without comparing counts", async () => {
  const mirror = await makeMirror();
  const runs = [
    { outcome: "done", differing: 0 },
    { outcome: "done", differing: null },
    { outcome: "done", differing: 1 },
    { outcome: "incomplete", differing: 0 },
    { outcome: "incomplete", differing: null },
    { outcome: "incomplete", differing: 2 },
    { outcome: "failed", differing: 0 },
    { outcome: "compared", differing: 0 },
  ] as const;
  const ids = runs.map((columns) => {
    const id = insertRun(mirror, "orders", "2026-11-01T00:00:00.000Z");
    updateRun(mirror, id, columns);
    return id;
  });
  const coverage = ids.map((runId, n) => ({ from: n * 1_000, to: n * 1_000 + 999, requestedAt: 0, runId }));
  mirror.transaction(() => saveCoverage(mirror, "orders", coverage));
  const confirmed = loadTrustedCoverage(mirror, "orders").map(({ runId }) => runs[ids.indexOf(runId)]);
  expect(confirmed).toEqual([runs[0], runs[1], runs[3]]);
});

test("copyCoverageToRun merges the date ranges from all runs, and stores the result in place of the run's earlier ranges", async () => {
  const mirror = await makeMirror();
  const first = { from: Number.NEGATIVE_INFINITY, to: 999, requestedAt: 0, runId: 1 };
  const second = { from: 1_000, to: 1_999, requestedAt: 0, runId: 2 };
  mirror.transaction(() => {
    copyCoverageToRun(mirror, 1, [first]);
    for (const covered of [[first], [first, second]]) copyCoverageToRun(mirror, 2, covered);
  });
  expect(mirror.selectRows("SELECT * FROM run_coverage ORDER BY run_id")).toEqual([
    { run_id: 1, from_at: null, to_at: "1970-01-01T00:00:00.999Z" },
    { run_id: 2, from_at: null, to_at: "1970-01-01T00:00:01.999Z" },
  ]);
});

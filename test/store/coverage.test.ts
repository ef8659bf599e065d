import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { findLastReadAt, readCoverage } from "../../src/store/coverage.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";

test("coverage merges a run's adjacent ranges, and replaces older reads of the same dates", async () => {
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
  const state = cover(2, [2_500, 3_999, 90_000]);
  const expected = [
    { from: 1_000, to: 2_499, readAt: 60_000, runId: 1 },
    { from: 2_500, to: 3_999, readAt: 90_000, runId: 2 },
  ];
  expect(state.coverage()).toEqual(expected);
  expect(readCoverage(mirror, orders.name)).toEqual(expected);
});

test.each([
  ["a date at midnight", "2026-11-05T00:00:00Z", "2026-11-05T23:59:59.999Z"],
  ["a date without seconds", "2026-11-05T10:30:00Z", "2026-11-05T10:30:59.999Z"],
  ["a date with seconds", "2026-11-05T10:30:07Z", "2026-11-05T10:30:07.000Z"],
])("%s was last read when the earliest read of its possible dates was sent", (_, date, last) => {
  const [from, to] = [Date.parse(date), Date.parse(last)];
  const [early, late] = [Date.parse("2026-11-07"), Date.parse("2026-11-08")];
  const newer = { from, to: to - 1, readAt: late, runId: 2 };
  const older = { from: to, to, readAt: early, runId: 1 };
  expect(findLastReadAt([newer, older], from)).toBe("2026-11-07T00:00:00.000Z");
  expect(findLastReadAt([newer], from)).toBeNull();
});

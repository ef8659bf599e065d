import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { readCoverage } from "../../src/store/coverage.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";

test("coverage merges a run's adjacent ranges, and replaces older reads of the same dates", async () => {
  const mirror = await makeMirror();
  const cover = (runId: number, ...readings: [from: number, to: number, requestedAt: number][]) => {
    const state = new SyncState(mirror, orders.name);
    for (const [from, to, requestedAt] of readings)
      state.coverRange({ runId, range: { from, to }, ids: new Set(), requestedAt });
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

import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";
import { order, write } from "./record-mirror.js";

type Reading = Parameters<SyncState["applyReading"]>[0];

const firstDay = { from: 0, to: 86_399_999 };
const bothDays = { from: 0, to: 2 * 86_400_000 - 1 };
const reading = { runId: 1, requestedAt: 1, isComplete: true, ids: [], changed: null };
const faulty = { ids: [], addedIds: [], fault: "a fault" };

async function withUndatedOrder() {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", { order_date: "soon" })]);
  const state = new SyncState(mirror, orders.name);
  const apply = (given: Pick<Reading, "range" | "faulty"> & Partial<Reading>) =>
    mirror.transaction(() => state.applyReading({ ...reading, ...given }));
  apply({ range: firstDay, faulty: { ...faulty, ids: [1], addedIds: [1] } });
  return { state, apply };
}

test("if a faulty date range is re-read only in part, its records without a readable date stay faulty", async () => {
  const { apply, state } = await withUndatedOrder();
  apply({ range: bothDays, isComplete: false, faulty });
  expect(state.loadFaultySlices()).toEqual([
    { ...bothDays, requestedAt: 1, runId: 1, fault: "a fault", recordIds: [1] },
  ]);
  expect(state.missing.load()).toEqual([]);
});

test("a record without a readable date is marked as missing if it is absent from a complete read of its faulty date range", async () => {
  const { apply, state } = await withUndatedOrder();
  apply({ range: bothDays, faulty });
  expect(state.loadFaultyIds()).toEqual(new Set());
  expect(state.missing.load()).toEqual([{ id: 1, date: null }]);
});

test("a record without a readable date is not marked as missing if a complete read of its faulty date range returns the record", async () => {
  const { apply, state } = await withUndatedOrder();
  apply({ range: bothDays, ids: [1], faulty });
  expect(state.missing.load()).toEqual([]);
});

test("a record that the API returns for a wrong date range is marked as missing only if it is new and its date has been read", async () => {
  const mirror = await makeMirror();
  const day = (n: number) => ({ from: n * 86_400_000, to: (n + 1) * 86_400_000 - 1 });
  const dates = ["1970-01-01T12:00:00Z", "1970-01-02T12:00:00Z", "1970-01-02T13:00:00Z"];
  write(
    mirror,
    orders,
    dates.map((order_date, n) => order(`o${n + 1}`, { order_date })),
  );
  const state = new SyncState(mirror, orders.name);
  mirror.transaction(() => {
    state.applyReading({ ...reading, range: day(1), ids: [2, 3], faulty: null });
    const added = { ...faulty, ids: [1, 2, 3], addedIds: [1, 2] };
    state.applyReading({ ...reading, range: day(2), faulty: added });
  });
  expect(state.missing.load()).toMatchObject([{ id: 2 }]);
  expect(state.loadRemovableRecords()).toEqual([]);
});

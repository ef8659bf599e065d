import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";
import { order, write } from "./record-mirror.js";

const reading = { runId: 1, requestedAt: 1, fault: "a fault" };
const firstDay = { from: 0, to: 86_399_999 };
const bothDays = { from: 0, to: 2 * 86_400_000 - 1 };

async function withUndatedOrder() {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", { order_date: "soon" })]);
  const state = new SyncState(mirror, orders.name);
  state.addFaultySlice({ ...reading, range: firstDay, faultyIds: [1], ids: null });
  return state;
}

test("if a partially read slice replaces other slices, their undated records are assigned to the new slice", async () => {
  const state = await withUndatedOrder();
  state.addFaultySlice({ ...reading, range: bothDays, faultyIds: [], ids: null });
  expect(state.faultySlices()).toEqual([
    { ...bothDays, readAt: 1, runId: 1, fault: "a fault", recordIds: [1] },
  ]);
  expect(state.missing.all()).toEqual([]);
});

test("an undated record is marked as missing if a complete slice without the record replaces its slice", async () => {
  const state = await withUndatedOrder();
  state.addFaultySlice({ ...reading, range: bothDays, faultyIds: [], ids: new Set() });
  expect(state.faultyIds()).toEqual(new Set());
  expect(state.missing.all()).toEqual([{ id: 1, date: null }]);
});

test("an undated record is not marked as missing if a complete slice contains it", async () => {
  const state = await withUndatedOrder();
  state.addFaultySlice({ ...reading, range: bothDays, faultyIds: [], ids: new Set([1]) });
  expect(state.missing.all()).toEqual([]);
});

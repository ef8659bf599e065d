import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";
import { order, write } from "./record-mirror.js";

const day = { readAt: 1, runId: 1, fault: "a fault" };
const firstDay = { from: 0, to: 86_399_999, ...day };
const bothDays = { from: 0, to: 2 * 86_400_000 - 1, ...day };

/** Opens a mirror with an order that has no readable date. The slice for the first day contains this order. */
async function withUndatedOrder() {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", { order_date: "soon" })]);
  const state = new SyncState(mirror, orders.name);
  state.markIncompleteSlice({ ...firstDay, recordIds: [1] });
  return state;
}

test("a partially read slice keeps the undated records from the slices that it replaces", async () => {
  const state = await withUndatedOrder();
  state.markIncompleteSlice({ ...bothDays, recordIds: [] });
  expect(state.markedSlices()).toEqual([{ ...bothDays, recordIds: [1] }]);
  expect(state.missing.all()).toEqual([]);
});

test("an undated record is missing if a complete slice replaces its slice and does not return it", async () => {
  const state = await withUndatedOrder();
  state.markCompleteSlice({ ...bothDays, recordIds: [] }, new Set());
  expect(state.markedIds()).toEqual(new Set());
  expect(state.missing.all()).toEqual([{ id: 1, dated: null }]);
});

test("an undated record is not missing if a complete slice returns it", async () => {
  const state = await withUndatedOrder();
  state.markCompleteSlice({ ...bothDays, recordIds: [] }, new Set([1]));
  expect(state.missing.all()).toEqual([]);
});

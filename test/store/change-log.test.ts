import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { roster } from "../../src/resources/roster.js";
import type { Mirror } from "../../src/store/database.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { order, rows, unrecordedRun, write } from "./record-mirror.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const allDates = (day: number) => ({ at: at(day), whole: true });
const refunded = (refund_amount: number) => order("o1", { refund_amount });
const changes = (mirror: Mirror) =>
  rows(
    mirror,
    "SELECT kind, old, new, last_seen_unchanged_at AS since, seen_changed_at AS seen FROM changes ORDER BY change_id",
  );

test("each removal and each return of a record is stored as a change and starts a new version of the record", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [refunded(0), order("o2")], allDates(1));
  writeRead(mirror, "orders", [refunded(0), order("o2")], allDates(2));
  writeRead(mirror, "orders", [], { ...allDates(3), remove: ["o1"] });
  writeRead(mirror, "orders", [refunded(5)], allDates(4));
  writeRead(mirror, "orders", [], { ...allDates(5), remove: ["o1"] });
  writeRead(mirror, "orders", [refunded(6)], allDates(6));
  const none = { old: null, new: null };
  expect(changes(mirror)).toEqual([
    { kind: "removed", ...none, since: at(2), seen: at(3) },
    { kind: "returned", ...none, since: at(3), seen: at(4) },
    { kind: "changed", old: "0", new: "5", since: at(2), seen: at(4) },
    { kind: "removed", ...none, since: at(4), seen: at(5) },
    { kind: "returned", ...none, since: at(5), seen: at(6) },
    { kind: "changed", old: "5", new: "6", since: at(4), seen: at(6) },
  ]);
  const versions = "SELECT since_at AS since, until_at AS until, present, month FROM record_versions";
  expect(rows(mirror, versions)).toEqual([
    { since: at(1), until: at(3), present: 1, month: "2026-10" },
    { since: at(3), until: at(4), present: 0, month: "2026-10" },
    { since: at(4), until: at(5), present: 1, month: "2026-10" },
    { since: at(5), until: at(6), present: 0, month: "2026-10" },
  ]);
});

test("if a missing record returns with a new value, the change's `last_seen_unchanged_at` is the last read that returned the record", async () => {
  const mirror = await makeMirror();
  for (const day of [1, 2]) writeRead(mirror, "orders", [refunded(0)], allDates(day));
  const missing = new SyncState(mirror, "orders").missing;
  mirror.transaction(() => missing.add([{ id: 1, lastSeenAt: at(2) }]));
  writeRead(mirror, "orders", [], allDates(3));
  writeRead(mirror, "orders", [refunded(5)], allDates(4));
  expect(changes(mirror)).toMatchObject([{ since: at(2), seen: at(4) }]);
});

test("if two successive reads each return a new value, the second change's `last_seen_unchanged_at` is the earlier read", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [refunded(0)], allDates(2));
  for (const day of [3, 4]) write(mirror, orders, [refunded(day)], { requestedAt: Date.parse(at(day)) });
  expect(changes(mirror)).toMatchObject([
    { new: "3", since: at(2) },
    { new: "4", since: at(3) },
  ]);
});

test("if the API returns a removed record for a wrong date range, the return's `last_seen_unchanged_at` is the last earlier read of the record", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [refunded(0)], allDates(1));
  writeRead(mirror, "orders", [], { ...allDates(2), remove: ["o1"] });
  writeRead(mirror, "orders", [], allDates(3));
  const store = new RecordWriter(mirror, orders, unrecordedRun(9));
  mirror.transaction(() => store.write([refunded(0)], { requestedAt: Date.parse(at(4)), isFaulty: true }));
  expect(changes(mirror).at(-1)).toMatchObject({ kind: "returned", since: at(1), seen: at(4) });
});

test("a new roster record, which has no date, is recorded as added, but a new order with an unreadable date is not", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [], allDates(2));
  write(mirror, orders, [order("o1", { order_date: "soon" })], { requestedAt: Date.parse(at(3)) });
  expect(changes(mirror)).toEqual([]);
  writeRead(mirror, "roster", [{ relationship_id: "r1" }], allDates(4));
  write(mirror, roster, [{ relationship_id: "r2" }], { requestedAt: Date.parse(at(5)) });
  expect(changes(mirror)).toMatchObject([{ kind: "added", since: at(4), seen: at(5) }]);
});

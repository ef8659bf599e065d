import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { listStatusFilters } from "../../src/resources/resource.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import { SyncState, type TotalsByDay } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";
import { order, unrecordedRun, write } from "./record-mirror.js";

const options = { windowMs: 5, auditRequests: 0 };

test("before the first run, a resource's sync state is empty", async () => {
  const mirror = await makeMirror();
  const state = new SyncState(mirror, orders.name);
  expect([
    state.loadFloor(),
    state.loadAuditCursor(),
    state.loadLastOptions(),
    [...state.loadIgnoredFilters()],
  ]).toEqual([null, null, null, []]);
});

test("storing a sync's options fails if the oldest date to read has not been stored", async () => {
  const mirror = await makeMirror();
  const state = new SyncState(mirror, orders.name);
  expect(() => mirror.transaction(() => state.saveLastOptions(options))).toThrow("must save the floor");
});

test("a resource's sync state contains the oldest date to read, the audit's progress, the last run's options and the ignored filters", async () => {
  const mirror = await makeMirror();
  const state = new SyncState(mirror, orders.name);
  mirror.transaction(() => state.saveFloor(Number.NEGATIVE_INFINITY));
  expect([state.loadFloor(), state.loadAuditCursor(), state.loadLastOptions()]).toEqual([
    Number.NEGATIVE_INFINITY,
    null,
    null,
  ]);
  expect(mirror.selectValue("SELECT floor_ms FROM sync_state")).toBeNull();
  for (const columns of ["window_ms = 5", "window_ms = NULL, audit_requests = 0"]) {
    mirror.db.exec(`UPDATE sync_state SET ${columns}`);
    expect(state.loadLastOptions()).toBeNull();
  }
  mirror.transaction(() => {
    state.saveFloor(7);
    state.saveAuditCursor(0);
    state.saveLastOptions(options);
    state.saveIgnoredFilters(["refunded"]);
    state.saveFloor(0);
  });
  expect([
    state.loadFloor(),
    state.loadAuditCursor(),
    state.loadLastOptions(),
    [...state.loadIgnoredFilters()],
  ]).toEqual([0, 0, options, ["refunded"]]);
});

test("a missing record counts as last seen at the last complete read of its date or, if there is no such read, at the time when its current version was stored", async () => {
  const mirror = await makeMirror();
  const dates = ["2026-10-01T10:00:00Z", "2026-10-05T10:00:00Z"];
  const records = dates.map((order_date, n) => order(`o${n}`, { order_date }));
  write(mirror, orders, records, { requestedAt: Date.parse("2026-10-06") });
  const state = new SyncState(mirror, orders.name);
  const read = (to: string, day: string) => ({
    ...reading,
    range: { from: 0, to: Date.parse(to) },
    requestedAt: Date.parse(day),
  });
  mirror.transaction(() => {
    state.applyReading({ ...read("2026-10-02", "2026-10-20"), ids: [1] });
    state.applyReading(read("2026-10-06", "2026-10-21"));
    state.missing.add([{ id: 99, lastSeenAt: null }]);
  });
  expect(mirror.selectRows("SELECT record_id AS id, last_seen_at AS at FROM missing ORDER BY id")).toEqual([
    { id: 1, at: "2026-10-20T00:00:00.000Z" },
    { id: 2, at: "2026-10-06T00:00:00.000Z" },
  ]);
});

const day = 86_400_000;
const hour = 3_600_000;
const reading = { runId: 1, requestedAt: 0, isComplete: true, ids: [] };

/** @param dates the orders' dates in milliseconds since the Unix epoch; null for an unreadable date */
async function withOrders(...dates: (number | null)[]) {
  const mirror = await makeMirror();
  const dateOf = (ms: number | null) => (ms === null ? "soon" : new Date(ms).toISOString());
  const records = dates.map((ms, n) => order(`o${n + 1}`, { order_date: dateOf(ms), is_cancelled: n > 0 }));
  write(mirror, orders, records);
  const state = new SyncState(mirror, orders.name);
  const missing = () => mirror.selectRows("SELECT record_id AS id, last_seen_at AS at FROM missing");
  return { mirror, state, missing };
}

test("a record that is absent from complete reads is stored as missing, with the time of its last read, until a read returns the record", async () => {
  const { mirror, missing, state } = await withOrders(12 * hour);
  const read = (requestedAt: number, ids: number[]) =>
    mirror.transaction(() =>
      state.applyReading({ ...reading, range: { from: 0, to: day - 1 }, requestedAt, ids }),
    );
  read(1_000, [1]);
  expect(missing()).toEqual([]);
  for (const requestedAt of [2_000, 3_000]) read(requestedAt, []);
  expect(missing()).toEqual([{ id: 1, at: "1970-01-01T00:00:01.000Z" }]);
  expect([state.missing.has(1), state.missing.has(2)]).toEqual([true, false]);
  read(4_000, [1]);
  expect(missing()).toEqual([]);
});

test("a complete read of a list marks all dates up to the time of the request as read, and all absent records as missing", async () => {
  const { mirror, state } = await withOrders(-day, 5 * day, null, 0);
  mirror.transaction(() => state.applyList({ ...reading, requestedAt: day, ids: [4] }));
  expect(state.loadCoverage()).toMatchObject([{ from: Number.NEGATIVE_INFINITY, to: day }]);
  expect(state.missing.load()).toEqual([
    { id: 1, date: -day },
    { id: 2, date: 5 * day },
    { id: 3, date: null },
  ]);
});

test("SyncState.count excludes missing and removed records from counts by date range and by status", async () => {
  const { mirror, state } = await withOrders(0, hour, 2 * hour, 3 * hour);
  const cancelled = listStatusFilters(orders).find(({ name }) => name === "cancelled")?.statusBit;
  const counts = () => [state.count({ from: 0, to: 2 * hour }), state.count({ from: 0, to: day }, cancelled)];
  expect(counts()).toEqual([3, 3]);
  mirror.transaction(() => state.missing.add([1, 2].map((id) => ({ id, lastSeenAt: null }))));
  expect(counts()).toEqual([1, 2]);
  mirror.transaction(() => new RecordWriter(mirror, orders, unrecordedRun(2)).remove([1, 3], day));
  expect(counts()).toEqual([0, 1]);
  expect(state.missing.load()).toMatchObject([{ id: 2 }]);
});

test("daily totals are stored for each day that a single run has read completely, even in several parts", async () => {
  const { mirror, state } = await withOrders();
  const totals = (count: number): TotalsByDay =>
    new Map([1, 2, 3, 4].map((n) => [`1970-01-0${n}`, { count, amounts: [n, 2.5] }]));
  const read = (runId: number, from: number, to: number, count: number) =>
    mirror.transaction(() => {
      state.applyReading({ ...reading, runId, range: { from, to: to - 1 } }, totals(count));
      return [...state.storedTotals.load()].map(([date, stored]) => `${date}: ${stored.count}`);
    });
  expect(read(1, 6 * hour, day + 6 * hour, 10)).toEqual([]);
  expect(read(1, 0, 6 * hour, 11)).toEqual(["1970-01-01: 11"]);
  expect(read(1, day + 6 * hour, 3 * day + 6 * hour, 12)).toEqual([
    "1970-01-01: 11",
    "1970-01-02: 12",
    "1970-01-03: 12",
  ]);
  expect(read(2, 3 * day + 6 * hour, 4 * day, 13)).toHaveLength(3);
  expect(state.storedTotals.load().get("1970-01-02")).toEqual({ count: 12, amounts: [2, 2.5] });
});

test("an incomplete read deletes the stored daily totals for days with changed records, and stores no new totals", async () => {
  const { mirror, state } = await withOrders();
  const range = { from: 0, to: 4 * day - 1 };
  const totals: TotalsByDay = new Map([1, 2, 3, 4].map((n) => [`1970-01-0${n}`, { count: n, amounts: [] }]));
  mirror.transaction(() => {
    state.applyReading({ ...reading, range }, totals);
    const changed = { from: 2 * day - 1, to: 2 * day };
    state.applyReading({ ...reading, range, isComplete: false, changed }, totals);
  });
  expect([...state.storedTotals.load().keys()]).toEqual(["1970-01-01", "1970-01-04"]);
});

import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeMirror } from "../support/mirror.js";
import { order, write } from "./record-mirror.js";

const options = { windowMs: 5, auditRequests: 0 };

test("before the first run, SyncState has no floor, cursor, options or ignored filters, and only the floor can be set", async () => {
  const mirror = await makeMirror();
  const state = new SyncState(mirror, orders.name);
  expect([state.floor(), state.cursor(), state.lastOptions(), [...state.ignoredFilters()]]).toEqual([
    null,
    null,
    null,
    [],
  ]);
  expect(() => mirror.transaction(() => state.setLastOptions(options))).toThrow("must set the floor");
});

test("SyncState stores the floor, the cursor, the options and the ignored filters", async () => {
  const mirror = await makeMirror();
  const state = new SyncState(mirror, orders.name);
  mirror.transaction(() => state.setFloor(Number.NEGATIVE_INFINITY));
  expect([state.floor(), state.cursor(), state.lastOptions()]).toEqual([
    Number.NEGATIVE_INFINITY,
    null,
    null,
  ]);
  mirror.db.exec("UPDATE sync_state SET window_ms = 5");
  expect(state.lastOptions()).toBeNull();
  mirror.transaction(() => {
    state.setFloor(7);
    state.setCursor(8);
    state.setLastOptions(options);
    state.setIgnoredFilters(["refunded"]);
  });
  expect([state.floor(), state.cursor(), state.lastOptions(), [...state.ignoredFilters()]]).toEqual([
    7,
    8,
    options,
    ["refunded"],
  ]);
});

test("a missing record was last seen when its date was last read, or when its mirrored version was first read", async () => {
  const mirror = await makeMirror();
  const dates = ["2026-10-01T10:00:00Z", "2026-10-05T10:00:00Z"];
  const records = dates.map((order_date, n) => order(`o${n}`, { order_date }));
  write(mirror, orders, records, { readAt: Date.parse("2026-10-06") });
  const readAt = Date.parse("2026-10-20");
  const before = [{ from: 0, to: Date.parse("2026-10-02"), readAt, runId: 1 }];
  const state = new SyncState(mirror, orders.name);
  mirror.transaction(() => state.missing.add([1, 2, 99], before));
  expect(mirror.selectRows("SELECT record_id AS id, last_seen_at AS at FROM missing ORDER BY id")).toEqual([
    { id: 1, at: "2026-10-20T00:00:00.000Z" },
    { id: 2, at: "2026-10-06T00:00:00.000Z" },
  ]);
});

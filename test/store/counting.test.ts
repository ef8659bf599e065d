import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { roster } from "../../src/resources/roster.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import {
  countCurrent,
  countRemoved,
  countUndated,
  findMirroredDate,
  findNthDate,
  isUndated,
  loadCurrentIds,
  loadCurrentKeys,
} from "../../src/store/records.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { makeMirror } from "../support/mirror.js";
import { order, rows, unrecordedRun, write } from "./record-mirror.js";

const day = 86_400_000;
const first = Date.parse("2026-10-01T00:00:00Z");
const never = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

async function mirrored() {
  const mirror = await makeMirror();
  write(mirror, roster, [{ relationship_id: "r1" }, { relationship_id: "r2" }]);
  const all: JsonObject[] = Array.from({ length: 200 }, (_, index) =>
    order(`o${index}`, {
      order_date: index % 7 === 0 ? null : new Date(first + (index % 10) * day).toISOString(),
      is_cancelled: index % 3 === 0,
      is_refunded: index % 5 === 0,
    }),
  );
  write(mirror, orders, all);
  mirror.db.prepare("UPDATE records SET resource = 'content' WHERE record_id = 3").run();
  const ids = rows<{ record_id: number }>(mirror, "SELECT record_id FROM records WHERE resource = 'orders'");
  const store = new RecordWriter(mirror, orders, unrecordedRun(2));
  const removed = ids.map(({ record_id }) => record_id).filter((id) => id % 11 === 0);
  mirror.transaction(() => store.remove(removed, Date.parse("2026-11-02")));
  return mirror;
}

/** Computes the expected count without SQL. */
function countOneByOne(
  mirror: Awaited<ReturnType<typeof mirrored>>,
  { from, to }: { from: number; to: number },
  statusBits: number,
): number {
  const isAll = !Number.isFinite(from) && !Number.isFinite(to);
  return rows<{ dated_ms: number | null; status_bits: number }>(
    mirror,
    "SELECT dated_ms, status_bits FROM records WHERE resource = 'orders' AND removed_at IS NULL",
  ).filter(
    (row) =>
      (row.status_bits & statusBits) === statusBits &&
      (row.dated_ms === null ? isAll : row.dated_ms >= from && row.dated_ms <= to),
  ).length;
}

test.each([
  ["on any date", never],
  ["dated up to a given day", { ...never, to: first + 6 * day }],
  ["in a range that starts at the oldest record", { ...never, from: first }],
  ["in a range that starts before the oldest record", { from: first - day, to: first + 3 * day }],
  ["in a range that starts after older records", { from: first + 2 * day, to: first + 5 * day }],
  ["newer than the oldest record", { ...never, from: first + 1 }],
  ["in a range before all records", { ...never, to: first - 1 }],
  ["in a range after all records", { ...never, from: first + 99 * day }],
])("countCurrent excludes removed records from the count of records %s", async (_, range) => {
  const mirror = await mirrored();
  for (const statusBits of [0, 1, 2, 3])
    expect(countCurrent(mirror, "orders", range, statusBits), `status bits ${statusBits}`).toBe(
      countOneByOne(mirror, range, statusBits),
    );
});

test("countCurrent and countRemoved include records without dates, and return 0 if a resource has no records", async () => {
  const mirror = await mirrored();
  expect(countCurrent(mirror, "roster")).toBe(2);
  expect(countCurrent(mirror, "surveys")).toBe(0);
  expect(countRemoved(mirror, "roster")).toBe(0);
  expect(countRemoved(mirror, "orders")).toBe(rows(mirror, "SELECT 1 FROM orders_removed").length);
});

test("the functions that look up dates, IDs and record keys ignore removed records and records of other resources", async () => {
  const mirror = await makeMirror();
  const days = [3, 1, null, 2, null, 2.5];
  const dateOf = (n: number | null) => (n === null ? "soon" : new Date(first + n * day).toISOString());
  write(
    mirror,
    orders,
    days.map((n, index) => order(`o${index + 1}`, { order_date: dateOf(n) })),
  );
  write(mirror, roster, [{ relationship_id: "r1" }]);
  const store = new RecordWriter(mirror, orders, unrecordedRun(2));
  mirror.transaction(() => store.remove([4, 5], Date.parse("2026-11-02")));
  const range = { from: first + 2 * day, to: first + 3 * day };
  expect(countUndated(mirror, "orders")).toBe(1);
  expect([1, 3, 4, 99].map((id) => findMirroredDate(mirror, id))).toEqual([
    first + 3 * day,
    null,
    null,
    null,
  ]);
  expect([1, 3, 5, 99].map((id) => isUndated(mirror, id))).toEqual([false, true, false, false]);
  expect([never, range].map((dates) => loadCurrentKeys(mirror, "orders", dates).sort())).toEqual([
    ["o1", "o2", "o3", "o6"],
    ["o1", "o6"],
  ]);
  expect(loadCurrentIds(mirror, "orders", range).sort()).toEqual([1, 6]);
  const nth = (dates: typeof range, n: number) => findNthDate(mirror, "orders", dates, n);
  expect([0, 1, 2, 3].map((n) => nth(never, n))).toEqual([...[1, 2.5, 3].map((n) => first + n * day), null]);
  expect([nth(range, 0), nth({ ...range, to: range.from }, 0)]).toEqual([first + 2.5 * day, null]);
});

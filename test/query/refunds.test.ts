import { expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json-value.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const placed = "2026-10-01T10:00:00Z";
const order = (n: number, fields: JsonObject) =>
  anOrder(n, { order_date: placed, refund_amount: 0, ...fields });

/**
 * Creates a mirror with one run per day, at 02:00, which reads that day's orders. Returns the rows of `late_refunds`.
 */
async function readOn(ordersByDay: Record<string, readonly JsonObject[]>) {
  const mirror = await makeMirror();
  for (const [day, orders] of Object.entries(ordersByDay))
    writeRead(mirror, "orders", orders, { at: `${day}T02:00:00.000Z`, whole: true });
  const rows = mirror.db
    .prepare(
      "SELECT order_id, refunded_amount, days_at_least, days_at_most, month, host_label FROM late_refunds",
    )
    .raw()
    .all();
  mirror.db.close();
  return rows;
}

test("late_refunds contains the minimum and maximum number of days between each order and its refund", async () => {
  // The API has moved this order to a date after the refund.
  const redated = { order_date: "2026-12-01T10:00:00Z" };
  const unchanged = [order(1, {}), order(2, { refund_amount: 0.1 }), order(3, redated)];
  const rows = await readOn({
    "2026-10-02": unchanged,
    "2026-10-05": unchanged,
    "2026-11-09": [
      order(1, { refund_amount: 4.1, total_amount: 90 }),
      order(2, { refund_amount: 0.3 }),
      order(3, { ...redated, refund_amount: 1 }),
    ],
  });
  expect(rows).toEqual([
    ["order-1", 4.1, 3, 39, "2026-10", "host_1"],
    ["order-2", 0.2, 3, 39, "2026-10", "host_2"],
    ["order-3", 1, 0, 0, "2026-12", "host_3"],
  ]);
});

test("late_refunds includes revoked refunds as negative amounts, but excludes cancelled orders and changes from null to 0", async () => {
  const ordersOf = (refund_amount: number | null, cancelled: number) => [
    order(1, { refund_amount }),
    order(2, { refund_amount: cancelled, is_cancelled: cancelled > 0 }),
  ];
  const rows = await readOn({
    "2026-10-02": ordersOf(null, 0),
    "2026-10-03": ordersOf(0, 3),
    "2026-10-04": ordersOf(6, 3),
    "2026-10-05": ordersOf(null, 3),
  });
  expect(rows.map((row) => (row as unknown[]).slice(0, 2))).toEqual([
    ["order-1", 6],
    ["order-1", -6],
  ]);
});

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import { allResources } from "../../src/resources/registry.js";
import type { Mirror } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import {
  compareTables,
  describeDifference,
  loadTableCheck,
  saveTableCheck,
  type TableDifference,
} from "../../src/store/table-check.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { views } from "../../src/views/all-views.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const item = (n: number): JsonObject => ({ title: `Item ${n}`, sku: `S-${n}`, quantity: n, price: n + 0.5 });

const originals = new Map<number, Promise<string>>();

/**
 * Opens a copy of a mirror with child tables, discovered columns, request columns, and removed records. With 1,050
 * orders, the table check reads the orders and their line items in several batches.
 */
async function filled(orders = 20): Promise<Mirror> {
  const original = originals.get(orders) ?? fillMirror(orders);
  originals.set(orders, original);
  const copy = join(makeHome(), "mirror.sqlite");
  copyFileSync(await original, copy);
  return await openMirror(copy);
}

async function fillMirror(length: number): Promise<string> {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    Array.from({ length }, (_, n) => anOrder(n, { line_items: [item(1), item(2)] })),
  );
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 5, line_items: [item(3)] })], {
    at: "2026-11-02T00:00:00.000Z",
    remove: ["order-7"],
  });
  writeRead(mirror, "opportunities", [
    { id: "c1", title: "Spring", deliverables: [{ id: "d1", title: "Reel" }], content_types: ["reel"] },
  ]);
  writeRead(mirror, "gifts", [
    { id: 1, color: "red", nested: { size: 4 }, live: true },
    { text: '{"id":2,"color":"blue","huge":12345678901234567890,"live":"maybe"}' },
  ]);
  const ranked = [
    { host: { id: "h1", username: "ada" }, clicks: 5, sales: 1.5 },
    { host: null, clicks: 2 },
  ];
  writeRead(mirror, "analytics-hosts", ranked, { at: "2026-11-01T00:00:00.000Z" });
  writeRead(mirror, "analytics-hosts", [], { at: "2026-11-03T00:00:00.000Z", remove: ["#1"] });
  mirror.db.close();
  return mirror.path;
}

const one = (table: string, difference: Partial<TableDifference>) => [
  { table, missing: 0, changed: 0, extra: 0, ...difference },
];

test("the table check finds no differences in rows that the program wrote", async () => {
  expect(await compareTables(await filled(1_050), allResources)).toEqual([]);
});

test.each([
  [
    "half of the line items are missing",
    "DELETE FROM order_line_items WHERE row_id % 2 = 1",
    one("order_line_items", { missing: 1_048 }),
  ],
  [
    "a quarter of the rows are missing",
    "DELETE FROM orders WHERE record_id % 4 = 0",
    one("orders", { missing: 261 }),
  ],
  ["the first row is missing", "DELETE FROM orders WHERE record_id = 1", one("orders", { missing: 1 })],
  ["the last row is missing", "DELETE FROM orders WHERE id = 'order-1049'", one("orders", { missing: 1 })],
  ["all rows are missing", "DELETE FROM orders", one("orders", { missing: 1_049 })],
  [
    "a row has a different ID",
    "UPDATE orders SET record_id = 999999 WHERE id = 'order-4'",
    one("orders", { missing: 1, extra: 1 }),
  ],
])("the table check of a large mirror finds only this difference: %s", async (_, sql, expected) => {
  await expectDifference(await filled(1_050), sql, expected);
});

test.each([
  [
    "a changed amount",
    "UPDATE orders SET total_amount = 0 WHERE id = 'order-4'",
    one("orders", { changed: 1 }),
  ],
  [
    "a string that was set to null",
    "UPDATE orders SET currency = NULL WHERE id = 'order-4'",
    one("orders", { changed: 1 }),
  ],
  [
    "a boolean that was replaced with a string",
    "UPDATE orders SET is_cancelled = 'no' WHERE id = 'order-4'",
    one("orders", { changed: 1 }),
  ],
  [
    "a string that was replaced with bytes",
    "UPDATE orders SET id = CAST(id AS BLOB) WHERE id = 'order-4'",
    one("orders", { changed: 1 }),
  ],
  [
    "a changed removal time",
    "UPDATE orders_removed SET removed_at = '2020' WHERE id = 'order-7'",
    one("orders_removed", { changed: 1 }),
  ],
  [
    "removed records in the table for current records",
    "INSERT INTO orders (id, synced_at, record_id) SELECT id, synced_at, record_id FROM orders_removed; DELETE FROM orders_removed",
    [...one("orders", { extra: 1 }), ...one("orders_removed", { missing: 1 })],
  ],
  [
    "missing line items of removed records",
    "DELETE FROM order_line_items_removed",
    one("order_line_items_removed", { missing: 2 }),
  ],
  [
    "a changed read time",
    "UPDATE orders SET synced_at = '2020' WHERE id = 'order-8'",
    one("orders", { changed: 1 }),
  ],
  [
    "an additional last row",
    "INSERT INTO orders (id, synced_at) VALUES ('mine', '')",
    one("orders", { extra: 1 }),
  ],
  [
    "an additional first row",
    "INSERT INTO orders (id, synced_at, record_id) VALUES ('mine', '', -5)",
    one("orders", { extra: 1 }),
  ],
  [
    "an additional row with the ID of another resource's record",
    "INSERT INTO orders (id, synced_at, record_id) SELECT 'mine', '', record_id FROM opportunities",
    one("orders", { extra: 1 }),
  ],
  [
    "a missing line item",
    "DELETE FROM order_line_items WHERE row_id % 2 = 1 AND order_id = 'order-4'",
    one("order_line_items", { missing: 1 }),
  ],
  [
    "a changed line item",
    "UPDATE order_line_items SET price = 1e9 WHERE order_id = 'order-1'",
    one("order_line_items", { changed: 1 }),
  ],
  [
    "an additional line item of an existing order",
    "INSERT INTO order_line_items (order_id, synced_at, row_id) SELECT 'order-4', '', max(row_id) + 1 FROM order_line_items WHERE order_id = 'order-4'",
    one("order_line_items", { extra: 1 }),
  ],
  [
    "a line item without an order",
    "INSERT INTO order_line_items (order_id, synced_at) VALUES ('nobody', '')",
    one("order_line_items", { extra: 1 }),
  ],
  [
    "missing deliverables of a campaign",
    "DELETE FROM opportunity_deliverables",
    one("opportunity_deliverables", { missing: 1 }),
  ],
  [
    "a changed value in the column of an undocumented field",
    "UPDATE gifts SET huge = 1 WHERE huge IS NOT NULL",
    one("gifts", { changed: 1 }),
  ],
  [
    "a changed integer in the column of an undocumented field",
    "UPDATE gifts SET nested_size = 5 WHERE nested_size IS NOT NULL",
    one("gifts", { changed: 1 }),
  ],
  [
    "a 0 in place of a null in the column of an undocumented field",
    "UPDATE gifts SET nested_size = 0 WHERE nested_size IS NULL",
    one("gifts", { changed: 1 }),
  ],
  [
    "a changed row of the ranking",
    "UPDATE analytics_hosts SET clicks = 99 WHERE host_id = 'h1'",
    one("analytics_hosts", { changed: 1 }),
  ],
  [
    "a row in a table that should be empty",
    "INSERT INTO roster (host_id, synced_at) VALUES ('x', '')",
    one("roster", { extra: 1 }),
  ],
])("the table check finds only this difference: %s", async (_, sql, expected) => {
  await expectDifference(await filled(), sql, expected);
});

async function expectDifference(mirror: Mirror, sql: string, expected: TableDifference[]): Promise<void> {
  mirror.db.exec(sql);
  expect(await compareTables(mirror, allResources)).toEqual(expected);
  rebuildTables(mirror, allResources);
  expect(await compareTables(mirror, allResources)).toEqual([]);
}

test.each([
  ["a table was dropped", "DROP TABLE orders"],
  ["a column was dropped", "ALTER TABLE orders DROP COLUMN currency"],
  ["a column was renamed", "ALTER TABLE orders RENAME COLUMN currency TO money"],
])("the table check reports all rows as missing if %s", async (_, sql) => {
  const mirror = await filled();
  for (const { name } of views) mirror.db.exec(`DROP VIEW ${name}`);
  mirror.db.exec(sql);
  expect(await compareTables(mirror, [orders, opportunities])).toEqual(one("orders", { missing: 19 }));
  rebuildTables(mirror, [orders]);
  expect(await compareTables(mirror, allResources)).toEqual([]);
});

test("the table check compares only the requested resources", async () => {
  const mirror = await filled();
  mirror.db.exec("DELETE FROM orders; DELETE FROM opportunities");
  expect(await compareTables(mirror, [opportunities])).toEqual(one("opportunities", { missing: 1 }));
});

test("if Ctrl-C aborts a table check, the check stops before the next batch of records", async () => {
  const reason = new Error("stopped");
  const mirror = await filled(1_050);
  const stop = new AbortController();
  setImmediate(() => stop.abort(reason));
  await expect(compareTables(mirror, allResources, stop.signal)).rejects.toBe(reason);
});

test("the table check reports a damaged mirror if a record is not valid JSON", async () => {
  const mirror = await filled();
  mirror.db.exec("UPDATE records SET json = 'not json' WHERE key = 'order-9'");
  await expect(compareTables(mirror, allResources)).rejects.toThrow(
    /^The mirror is damaged \(record \d+ is not JSON\)/,
  );
});

test.each([
  [{ missing: 25, changed: 3, extra: 1 }, "25 rows missing, 3 changed, 1 extra"],
  [{ missing: 0, changed: 1, extra: 2 }, "1 row changed, 2 extra"],
  [{ missing: 0, changed: 0, extra: 1 }, "1 row extra"],
])("the table check describes %j as: %s", (counts, text) => {
  expect(describeDifference({ table: "orders", ...counts })).toBe(text);
});

test("the differences that a table check finds remain stored until a later check finds none", async () => {
  const mirror = await makeMirror();
  const differences = ["orders", "order_line_items"].flatMap((table) => one(table, { extra: 1 }));
  const at = "2026-11-01T00:00:00.000Z";
  const check = saveTableCheck(mirror, "orders", differences, at);
  const error = "tables differ from the records (orders: 1 row extra; order_line_items: 1 row extra)";
  expect([check, loadTableCheck(mirror, "orders"), loadTableCheck(mirror, "roster")]).toEqual([
    { at, error },
    { at, error },
    null,
  ]);
  expect(saveTableCheck(mirror, "orders", one("orders", { extra: 1 }), at)?.error).toContain(
    "(orders: 1 row extra)",
  );
  expect(saveTableCheck(mirror, "orders", [], at)).toBeNull();
  expect(loadTableCheck(mirror, "orders")).toBeNull();
});

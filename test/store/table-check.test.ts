import { describe, expect, test } from "vitest";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import { details, resources } from "../../src/resources/registry.js";
import type { Mirror } from "../../src/store/database.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import { compareTables, type TableDifference } from "../../src/store/table-check.js";
import { views } from "../../src/store/views/all-views.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const all = [...resources, ...details];

const item = (n: number): JsonObject => ({ title: `Item ${n}`, sku: `S-${n}`, quantity: n, price: n + 0.5 });

/** Of every kind of table: with children, with discovered columns, with what was asked for; some of it removed. */
async function filled(): Promise<Mirror> {
  const mirror = await makeMirror();
  const many = Array.from({ length: 1_300 }, (_, n) => anOrder(n, { line_items: [item(1), item(2)] }));
  writeRead(mirror, "orders", many);
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 5, line_items: [item(3)] })], {
    at: "2026-11-02T00:00:00.000Z",
    remove: ["order-7"],
  });
  writeRead(mirror, "opportunities", [
    { id: "c1", title: "Spring", deliverables: [{ id: "d1", title: "Reel" }], content_types: ["reel"] },
  ]);
  writeRead(mirror, "gifts", [
    { id: 1, colour: "red", nested: { size: 4 }, live: true },
    { text: '{"id":2,"colour":"blue","huge":12345678901234567890,"live":"maybe"}' },
  ]);
  const ranked = [
    { host: { id: "h1", username: "ada" }, clicks: 5, sales: 1.5 },
    { host: null, clicks: 2 },
  ];
  writeRead(mirror, "analytics-hosts", ranked, { at: "2026-11-01T00:00:00.000Z" });
  writeRead(mirror, "analytics-hosts", [], { at: "2026-11-03T00:00:00.000Z", remove: ["#1"] });
  return mirror;
}

const one = (table: string, difference: Partial<TableDifference>) => [
  { table, missing: 0, changed: 0, extra: 0, ...difference },
];

describe("tables against their records", () => {
  test("what the program wrote is right: children, discovered columns, removals with and without history", async () => {
    expect(compareTables(await filled(), all)).toEqual([]);
  });

  test.each([
    [
      "a quarter of the rows gone",
      "DELETE FROM orders WHERE record_id % 4 = 0",
      one("orders", { missing: 324 }),
    ],
    ["the first row gone", "DELETE FROM orders WHERE record_id = 1", one("orders", { missing: 1 })],
    ["the last row gone", "DELETE FROM orders WHERE id = 'order-1299'", one("orders", { missing: 1 })],
    ["all rows gone", "DELETE FROM orders", one("orders", { missing: 1_299 })],
    [
      "an amount changed",
      "UPDATE orders SET total_amount = 0 WHERE id = 'order-4'",
      one("orders", { changed: 1 }),
    ],
    [
      "a text emptied",
      "UPDATE orders SET currency = NULL WHERE id = 'order-4'",
      one("orders", { changed: 1 }),
    ],
    [
      "a number made text",
      "UPDATE orders SET is_cancelled = 'no' WHERE id = 'order-4'",
      one("orders", { changed: 1 }),
    ],
    [
      "bytes for text",
      "UPDATE orders SET id = CAST(id AS BLOB) WHERE id = 'order-4'",
      one("orders", { changed: 1 }),
    ],
    [
      "a time of removal changed",
      "UPDATE orders_removed SET removed_at = '2020' WHERE id = 'order-7'",
      one("orders_removed", { changed: 1 }),
    ],
    [
      "a removed record moved back",
      "INSERT INTO orders (id, synced_at, record_id) SELECT id, synced_at, record_id FROM orders_removed; DELETE FROM orders_removed",
      [...one("orders", { extra: 1 }), ...one("orders_removed", { missing: 1 })],
    ],
    [
      "a removed record's line items gone",
      "DELETE FROM order_line_items_removed",
      one("order_line_items_removed", { missing: 2 }),
    ],
    [
      "a time of reading changed",
      "UPDATE orders SET synced_at = '2020' WHERE id = 'order-8'",
      one("orders", { changed: 1 }),
    ],
    [
      "a row at the end",
      "INSERT INTO orders (id, synced_at) VALUES ('mine', '')",
      one("orders", { extra: 1 }),
    ],
    [
      "a row before all",
      "INSERT INTO orders (id, synced_at, record_id) VALUES ('mine', '', -5)",
      one("orders", { extra: 1 }),
    ],
    [
      "a row given the number of another resource's record",
      "INSERT INTO orders (id, synced_at, record_id) SELECT 'mine', '', record_id FROM opportunities",
      one("orders", { extra: 1 }),
    ],
    [
      "a row moved to another number",
      "UPDATE orders SET record_id = 999999 WHERE id = 'order-4'",
      one("orders", { missing: 1, extra: 1 }),
    ],
    [
      "a line item gone",
      "DELETE FROM order_line_items WHERE row_id % 2 = 1 AND order_id = 'order-4'",
      one("order_line_items", { missing: 1 }),
    ],
    [
      "a line item changed",
      "UPDATE order_line_items SET price = 1e9 WHERE order_id = 'order-1'",
      one("order_line_items", { changed: 1 }),
    ],
    [
      "a line item too many in an order",
      "INSERT INTO order_line_items (order_id, synced_at, row_id) SELECT 'order-4', '', max(row_id) + 1 FROM order_line_items WHERE order_id = 'order-4'",
      one("order_line_items", { extra: 1 }),
    ],
    [
      "a line item without an order",
      "INSERT INTO order_line_items (order_id, synced_at) VALUES ('nobody', '')",
      one("order_line_items", { extra: 1 }),
    ],
    [
      "a campaign's deliverable gone",
      "DELETE FROM opportunity_deliverables",
      one("opportunity_deliverables", { missing: 1 }),
    ],
    [
      "a discovered column's value changed",
      "UPDATE gifts SET huge = 1 WHERE huge IS NOT NULL",
      one("gifts", { changed: 1 }),
    ],
    [
      "a ranking's row changed",
      "UPDATE analytics_hosts SET clicks = 99 WHERE host_id = 'h1'",
      one("analytics_hosts", { changed: 1 }),
    ],
    [
      "a row in a table that was never filled",
      "INSERT INTO roster (host_id, synced_at) VALUES ('x', '')",
      one("roster", { extra: 1 }),
    ],
  ])("%s is found, and nothing else", async (_, sql, expected) => {
    const mirror = await filled();
    mirror.db.exec(sql);
    expect(compareTables(mirror, all)).toEqual(expected);
    rebuildTables(mirror, all);
    expect(compareTables(mirror, all)).toEqual([]);
  });

  test.each([
    ["a table that is gone", "DROP TABLE orders"],
    ["a column that is gone", "ALTER TABLE orders DROP COLUMN currency"],
    ["a column of another name", "ALTER TABLE orders RENAME COLUMN currency TO money"],
  ])("%s leaves no row that is right", async (_, sql) => {
    const mirror = await filled();
    for (const { name } of views) mirror.db.exec(`DROP VIEW ${name}`);
    mirror.db.exec(sql);
    expect(compareTables(mirror, [orders, opportunities])).toEqual(one("orders", { missing: 1_299 }));
    rebuildTables(mirror, [orders]);
    expect(compareTables(mirror, all)).toEqual([]);
  });

  test("only the tables of the resources asked for are looked at", async () => {
    const mirror = await filled();
    mirror.db.exec("DELETE FROM orders; DELETE FROM opportunities");
    expect(compareTables(mirror, [opportunities])).toEqual(one("opportunities", { missing: 1 }));
  });

  test("a record that is no JSON is told as damage, not as a defect", async () => {
    const mirror = await filled();
    mirror.db.exec("UPDATE records SET json = 'not json' WHERE key = 'order-9'");
    expect(() => compareTables(mirror, all)).toThrow(/^The mirror is damaged, record \d+ is not JSON/);
  });
});

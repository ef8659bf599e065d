import { expect, test } from "vitest";
import { allTableShapes } from "../../src/query/readable-tables.js";
import { content } from "../../src/resources/content.js";
import { orders } from "../../src/resources/orders.js";
import { recommendations } from "../../src/resources/recommendations.js";
import { roster } from "../../src/resources/roster.js";
import { gifts } from "../../src/resources/undocumented.js";
import type { Mirror } from "../../src/store/database.js";
import { openMirror, openMirrorForReading } from "../../src/store/open.js";
import { indexTables } from "../../src/store/projection.js";
import { hasOutdatedColumns, rebuildTables } from "../../src/store/rebuild.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import { views } from "../../src/views/all-views.js";
import { makeMirror } from "../support/mirror.js";
import { order, rows, unrecordedRun, write } from "./record-mirror.js";

function dump({ db }: Mirror) {
  const tables = allTableShapes.map(({ name, list }) => ({
    name,
    rows: db.prepare(`SELECT * FROM ${name} ORDER BY ${list ? "row_id" : "record_id"}`).all(),
  }));
  const schema = db
    .prepare(
      "SELECT name, sql FROM sqlite_master WHERE tbl_name IN (SELECT value FROM json_each(?)) ORDER BY name",
    )
    .all(JSON.stringify(allTableShapes.map(({ name }) => name)));
  return { tables, schema };
}

/** Makes the tables look like those of an older version: drops and renames columns, and empties a child table. */
function fakeOlderShape({ db }: Mirror) {
  for (const { name } of views) db.exec(`DROP VIEW IF EXISTS ${name}`);
  db.exec(`
    ALTER TABLE orders DROP COLUMN commission_amount;
    ALTER TABLE orders RENAME COLUMN currency TO currency_code;
    DELETE FROM order_line_items;
    UPDATE mirror_info SET value = 'older' WHERE name = 'shape:orders';
  `);
}

async function filledMirror() {
  const mirror = await makeMirror();
  const many = Array.from({ length: 1_203 }, (_, n) => order(`o${n}`, { commission_amount: n / 4 }));
  write(mirror, orders, many);
  write(mirror, orders, [order("o1", { currency: "USD", line_items: [] })], {
    requestedAt: Date.parse("2026-11-02"),
  });
  const store = new RecordWriter(mirror, orders, unrecordedRun(2));
  const [removed] = rows<{ record_id: number }>(mirror, "SELECT record_id FROM records WHERE key = 'o7'");
  mirror.db.transaction(() => store.remove([removed?.record_id ?? 0], Date.parse("2026-11-03")))();
  write(mirror, gifts, [
    { id: 1, color: "red", nested: { size: 4 } },
    { id: 2, live: true },
  ]);
  write(mirror, recommendations, [
    { host: { id: "h", username: "u" }, product_count: 1, products: [{ id: "p", title: "P", note: "n" }] },
  ]);
  return mirror;
}

test("opening a mirror with outdated tables rebuilds the tables from the records", async () => {
  const mirror = await filledMirror();
  indexTables(mirror, orders);
  const before = dump(mirror);
  fakeOlderShape(mirror);
  expect(dump(mirror)).not.toEqual(before);
  const again = await openMirror(mirror.path);
  expect(dump(again)).toEqual(before);
  again.db.close();
});

test("an export rebuilds outdated tables, which makes new columns available without a sync", async () => {
  const mirror = await filledMirror();
  fakeOlderShape(mirror);
  const reader = await openMirrorForReading(mirror.path);
  expect(reader.db.prepare("SELECT currency, commission_amount FROM orders WHERE id = 'o2'").get()).toEqual({
    currency: "EUR",
    commission_amount: 0.5,
  });
  expect(() => reader.db.exec("DELETE FROM orders")).toThrow(/readonly/);
  reader.db.close();
});

test("a table that a user dropped is recreated with all its rows", async () => {
  const mirror = await filledMirror();
  const before = dump(mirror);
  mirror.db.exec("DROP VIEW orders_net; DROP TABLE order_line_items; DROP TABLE gifts");
  mirror.db.close();
  const again = await openMirror(mirror.path);
  expect(dump(again).tables).toEqual(before.tables);
});

test("a rebuild of the tables keeps the columns of undocumented fields, except for fields that now have a declared column", async () => {
  const mirror = await filledMirror();
  const products = () => rows(mirror, "SELECT id, title, note FROM recommendation_products");
  const kept = () => rows(mirror, "SELECT id, color, nested_size, live FROM gifts ORDER BY record_id");
  const before = [products(), kept()];
  mirror.db.exec(`
    INSERT INTO discovered_columns VALUES ('recommendation_products', 'Title', 9, '["title"]', 'text');
    UPDATE mirror_info SET value = 'older' WHERE name IN ('shape:gifts', 'shape:recommendations');
  `);
  (await openMirror(mirror.path)).db.close();
  expect([products(), kept()]).toEqual(before);
  expect(
    rows(mirror, "SELECT name FROM discovered_columns WHERE table_name = 'recommendation_products'"),
  ).toEqual([{ name: "note" }]);
});

test("if a record is not valid JSON, the rebuild of outdated tables fails and leaves the tables unchanged", async () => {
  const mirror = await filledMirror();
  fakeOlderShape(mirror);
  mirror.db.exec("UPDATE records SET json = 'not json' WHERE key = 'o1100'");
  const before = rows(mirror, "SELECT id, currency_code FROM orders ORDER BY record_id");
  await expect(openMirror(mirror.path)).rejects.toThrow();
  expect(rows(mirror, "SELECT id, currency_code FROM orders ORDER BY record_id")).toEqual(before);
});

test("opening a mirror does not rebuild tables whose columns match the declared columns", async () => {
  const mirror = await filledMirror();
  mirror.db.exec("UPDATE orders SET currency = 'untouched'");
  const again = await openMirror(mirror.path);
  expect(rows(again, "SELECT DISTINCT currency FROM orders")).toEqual([{ currency: "untouched" }]);
  again.db.close();
});

test("a rebuild corrects the stored dates of records, and the months of their earlier versions", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1"), order("o2", { order_date: "soon" })]);
  write(mirror, orders, [order("o1", { total_amount: 5 })], { requestedAt: Date.parse("2026-11-02") });
  mirror.db.exec("UPDATE records SET dated_ms = 5; UPDATE record_versions SET month = 'older'");
  rebuildTables(mirror, [orders]);
  expect(mirror.selectValues("SELECT dated_ms FROM records")).toEqual([
    Date.parse("2026-10-01T10:00Z"),
    null,
  ]);
  expect(mirror.selectValues("SELECT month FROM record_versions")).toEqual(["2026-10"]);
});

test("a rebuild creates indexes only for tables that contain rows", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1")]);
  rebuildTables(mirror, [orders, roster]);
  const indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? ORDER BY name";
  expect(mirror.selectValues(indexes, "orders")).toEqual(["orders_by_id", "orders_by_order_date"]);
  expect(mirror.selectValues(indexes, "roster")).toEqual([]);
});

test("rebuilding the tables of one resource does not change `record_versions.month` for other resources", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1")]);
  write(mirror, orders, [order("o1", { total_amount: 5 })], { requestedAt: Date.parse("2026-11-02") });
  rebuildTables(mirror, [content]);
  expect(mirror.selectValues("SELECT month FROM record_versions")).toEqual(["2026-10"]);
});

test("tables count as outdated if a table's declared columns have changed, but not if a table or view is missing", async () => {
  const mirror = await filledMirror();
  mirror.db.exec("DROP VIEW orders_net; DROP TABLE order_line_items");
  expect(hasOutdatedColumns(mirror)).toBe(false);
  mirror.db.exec("UPDATE mirror_info SET value = 'older' WHERE name = 'shape:orders'");
  expect(hasOutdatedColumns(mirror)).toBe(true);
});

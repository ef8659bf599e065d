import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { openMirror } from "../../src/store/open.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import { redactMirror } from "../../src/store/redact-mirror.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { unrecordedRun } from "./record-mirror.js";

async function withAddedObjects() {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)]);
  mirror.db.exec(`
    CREATE INDEX my_index ON orders (currency);
    CREATE INDEX my_other_index ON order_line_items (sku);
    CREATE TABLE log (what, id);
    CREATE TRIGGER my_trigger AFTER INSERT ON orders BEGIN INSERT INTO log VALUES ('added', new.id); END;
    CREATE TRIGGER my_other_trigger AFTER DELETE ON orders BEGIN INSERT INTO log VALUES ('removed', old.id); END;
    CREATE TABLE notes (record_id REFERENCES orders (record_id) ON DELETE CASCADE);
    INSERT INTO notes SELECT record_id FROM orders`);
  const all = (sql: string) => mirror.db.prepare(sql).pluck().all();
  const added = () => all("SELECT name FROM sqlite_master WHERE name LIKE 'my!_%' ESCAPE '!' ORDER BY name");
  return { mirror, all, added };
}

const names = ["my_index", "my_other_index", "my_other_trigger", "my_trigger"];

test("a rebuild keeps user-defined indexes and triggers, and does not fire the triggers", async () => {
  const { mirror, all, added } = await withAddedObjects();
  expect(rebuildTables(mirror, [orders])).toEqual([]);
  expect(added()).toEqual(names);
  expect(all("SELECT count(*) FROM log")).toEqual([0]);
  expect(all("SELECT count(*) FROM notes")).toEqual([2]);
});

test("forgetting a host or omitting a field keeps user-defined indexes and triggers", async () => {
  const { mirror, added } = await withAddedObjects();
  expect(redactMirror(mirror, ["host-1"]).warnings).toEqual([]);
  expect(added()).toEqual(names);
  expect(redactMirror(mirror, [], ["host.first_name"])).toMatchObject({ total: 1, warnings: [] });
  expect(added()).toEqual(names);
});

test("a rebuild drops and reports a user-defined unique index that the rows violate", async () => {
  const { mirror, added } = await withAddedObjects();
  mirror.db.exec(
    "DELETE FROM orders WHERE id = 'order-2'; CREATE UNIQUE INDEX my_unique ON orders (currency)",
  );
  expect(rebuildTables(mirror, [orders])).toEqual([
    expect.stringMatching(/^the index `my_unique` that was added to `orders` is no longer valid .*UNIQUE/),
  ]);
  expect(added()).toEqual(names);
});

test("a rebuild drops and reports a user-defined trigger that would make removals fail", async () => {
  const { mirror, added } = await withAddedObjects();
  mirror.db.exec("CREATE TRIGGER my_bad_trigger AFTER DELETE ON orders BEGIN DELETE FROM absent; END");
  expect(rebuildTables(mirror, [orders])).toEqual([
    expect.stringMatching(/^the trigger `my_bad_trigger` .*no such table: main.absent/),
  ]);
  expect(added()).toEqual(names);
});

test("replacing a view with a newer version keeps the view's user-defined triggers", async () => {
  const { mirror, added } = await withAddedObjects();
  mirror.db.exec(`
    DROP VIEW orders_net;
    CREATE VIEW orders_net AS SELECT id FROM orders;
    CREATE TRIGGER my_view_trigger INSTEAD OF DELETE ON orders_net BEGIN SELECT 1; END`);
  (await openMirror(mirror.path)).db.close();
  expect(added()).toEqual([...names, "my_view_trigger"].sort());
  expect(mirror.selectValues("SELECT net_amount FROM orders_net")).toHaveLength(2);
});

test("changing a record does not fire a user-defined trigger for removals", async () => {
  const { mirror, all } = await withAddedObjects();
  writeRead(mirror, "orders", [anOrder(1, { total_amount: 5 })], { at: "2026-11-03T00:00:00.000Z" });
  expect(all("SELECT total_amount FROM orders WHERE id = 'order-1'")).toEqual([5]);
  expect(all("SELECT what || ' ' || id FROM log")).not.toContain("removed order-1");
});

test("removing a record does not change a user-defined table that references the record", async () => {
  const { mirror, all } = await withAddedObjects();
  mirror.db.exec(
    "CREATE TABLE tags (record_id REFERENCES orders (record_id)); INSERT INTO tags VALUES (1), (2)",
  );
  const store = new RecordWriter(mirror, orders, unrecordedRun(2));
  mirror.transaction(() => store.remove([1], Date.parse("2026-11-03")));
  expect(all("SELECT id FROM orders")).toEqual(["order-2"]);
  expect(all("SELECT what || ' ' || id FROM log")).toEqual(["removed order-1"]);
  expect(all("SELECT count(*) FROM tags UNION ALL SELECT count(*) FROM notes")).toEqual([2, 2]);
});

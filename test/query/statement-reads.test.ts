import { expect, test } from "vitest";
import { findReads } from "../../src/query/statement-reads.js";
import { makeMirror } from "../support/mirror.js";

const { db } = await makeMirror();
db.exec(
  "CREATE VIEW view_of_orders_and_hosts AS SELECT o.id FROM orders AS o JOIN hosts AS h ON h.id = o.host_id",
);
db.exec("CREATE VIEW view_of_main_orders AS SELECT id FROM main.orders");
db.exec("CREATE TABLE dropped (a); CREATE VIEW broken AS SELECT a FROM dropped; DROP TABLE dropped");
db.exec("CREATE TABLE generated (a, b AS (a || '!')); ANALYZE generated");
db.exec("CREATE VIRTUAL TABLE virtual_table USING fts5(word)");
db.unsafeMode().exec(`PRAGMA writable_schema = ON;
  INSERT INTO sqlite_schema VALUES ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING missing_module(a)');
  PRAGMA writable_schema = RESET`);

test.each([
  ["virtual_table", "SELECT 1 FROM virtual_table"],
  ["orders, roster", "SELECT 1 FROM orders, roster"],
  ["content, orders, roster", 'SELECT 1 FROM [orders] a, `roster` b, "content" c'],
  ["orders, roster", "SELECT 1 FROM (orders CROSS JOIN (SELECT host_id FROM Roster))"],
  ["orders", "SELECT count(*) FROM orders"],
  ["orders, roster", "SELECT 1 FROM orders WHERE host_id IN (SELECT host_id FROM roster)"],
  ["orders, roster", "SELECT (SELECT max(id) FROM orders) UNION ALL SELECT 2 FROM roster -- FROM content"],
  ["roster", "WITH orders AS (SELECT 'FROM content' AS id FROM roster) SELECT id FROM orders"],
  ["sales_by_month", "SELECT net_amount FROM sales_by_month"],
  ["hosts, orders", "SELECT id FROM view_of_orders_and_hosts"],
  ["hosts, orders", "SELECT value FROM orders, json_each(net_by_currency), hosts"],
  ["sqlite_schema", "SELECT name FROM sqlite_master"],
  ["records", "SELECT r.json FROM records r"],
  ["generated", "SELECT b FROM generated"],
  ["none", "SELECT 1"],
])("findReads returns the tables (%s) of the statement: %s", (list, sql) => {
  const names = list === "none" ? [] : list.split(", ");
  const read = findReads(db, sql);
  expect({ ...read, names: read?.names.sort() }).toEqual({ names, qualified: [] });
});

test.each([
  "SELECT count(*) FROM main.orders",
  "SELECT count(*) FROM roster, main . [orders]",
  "SELECT * FROM view_of_main_orders",
])("findReads reports that `orders` is qualified with a schema, directly or in a view: %s", (sql) => {
  expect(findReads(db, sql)?.qualified).toEqual(["orders"]);
});

test.each(["EXPLAIN SELECT 1 FROM orders", "SELECT main.orders.id FROM orders"])(
  "findReads returns undefined if it cannot determine the tables of the statement: %s",
  (sql) => {
    expect(findReads(db, sql)).toBeUndefined();
  },
);

test("findReads finds the tables of a statement with parameters", () => {
  const values = new Map<string, string | bigint>([
    ["id", "a"],
    ["n", 1n],
  ]);
  expect(findReads(db, "SELECT id FROM orders WHERE id = :id LIMIT :n", values)?.names).toEqual(["orders"]);
});

test("findReads leaves no temporary tables in the database", () => {
  findReads(db, "SELECT 1 FROM orders");
  expect(db.prepare("SELECT name FROM temp.sqlite_schema").all()).toEqual([]);
});

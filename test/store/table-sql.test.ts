import { expect, test } from "vitest";
import { analyticsClicks } from "../../src/resources/analytics-clicks.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import type { Resource } from "../../src/resources/resource.js";
import { listTableShapes } from "../../src/resources/table-shape.js";
import { columnNames, quote, type RecordState, recordIdSql, rowIdRange } from "../../src/store/table-sql.js";
import { makeMirror } from "../support/mirror.js";
import { order, write } from "./record-mirror.js";

const shapeOf = (resource: Resource, name: string) =>
  listTableShapes(resource).find((shape) => shape.name === name) ?? expect.fail();

test("table columns have the SQLite type of their values, so numbers are sorted numerically and text alphabetically", async () => {
  const mirror = await makeMirror();
  const select =
    "SELECT name || ' ' || type FROM pragma_table_info(?) WHERE name IN (SELECT value FROM json_each(?))";
  const types = (table: string, ...names: string[]) =>
    mirror.selectValues(select, table, JSON.stringify(names));
  expect(
    types("orders", "id", "order_date", "total_amount", "is_cancelled", "day", "order_date_utc"),
  ).toEqual([
    "id TEXT",
    "order_date TEXT",
    "total_amount REAL",
    "is_cancelled INTEGER",
    "day TEXT",
    "order_date_utc TEXT",
  ]);
  expect(types("order_line_items", "position", "quantity", "row_id")).toEqual([
    "position INTEGER",
    "quantity INTEGER",
    "row_id INTEGER",
  ]);
  expect(types("opportunities", "deadline", "category")).toEqual(["deadline TEXT", "category TEXT"]);
});

test.each<[string, string, Resource, string, RecordState]>([
  ["orders", "day, month, order_date_utc, synced_at, record_id", orders, "orders", "current"],
  [
    "orders_removed",
    "day, month, order_date_utc, synced_at, removed_at, record_id",
    orders,
    "orders",
    "removed",
  ],
  ["order_line_items", "synced_at, row_id", orders, "order_line_items", "current"],
  [
    "analytics_clicks_periods",
    "synced_at, record_id",
    analyticsClicks,
    "analytics_clicks_periods",
    "current",
  ],
  [
    "opportunity_assignments_removed",
    "synced_at, removed_at, row_id",
    opportunities,
    "opportunity_assignments",
    "removed",
  ],
])("in addition to the API's fields, `%s` has the columns %s", (_, expected, resource, name, state) => {
  expect(columnNames(shapeOf(resource, name), [], state)).toEqual(expected.split(", "));
});

test("the UTC time column is derived from the resource's date column, even if that column is not the first timestamp", () => {
  const resource = { ...opportunities, dateColumn: "updated_at" };
  expect(columnNames({ ...shapeOf(opportunities, "opportunities"), resource }, [], "current")).toContain(
    "updated_at_utc",
  );
});

test("a child row's ID contains the record's ID", async () => {
  const mirror = await makeMirror();
  const items = Array.from({ length: 1_100 }, (_, n) => ({ sku: String(n) }));
  write(mirror, orders, [order("o1", { line_items: items }), order("o2", { line_items: items })]);
  const child = shapeOf(orders, "order_line_items");
  const select = `SELECT ${recordIdSql(child, "row_id")} AS id, count(*) AS n, min(row_id) AS first, max(row_id) AS last
    FROM order_line_items GROUP BY 1`;
  expect(mirror.selectRows(select)).toEqual([
    { id: 1, n: 1_100, first: 2 ** 20, last: 2 ** 20 + 1_099 },
    { id: 2, n: 1_100, first: 2 ** 21, last: 2 ** 21 + 1_099 },
  ]);
  expect(rowIdRange(child, 1)).toEqual([2 ** 20, 2 ** 21 - 1]);
  const main = shapeOf(orders, "orders");
  expect([recordIdSql(main, "record_id"), rowIdRange(main, 5)]).toEqual(["record_id", [5, 5]]);
});

test("quotation marks in the name of a table or column are doubled in SQL", () => {
  expect(quote('a"b"c')).toBe('"a""b""c"');
});

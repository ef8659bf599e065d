import { expect, test } from "vitest";
import { listTableDescriptions, loadTableDescription } from "../../src/query/table-descriptions.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const mirror = await makeMirror();
writeRead(mirror, "orders", [anOrder(1, { currency: null }), anOrder(2), anOrder(3)]);
writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-3"] });

test.each([
  ["omits helper views and removed records by default", false, 2, undefined],
  ["includes helper views and removed records if all tables are requested", true, 2, 1],
])("a list of tables %s", (_, all, orders, removed) => {
  const tables = listTableDescriptions(mirror, { all });
  const rowsOf = (name: string) => tables.find((table) => table.name === name)?.rows;
  expect([rowsOf("orders"), rowsOf("orders_removed")]).toEqual([orders, removed]);
  expect(tables.some(({ name }) => name === "order_figures")).toBe(all);
  const views = tables.filter(({ kind }) => kind === "view");
  expect(views.length).toBeGreaterThan(10);
  for (const { rows } of views) expect(rows).toBeNull();
  for (const { columns } of tables) expect(columns[0]?.rows_with_value).toBeUndefined();
});

test.each([
  ["table", "orders", 1, 2, "currency", { type: "text", about: "ISO 4217 code" }],
  ["table", "orders", 2, 2, "is_cancelled", { type: "boolean", about: "0 or 1" }],
  ["view", "orders_net", 1, 2, "currency", {}],
  ["table", "changes", 1, 1, "kind", { type: "text", about: "" }],
])("the description of the %s `%s` states that %d of %d rows have a value in `%s`", (...row) => {
  const [kind, name, rows_with_value, rows, column, facts] = row;
  const description = loadTableDescription(mirror, name);
  expect(description).toMatchObject({ name, kind, rows });
  expect(description.columns.find((one) => one.name === column)).toMatchObject({ rows_with_value, ...facts });
});

test("if a table has never been read, its description contains neither a row count nor value counts", () => {
  const description = loadTableDescription(mirror, "roster");
  expect(description).toMatchObject({ name: "roster", kind: "table", rows: null });
  expect(description.columns.find(({ name }) => name === "status")?.rows_with_value).toBeUndefined();
});

test.each([
  ["sales_by_month", "FROM sales_by_month"],
  ["orders", "WHERE is_cancelled IS NOT 1 GROUP BY month"],
  ["order_line_items", "WHERE o.is_cancelled IS NOT 1"],
  ["roster", "SELECT * FROM roster LIMIT 5"],
])("the example query for `%s` contains `%s`", (name, text) => {
  expect(loadTableDescription(mirror, name, "nothing").example).toContain(text);
});

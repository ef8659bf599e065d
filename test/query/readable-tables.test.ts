import { expect, test } from "vitest";
import {
  declaredColumns,
  describeTable,
  findTypedTables,
  mainTableNames,
  tableNames,
} from "../../src/query/readable-tables.js";
import { makeMirror } from "../support/mirror.js";

const mirror = await makeMirror();

test("the columns of `sync_runs` have the types that exports use: booleans, integers and text", () => {
  const { columns } = describeTable(mirror, "sync_runs");
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  expect(types).toMatchObject({
    run_id: "integer",
    verified: "boolean",
    rows_read: "integer",
    error: "text",
  });
});

test.each([
  ["orders", "current", ["record_id"], { sql: '"order_date_utc"', form: "utc" }],
  ["orders_removed", "removed", ["record_id"], { sql: '"order_date_utc"', form: "utc" }],
  ["order_line_items", "current", ["row_id"], { form: "utc" }],
  ["roster", "current", ["record_id"], { form: "utc" }],
  ["analytics_clicks", "current", ["row_id"], { sql: '"date"', form: "day" }],
  ["recommendations", "current", ["record_id"], null],
  ["recommendation_products", "current", ["row_id"], null],
  ["changes", "system", ["change_id"], { sql: '"seen_changed_at"', form: "iso" }],
  ["sync_runs", "system", ["run_id"], { sql: '"started_at"', form: "iso" }],
  ["content_downloads", "system", ["source", "id"], { sql: '"downloaded_at"', form: "iso" }],
  ["sales_by_month", "view", [], { sql: '"month"', form: "month" }],
  ["sales_by_day", "view", [], { sql: '"day"', form: "day" }],
  ["orders_net", "view", ["record_id"], { sql: '"ordered_at"', form: "utc" }],
  ["commission_by_host", "view", [], null],
])("`%s` is a %s table, sorted by %j and filtered by its date", (name, kind, orderBy, date) => {
  const table = describeTable(mirror, name);
  expect(table).toMatchObject({ name, kind, orderBy });
  if (date === null) expect(table.date).toBeNull();
  else expect(table.date).toMatchObject(date);
});

test("the tables for removed records have the time of the removal, and say so in their description", () => {
  const [current, removed] = ["orders", "orders_removed"].map((name) => describeTable(mirror, name));
  expect(removed?.about).toBe(`removed records: ${current?.about}`);
  const namesOf = (table = current) => table?.columns.map(({ name }) => name) ?? [];
  expect(namesOf(removed)).toEqual(expect.arrayContaining([...namesOf(), "removed_at"]));
  expect(namesOf()).not.toContain("removed_at");
  expect(() => describeTable(mirror, "nowhere")).toThrow();
});

test.each([
  ["orders", ["id", "record_id"], ["removed_at"]],
  ["orders_removed", ["id", "record_id", "removed_at"], []],
  ["orders_net", ["net_amount", "record_id"], ["removed_at"]],
])("the columns of `%s` in every mirror include %j, but not %j", (name, included, excluded) => {
  const names = declaredColumns(name).map((column) => column.name);
  expect(names).toEqual(expect.arrayContaining(included));
  expect(names.filter((column) => excluded.includes(column))).toEqual([]);
});

test("the main tables include neither helper views nor removed records", () => {
  const others = tableNames.filter((name) => !mainTableNames.includes(name));
  expect(mainTableNames).toEqual(
    expect.arrayContaining(["orders", "changes", "sales_by_month", "orders_net"]),
  );
  expect(others).toEqual(expect.arrayContaining(["order_figures", "orders_removed"]));
  expect(others.filter((name) => !name.endsWith("_removed"))).toEqual(["order_figures"]);
});

test.each([
  ["orders", ["orders"]],
  ["orders_removed", ["orders"]],
  ["late_refunds", ["orders"]],
  ["roster_changes", ["roster"]],
  ["hosts_by_month", ["orders", "analytics_clicks_periods", "analytics_clicks_top_hosts"]],
  ["sync_runs", []],
])("`%s` is built from the records in %j", (name, tables) => {
  expect(findTypedTables(name).map((shape) => shape.name)).toEqual(tables);
});

import { expect, test } from "vitest";
import {
  declaredColumns,
  mainTableNames,
  resolveTable,
  shapesReadBy,
  tableNames,
} from "../../src/query/readable-tables.js";
import { makeMirror } from "../support/mirror.js";

const mirror = await makeMirror();

test("in exports, the columns of `sync_runs` have the types boolean, integer and text", () => {
  const { columns } = resolveTable(mirror, "sync_runs");
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  expect(types).toMatchObject({
    run_id: "integer",
    verified: "boolean",
    rows_read: "integer",
    error: "text",
  });
});

test.each([
  [
    "orders",
    "sorted by record_id",
    "filtered by a UTC column",
    "current",
    { sql: '"order_date_utc"', form: "utc" },
  ],
  [
    "orders_removed",
    "sorted by record_id",
    "filtered by a UTC column",
    "removed",
    { sql: '"order_date_utc"', form: "utc" },
  ],
  ["order_line_items", "sorted by row_id", "filtered by a UTC column", "current", { form: "utc" }],
  ["roster", "sorted by record_id", "filtered by a UTC column", "current", { form: "utc" }],
  ["analytics_clicks", "sorted by row_id", "filtered by day", "current", { sql: '"date"', form: "day" }],
  ["recommendations", "sorted by record_id", "not filtered by date", "current", null],
  ["recommendation_products", "sorted by row_id", "not filtered by date", "current", null],
  [
    "changes",
    "sorted by change_id",
    "filtered by an ISO 8601 column",
    "system",
    { sql: '"seen_changed_at"', form: "iso" },
  ],
  [
    "sync_runs",
    "sorted by run_id",
    "filtered by an ISO 8601 column",
    "system",
    { sql: '"started_at"', form: "iso" },
  ],
  [
    "content_downloads",
    "sorted by source, id",
    "filtered by an ISO 8601 column",
    "system",
    { sql: '"downloaded_at"', form: "iso" },
  ],
  [
    "sales_by_month",
    "in the order of the view",
    "filtered by month",
    "view",
    { sql: '"month"', form: "month" },
  ],
  ["sales_by_day", "in the order of the view", "filtered by day", "view", { sql: '"day"', form: "day" }],
  [
    "orders_net",
    "sorted by record_id",
    "filtered by a UTC column",
    "view",
    { sql: '"ordered_at"', form: "utc" },
  ],
  ["commission_by_host", "in the order of the view", "not filtered by date", "view", null],
])("an export of `%s` is %s and %s", (name, order, _, kind, date) => {
  const table = resolveTable(mirror, name);
  const orderBy = order === "in the order of the view" ? [] : order.replace("sorted by ", "").split(", ");
  expect(table).toMatchObject({ name, kind, orderBy });
  if (date === null) expect(table.date).toBeNull();
  else expect(table.date).toMatchObject(date);
});

test("the table for removed orders has an additional `removed_at` column, and a description that begins with `removed records`", () => {
  const [current, removed] = ["orders", "orders_removed"].map((name) => resolveTable(mirror, name));
  expect(removed?.about).toBe(`removed records: ${current?.about}`);
  const namesOf = (table = current) => table?.columns.map(({ name }) => name) ?? [];
  expect(namesOf(removed)).toEqual(expect.arrayContaining([...namesOf(), "removed_at"]));
  expect(namesOf()).not.toContain("removed_at");
  expect(() => resolveTable(mirror, "nowhere")).toThrow();
});

test.each([
  ["orders", "id and record_id, but not removed_at", ["id", "record_id"], ["removed_at"]],
  ["orders_removed", "id, record_id and removed_at", ["id", "record_id", "removed_at"], []],
  ["orders_net", "net_amount and record_id, but not removed_at", ["net_amount", "record_id"], ["removed_at"]],
])("the declared columns of `%s` include %s", (name, _, included, excluded) => {
  const names = declaredColumns(name).map((column) => column.name);
  expect(names).toEqual(expect.arrayContaining(included));
  expect(names.filter((column) => excluded.includes(column))).toEqual([]);
});

test("the main tables include neither helper views nor tables for removed records", () => {
  const others = tableNames.filter((name) => !mainTableNames.includes(name));
  expect(mainTableNames).toEqual(
    expect.arrayContaining(["orders", "changes", "sales_by_month", "orders_net"]),
  );
  expect(others).toEqual(expect.arrayContaining(["order_figures", "orders_removed"]));
  expect(others.filter((name) => !name.endsWith("_removed"))).toEqual(["order_figures"]);
});

test.each([
  ["orders", "orders"],
  ["orders_removed", "orders"],
  ["late_refunds", "orders"],
  ["roster_changes", "roster"],
  ["hosts_by_month", "orders, analytics_clicks_periods, analytics_clicks_top_hosts"],
])("the rows of `%s` are derived from the records of these tables: %s", (name, tables) => {
  expect(shapesReadBy(name).map((shape) => shape.name)).toEqual(tables.split(", "));
});

test("a query of `sync_runs` reads no table that is derived from records", () => {
  expect(shapesReadBy("sync_runs")).toEqual([]);
});

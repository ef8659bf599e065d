import { expect, test } from "vitest";
import { analyticsClicks } from "../../src/resources/analytics-clicks.js";
import { orders } from "../../src/resources/orders.js";
import type { Resource } from "../../src/resources/resource.js";
import { roster } from "../../src/resources/roster.js";
import { gifts } from "../../src/resources/undocumented.js";
import { loadUnexpectedColumns, numberAsText } from "../../src/store/schema-issues.js";
import type { Json } from "../../src/util/json-value.js";
import { makeMirror } from "../support/mirror.js";
import { order, rows, write } from "./record-mirror.js";

const anOrder = (field: string) => (value: Json, n: number) => order(`o${n}`, { [field]: value });
const anItem = (field: string) => (value: Json, n: number) =>
  order(`o${n}`, { line_items: [{ [field]: value }] });
const aMember = (value: Json, n: number) => ({
  relationship_id: `r${n}`,
  host: { id: "h1", socials: value },
});
const aGift = (value: Json, n: number) => ({ id: `g${n}`, value });
const huge = 2 ** 53;

test.each<[string, string, Resource, (value: Json, n: number) => Json, [Json, unknown, string, string?][]]>([
  [
    "orders",
    "total_amount",
    orders,
    anOrder("total_amount"),
    [
      [12.5, 12.5, "real"],
      ["12.50", 12.5, "real", numberAsText],
      ["0", 0, "real", numberAsText],
      ["n/a", null, "null", "string"],
      [true, null, "null", "boolean"],
      [[1], null, "null", "array"],
      [null, null, "null"],
    ],
  ],
  [
    "order_line_items",
    "quantity",
    orders,
    anItem("quantity"),
    [
      [2, 2, "integer"],
      [2.5, null, "null", "number"],
      [huge, null, "null", "number"],
      ["3", 3, "integer", numberAsText],
      ["3.5", null, "null", "string"],
    ],
  ],
  [
    "orders",
    "is_cancelled",
    orders,
    anOrder("is_cancelled"),
    [
      [true, 1, "integer"],
      [false, 0, "integer"],
      [1, null, "null", "number"],
      ["1", null, "null", "string"],
    ],
  ],
  [
    "orders",
    "currency",
    orders,
    anOrder("currency"),
    [
      ["EUR", "EUR", "text"],
      ["a\ud800b", "a\ufffdb", "text"],
      [5, null, "null", "number"],
    ],
  ],
  [
    "roster",
    "host_socials",
    roster,
    aMember,
    [
      [{ tiktok: "a" }, '{"tiktok":"a"}', "text"],
      ["a", '"a"', "text"],
    ],
  ],
  [
    "gifts",
    "value",
    gifts,
    aGift,
    [
      ["a\ud800b", "a\ufffdb", "text"],
      [true, 1, "integer"],
      [7, 7, "integer"],
      [7.5, 7.5, "real"],
      [huge, huge, "real"],
    ],
  ],
])(
  "the column %s.%s stores values that fit its type, and other values are reported as unexpected",
  async (table, column, resource, create, cases) => {
    const mirror = await makeMirror();
    write(
      mirror,
      resource,
      cases.map(([value], n) => create(value, n)),
    );
    const select = `SELECT ${column} AS value, typeof(${column}) AS type FROM ${table} ORDER BY rowid`;
    expect(rows(mirror, select)).toEqual(cases.map(([, value, type]) => ({ value, type })));
    const reported = rows(mirror, "SELECT column_name, found FROM unexpected_values ORDER BY record_id");
    expect(reported).toEqual(cases.flatMap(([, , , found]) => (found ? { column_name: column, found } : [])));
  },
);

test.each<[string, string, Json, object[], string[]]>([
  [
    "a list of two objects",
    "child rows with the positions 0 and 1",
    [{ sku: "a" }, { sku: "b" }],
    [
      { position: 0, sku: "a" },
      { position: 1, sku: "b" },
    ],
    [],
  ],
  [
    "a list with a string, an object, null and an object",
    "child rows with the positions 1 and 3",
    ["x", { sku: "a" }, null, { sku: "b" }],
    [
      { position: 1, sku: "a" },
      { position: 3, sku: "b" },
    ],
    ["not an object"],
  ],
  ["a string in place of a list", "no child rows", "x", [], ["string"]],
  ["a number in place of a list", "no child rows", 0, [], ["number"]],
  ["an object in place of a list", "no child rows", { sku: "a" }, [], ["object"]],
  ["null in place of a list", "no child rows", null, [], []],
])("%s creates %s", async (_list, _rows, items, expected, found) => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", { line_items: items })]);
  const select =
    "SELECT position, sku, order_id, record_id FROM order_line_items JOIN orders ON id = order_id";
  const added = { order_id: "o1", record_id: 1 };
  expect(rows(mirror, select)).toEqual(expected.map((row) => ({ ...row, ...added })));
  const rowIds = mirror.selectValues("SELECT row_id FROM order_line_items");
  expect(rowIds).toEqual(expected.map((row) => 2 ** 20 + (row as { position: number }).position));
  expect(loadUnexpectedColumns(mirror, "orders").map((column) => column.found)).toEqual(found);
});

test("a change to an order's line items replaces all child rows of that order, but no child rows of other orders", async () => {
  const mirror = await makeMirror();
  const items = (...skus: string[]) => ({ line_items: skus.map((sku) => ({ sku })) });
  write(mirror, orders, [order("o1", items("a", "b")), order("o2", items("c"))]);
  write(mirror, orders, [order("o1", items("d"))], { requestedAt: Date.parse("2026-11-02") });
  expect(rows(mirror, "SELECT order_id, sku FROM order_line_items ORDER BY row_id")).toEqual([
    { order_id: "o1", sku: "d" },
    { order_id: "o2", sku: "c" },
  ]);
});

test("request parameters such as the month are stored in the columns of the record and its child rows", async () => {
  const mirror = await makeMirror();
  const parameters = { period_start: "2026-10-01", group_by: "day" };
  const record = { period_start: "ignored", timeseries: [{ date: "2026-10-02", total_clicks: 3 }] };
  write(mirror, analyticsClicks, [record], { parameters });
  expect(rows(mirror, "SELECT period_start, group_by FROM analytics_clicks_periods")).toEqual([parameters]);
  expect(rows(mirror, "SELECT period_start, group_by, date, total_clicks FROM analytics_clicks")).toEqual([
    { ...parameters, date: "2026-10-02", total_clicks: 3 },
  ]);
});

test.each([
  [
    "contain the UTC time, day and month",
    "2026-10-01T01:30:00+02:00",
    "2026-09-30",
    "2026-09",
    "2026-09-30 23:30:00",
  ],
  ["contain midnight of that day in UTC", "2026-10-01", "2026-10-01", "2026-10", "2026-10-01 00:00:00"],
  ["are null", "soon", null, null, null],
  ["are null", null, null, null, null],
])("the columns order_date_utc, day and month %s if the order date is %j", async (_, date, ...expected) => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", { order_date: date })]);
  const [row] = rows<object>(mirror, "SELECT day, month, order_date_utc FROM orders");
  expect(Object.values(row ?? {})).toEqual(expected);
});

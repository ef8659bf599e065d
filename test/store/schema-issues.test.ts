import { expect, test } from "vitest";
import { analyticsClicks } from "../../src/resources/analytics-clicks.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import { recommendations } from "../../src/resources/recommendations.js";
import type { Resource } from "../../src/resources/resource.js";
import { roster } from "../../src/resources/roster.js";
import { gifts } from "../../src/resources/undocumented.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import {
  addNotice,
  describeUnexpectedColumn,
  describeUnexpectedValues,
  loadUnexpectedColumns,
} from "../../src/store/schema-issues.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { makeMirror } from "../support/mirror.js";
import { order, unrecordedRun, write } from "./record-mirror.js";

test("a sync prints a note about a new field, and a warning about a field whose column has a different name", async () => {
  const mirror = await makeMirror();
  const messages: string[] = [];
  const reporter = {
    note: (text: string) => void messages.push(`note: ${text}`),
    warn: (text: string) => void messages.push(`warning: ${text}`),
  };
  const send = (resource: Resource, record: JsonObject) =>
    mirror.transaction(() =>
      new RecordWriter(mirror, resource, { runId: 1, reporter }).write([record], { requestedAt: 0 }),
    );
  send(orders, order("o1", { ["tax".repeat(100)]: 1 }));
  send(analyticsClicks, { timeseries: [{ tax: 1 }] });
  send(gifts, { "a b": 1 });
  expect(messages).toEqual([
    `note: orders: the API sends a new field \`${"tax".repeat(40)}\`, which is included in JSON exports`,
    "note: analytics_clicks_periods: the API sends a new field `timeseries.tax`, which is included in the mirror's records",
    "warning: gifts: `a b` is stored in the `a_b` column",
  ]);
});

test("addNotice records only the first notice about a subject, so a sync prints the notice only once", async () => {
  const mirror = await makeMirror();
  const add = (subject: string) => mirror.transaction(() => addNotice(mirror, subject, "2026"));
  expect([add("a"), add("b"), add("a")]).toEqual([true, true, false]);
});

test.each<[string, Resource, JsonObject]>([
  [
    "in an object whose fields are undocumented",
    roster,
    { relationship_id: "r", host: { socials: { tiktok: 1 } } },
  ],
  [
    "that gets a column in the table of a list",
    recommendations,
    { host: { id: "h" }, products: [{ note: 1 }] },
  ],
  ["in a JSON column", opportunities, { id: "c", category: { main: 1 } }],
])("a sync prints no message about a new field %s", async (_, resource, record) => {
  expect(write(await makeMirror(), resource, [record])).toEqual([]);
});

test.each<[string, Resource, JsonObject, string[]]>([
  [
    "in a nested object",
    opportunities,
    { id: "c", assignments: [{ host: { tax: 1 } }] },
    ["assignments.host.tax"],
  ],
  [
    "in a list item that follows a non-object item",
    orders,
    order("o", { line_items: ["x", { tax: 1 }] }),
    ["line_items.tax"],
  ],
  [
    "in a record that also has a field with the name of a request parameter",
    analyticsClicks,
    { group_by: "day", tax: 1 },
    ["group_by", "tax"],
  ],
])("a sync prints a message with the path of a new field %s", async (_, resource, record, paths) => {
  const messages = write(await makeMirror(), resource, [record]);
  expect(messages.map((text) => /`(.*)`/.exec(text)?.[1])).toEqual(paths);
});

test("a new field in 100 records counts only once toward the limit of 100 reported fields", async () => {
  const taxed = Array.from({ length: 100 }, (_, n) => order(`o${n}`, { tax: n }));
  expect(write(await makeMirror(), orders, [...taxed, order("last", { vat: 1 })])).toHaveLength(2);
});

test("a value of an unexpected type is counted only until its record is corrected or removed", async () => {
  const mirror = await makeMirror();
  const odd = { total_amount: "1", currency: 5, host: [] };
  write(mirror, orders, [order("o1", odd), order("o2", odd), order("o3", { host: null })]);
  const counts = () =>
    loadUnexpectedColumns(mirror, "orders").map(({ column, records }) => `${column}: ${records}`);
  expect(counts()).toEqual(["currency: 2", "host: 2", "total_amount: 2"]);
  expect(describeUnexpectedValues(mirror, "orders")).toBe(
    "orders: unexpected types in 2 records: 2 numbers in orders.currency (null in the column), 2 lists in orders.host (null in the column), 2 numbers sent as text in orders.total_amount (read as numbers); JSON exports contain the original values",
  );
  write(mirror, orders, [order("o1", { currency: 5 })]);
  mirror.transaction(() => new RecordWriter(mirror, orders, unrecordedRun(2)).remove([2], 0));
  expect(counts()).toEqual(["currency: 1"]);
  expect(describeUnexpectedValues(mirror, "orders")).toContain("in 1 record: 1 number in orders.currency");
  expect(describeUnexpectedValues(mirror, "roster")).toBeNull();
});

test("the warning about unexpected values names at most ten columns and the number of remaining columns", async () => {
  const mirror = await makeMirror();
  const names = orders.fields.flatMap((field) =>
    field.kind === "scalar" && field.name !== "id" ? field.name : [],
  );
  const odd = (count: number) => Object.fromEntries(names.slice(0, count).map((name) => [name, []]));
  for (const [count, end] of [
    [10, ";"],
    [12, ", 2 more;"],
  ] as const) {
    write(mirror, orders, [order("o1", odd(count))]);
    const tenColumns = new RegExp(`^[^,]*(?: in orders\\.[^,]*, 1 list){9} in orders\\.[^,;]*${end}`);
    expect(describeUnexpectedValues(mirror, "orders")).toMatch(tenColumns);
  }
});

test.each([
  ["string", "2 text values"],
  ["array", "2 lists"],
  ["not an object", "2 non-object items"],
  ["object", "2 objects"],
])("two unexpected values of the type `%s` are described as: %s", (found, text) => {
  const column = { table: "orders", column: "id", found, records: 2 };
  expect(describeUnexpectedColumn(column)).toBe(`${text} in orders.id (null in the column)`);
});

test("a column's unexpected values are counted by type, and recounted when the table is rebuilt", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [
    order("o1", { currency: 5 }),
    order("o2", { currency: [] }),
    order("o3", { currency: 6, host: false }),
  ]);
  write(mirror, roster, [{ relationship_id: 7 }]);
  const found = () =>
    [orders, roster].flatMap(({ name }) =>
      loadUnexpectedColumns(mirror, name).map((one) => [one.found, one.records]),
    );
  expect(found()).toEqual([
    ["array", 1],
    ["number", 2],
    ["boolean", 1],
    ["number", 1],
  ]);
  mirror.db.exec("UPDATE records SET json = '{\"id\":\"o1\"}' WHERE key = 'o1'");
  rebuildTables(mirror, [orders]);
  expect(found()).toEqual([
    ["array", 1],
    ["number", 1],
    ["boolean", 1],
    ["number", 1],
  ]);
});

test("a rebuild of the tables does not record notices, so the next sync still prints a note about a new field", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", { tax: 1 })]);
  mirror.db.exec("DELETE FROM notices");
  rebuildTables(mirror, [orders]);
  expect(write(mirror, orders, [order("o2", { tax: 1 })])).toHaveLength(1);
});

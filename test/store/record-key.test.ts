import { expect, test } from "vitest";
import { UnexpectedResponse } from "../../src/errors.js";
import { analyticsHosts } from "../../src/resources/analytics-hosts.js";
import { content } from "../../src/resources/content.js";
import { orders } from "../../src/resources/orders.js";
import type { Resource } from "../../src/resources/resource.js";
import { gifts } from "../../src/resources/undocumented.js";
import { recordKey } from "../../src/store/records.js";
import type { Json } from "../../src/util/json-value.js";
import { makeMirror } from "../support/mirror.js";
import { order, rows, write } from "./record-mirror.js";

test.each([
  ["the ID", orders, { id: "o1" }, "o1"],
  ["the ID as a string if the ID is a number", orders, { id: 17 }, "17"],
  [
    "the source and the ID, separated by a slash, if the resource is `content`",
    content,
    { source: "upload", id: "c1" },
    "upload/c1",
  ],
  [
    "unambiguous if a part of the ID contains a slash",
    content,
    { source: "a/b", id: "50%/c" },
    "a%2Fb/50%25%2Fc",
  ],
  ["the ID unchanged, even if it contains a slash", orders, { id: "50%/c" }, "50%/c"],
  ["the position if the resource has no IDs", analyticsHosts, { id: "a" }, "#4"],
  ["the position if an undocumented record has no ID", gifts, { color: "red" }, "#4"],
  [
    "the position if the ID of an undocumented record is neither a string nor a number",
    gifts,
    { id: { a: 1 } },
    "#4",
  ],
  ["the position if the record is not an object", gifts, "red", "#4"],
] as [string, Resource, Json, string][])("a record's key is %s", (_, resource, value, key) => {
  expect(recordKey(resource, value, 4)).toBe(key);
});

test.each([
  ["a documented record without an ID", orders, { id: null }, "has no `id`"],
  ["a documented record with an incomplete ID", content, { id: "c1" }, "has no `source`, `id`"],
  [
    "a documented record with a numeric ID that a double would round",
    orders,
    JSON.parse('{"id":9007199254740993}'),
    "too many digits",
  ],
  [
    "an undocumented record with a numeric ID that a double would round",
    gifts,
    { id: -1e300 },
    "too many digits",
  ],
] as [string, Resource, Json, string][])("recordKey rejects %s", (_, resource, value, message) => {
  expect(() => recordKey(resource, value, 0)).toThrow(UnexpectedResponse);
  expect(() => recordKey(resource, value, 0)).toThrow(message);
});

test("if any record in a response has no key, none of its records is written", async () => {
  const mirror = await makeMirror();
  mirror.transaction(() => {
    expect(() => write(mirror, orders, [order("o1"), { no: "id" }])).toThrow("has no `id`");
  });
  for (const table of ["records", "orders", "order_line_items", "notices"])
    expect(rows(mirror, `SELECT * FROM ${table}`)).toEqual([]);
});

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
  ["an order is the order's ID", orders, { id: "o1" }, "o1"],
  ["an order with a numeric ID is that ID as a string", orders, { id: 17 }, "17"],
  [
    "an order with the largest ID that JavaScript does not round is that ID as a string",
    orders,
    { id: 9007199254740991 },
    "9007199254740991",
  ],
  [
    "a file in `content` is the source and the ID, separated by a slash",
    content,
    { source: "upload", id: "c1" },
    "upload/c1",
  ],
  [
    "a file in `content` is percent-encoded if the source or the ID contains a slash",
    content,
    { source: "a/b", id: "50%/c" },
    "a%2Fb/50%25%2Fc",
  ],
  ["an order is the unchanged ID, even if the ID contains a slash", orders, { id: "50%/c" }, "50%/c"],
  ["a host ranking row is its position, because the ranking has no IDs", analyticsHosts, { id: "a" }, "#4"],
  ["a gift without an ID is its position in the list", gifts, { color: "red" }, "#4"],
  ["a gift whose ID is an object is its position in the list", gifts, { id: { a: 1 } }, "#4"],
  ["a gift that is a string instead of an object is its position in the list", gifts, "red", "#4"],
] as [string, Resource, Json, string][])("the record key of %s", (_, resource, value, key) => {
  expect(recordKey(resource, value, 4)).toBe(key);
});

test.each([
  ["a record without an ID if the resource has a documented ID", orders, { id: null }, "has no `id`"],
  [
    "a record with an incomplete ID if the resource has a documented ID",
    content,
    { id: "c1" },
    "has no `source`, `id`",
  ],
  [
    "a record with a numeric ID that JavaScript would round",
    orders,
    JSON.parse('{"id":9007199254740993}'),
    "too many digits",
  ],
  [
    "a record with a numeric ID that JavaScript would round, even if the resource is undocumented",
    gifts,
    { id: -1e300 },
    "too many digits",
  ],
] as [string, Resource, Json, string][])("recordKey rejects %s", (_, resource, value, message) => {
  expect(() => recordKey(resource, value, 0)).toThrow(UnexpectedResponse);
  expect(() => recordKey(resource, value, 0)).toThrow(message);
});

test("if any record in a response has no ID, none of the response's records are stored", async () => {
  const mirror = await makeMirror();
  mirror.transaction(() => {
    expect(() => write(mirror, orders, [order("o1"), { no: "id" }])).toThrow("has no `id`");
  });
  for (const table of ["records", "orders", "order_line_items", "notices"])
    expect(rows(mirror, `SELECT * FROM ${table}`)).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { UnexpectedResponse } from "../../src/errors.js";
import { content } from "../../src/resources/content.js";
import { orders } from "../../src/resources/orders.js";
import type { Resource } from "../../src/resources/resource.js";
import { gifts } from "../../src/resources/undocumented.js";
import { recordKey } from "../../src/store/stored-record.js";
import type { Json } from "../../src/util/json-value.js";
import { mirrorForTest, order, rows, write } from "./record-mirror.js";

describe("a record's key", () => {
  test.each([
    ["its id", orders, { id: "o1" }, "o1"],
    ["its id as text, if it is a number", orders, { id: 17 }, "17"],
    ["both parts of it", content, { source: "upload", id: "c1" }, "upload/c1"],
    ["parts that hold a slash, kept apart", content, { source: "a/b", id: "50%/c" }, "a%2Fb/50%25%2Fc"],
    ["its place, if an undocumented one has no id", gifts, { colour: "red" }, "#4"],
    ["its place, if an undocumented id is neither text nor a number", gifts, { id: { a: 1 } }, "#4"],
    ["its place, if it is no object", gifts, "red", "#4"],
  ] as [string, Resource, Json, string][])("is %s", (_, resource, value, key) => {
    expect(recordKey(resource, value, 4)).toBe(key);
  });

  test.each([
    ["documented record without its id", orders, { id: null }, "has no `id`"],
    ["documented record without a part of it", content, { id: "c1" }, "has no `source`, `id`"],
    ["number that a double rounds", orders, JSON.parse('{"id":9007199254740993}'), "too many digits"],
    ["number that a double rounds, where no shape is documented", gifts, { id: -1e300 }, "too many digits"],
  ] as [string, Resource, Json, string][])("a %s has none: it is refused", (_, resource, value, message) => {
    expect(() => recordKey(resource, value, 0)).toThrow(UnexpectedResponse);
    expect(() => recordKey(resource, value, 0)).toThrow(message);
  });
});

test("an answer with a record that has no key writes nothing of itself", async () => {
  const mirror = await mirrorForTest();
  mirror.transaction(() => {
    expect(() => write(mirror, orders, [order("o1"), { no: "id" }])).toThrow("has no `id`");
  });
  for (const table of ["records", "orders", "order_line_items", "notices"])
    expect(rows(mirror, `SELECT * FROM ${table}`)).toEqual([]);
});

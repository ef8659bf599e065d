import { expect, test } from "vitest";
import { asObject, isObject, parseJson, valueAt } from "../../src/util/json-value.js";

test("valueAt returns a nested value, and undefined if an object on the path is missing", () => {
  const order = { host: { id: "h1", socials: null } };
  expect(valueAt(order, ["host", "id"])).toBe("h1");
  expect(valueAt(order, ["host", "socials", "site"])).toBeUndefined();
  expect(valueAt(order, ["product", "id"])).toBeUndefined();
});

test("valueAt ignores inherited properties such as constructor", () => {
  expect(valueAt({}, ["constructor"])).toBeUndefined();
  expect(valueAt({ id: "h1" }, ["id", "length"])).toBeUndefined();
  expect(valueAt(JSON.parse('{"constructor": 1}'), ["constructor"])).toBe(1);
});

test("isObject accepts only JSON objects, and asObject replaces any other value with an empty object", () => {
  const object = { a: 1 };
  expect([object, null, [], "text", 1, undefined].map(isObject)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect([object, null, [1]].map(asObject)).toEqual([object, {}, {}]);
});

test("parseJson returns undefined for invalid JSON", () => {
  expect([parseJson("{"), parseJson("null"), parseJson("[1]")]).toEqual([undefined, null, [1]]);
});

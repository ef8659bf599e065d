import { expect, it } from "vitest";
import { parseEnvelope } from "../../src/api/response.js";
import { UnexpectedResponse, UnsafeResponse } from "../../src/errors.js";
import { pagination } from "./support.js";

const key = "bk_live_5ecret/Key-0123";
const request = { path: "/orders", maxItems: 2, key };
const read = (text: string) => parseEnvelope(text, request);
const list = (given: object) =>
  JSON.stringify({ success: true, data: [], pagination: { ...pagination(1, 100, 250), ...given } });
const nested = (levels: number) =>
  `{"success":true,"data":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

it("a response is parsed into data, pagination and, if the data is an array, items", () => {
  const { has_prev: _, ...page } = pagination(1, 100, 250);
  const text = JSON.stringify({ success: true, data: [{ a: 1.5 }], pagination: page, new: 1 });
  expect(read(text)).toEqual({ data: [{ a: 1.5 }], items: [{ a: 1.5 }], pagination: page });
  expect(read('{"success":true,"data":{"a":1}}')).toEqual({
    data: { a: 1 },
    items: null,
    pagination: null,
  });
});

it.each([
  ["an array instead of an object", "[]", "is not an object"],
  ["a number instead of an object", "7", "is not an object"],
  ["null instead of an object", "null", "is not an object"],
  ["no `success`", '{"data":[]}', "does not have `success: true`"],
  ["a string as `success`", '{"success":"true","data":[]}', "does not have `success: true`"],
  ["no `data`", '{"success":true}', "has no object or array in `data`"],
  ["null as `data`", '{"success":true,"data":null}', "has no object or array in `data`"],
  ["a string as `data`", '{"success":true,"data":"secret"}', "has no object or array in `data`"],
  [
    "a list as `pagination`",
    '{"success":true,"data":[],"pagination":[]}',
    "has a `pagination` that is not an object",
  ],
  ["a string as `page`", list({ page: "1" }), "has no valid integer `page` in its `pagination`"],
  ["`page: 0`", list({ page: 0 }), "has no valid integer `page` in its `pagination`"],
  ["`per_page: 0`", list({ per_page: 0 }), "has no valid integer `per_page` in its `pagination`"],
  ["a negative `total_items`", list({ total_items: -1 }), "has no valid integer `total_items`"],
  ["a fraction as `total_items`", list({ total_items: 2.5 }), "has no valid integer `total_items`"],
  ["no `total_pages`", list({ total_pages: undefined }), "has no valid integer `total_pages`"],
  ["a string as `has_next`", list({ has_next: "false" }), "has no boolean `has_next` in its `pagination`"],
  [
    "more than a billion items",
    list({ total_items: 1e9 + 1, total_pages: 1e7 }),
    "has an inconsistent `pagination`: 10,000,000 pages for 1,000,000,001 items at 100 per page",
  ],
  [
    "a billion pages for 250 items",
    list({ total_pages: 1e9 }),
    "has an inconsistent `pagination`: 1,000,000,000 pages for 250 items at 100 per page",
  ],
  [
    "250 items on five pages of 100",
    list({ total_pages: 5 }),
    "has an inconsistent `pagination`: 5 pages for 250 items at 100 per page",
  ],
  [
    "one page of 100 for 250 items",
    list({ total_pages: 1 }),
    "has an inconsistent `pagination`: 1 page for 250 items at 100 per page",
  ],
  [
    "a numeric ID of 2^53",
    '{"success":true,"data":{"id":9007199254740992}}',
    "has a numeric ID with too many",
  ],
  [
    "a negative nested ID with 20 digits",
    '{"success":true,"data":[{"host":{"host_id":-12345678901234567890}}]}',
    "has a numeric ID with too many digits",
  ],
  ["101 levels of nesting", nested(101), "was rejected: it is nested more than 100 levels deep"],
  [
    "three items instead of the two requested",
    '{"success":true,"data":[1,2,3]}',
    "was rejected: it contains more than the 2 items requested",
  ],
])("a response with %s is rejected", (_, text, problem) => {
  expect(() => read(text)).toThrow(UnexpectedResponse);
  expect(() => read(text)).toThrow(`The API's response to /orders ${problem}`);
});

it.each([
  ["a `total_pages` that is one too low", list({ total_pages: 2 })],
  ["a `total_pages` that is one too high", list({ total_pages: 4 })],
  ["no items and no pages", list({ total_items: 0, total_pages: 0 })],
  ["no items and one page", list({ total_items: 0, total_pages: 1 })],
  ["a billion items", list({ total_items: 1e9, total_pages: 1e7 })],
  ["exactly the two items requested", '{"success":true,"data":[1,2]}'],
  ["a numeric ID of 2^53 - 1", '{"success":true,"data":{"id":9007199254740991}}'],
  ["large numbers that are not IDs", '{"success":true,"data":{"id":1.5,"paid":1e20,"id_2":1e20}}'],
  ["no `has_prev` in `pagination`", list({ has_prev: undefined })],
  ["an unknown field in `pagination`", list({ more: "members" })],
  ["100 levels of nesting", nested(100)],
  ["null as `pagination`", '{"success":true,"data":[],"pagination":null}'],
  ["fields named `__proto__`", '{"success":true,"data":{"__proto__":{"x":1}},"__proto__":{"success":false}}'],
])("a response with %s is accepted", (_, text) => {
  expect(read(text).data).toBeTypeOf("object");
});

it.each([
  ["an empty string", "its body is empty", ""],
  ["an HTML page after two spaces", "its body is a web page, not JSON", "  <!DOCTYPE html><p>Log in"],
  ["<html> after 300 spaces", "its body is a web page, not JSON", `${" ".repeat(300)}<html>`],
  ["a truncated object", "its JSON is truncated or damaged", '{"success":true,"data":[{"id":'],
  ["a truncated array", "its JSON is truncated or damaged", "[1,"],
  ["the text OK", "its body is not JSON", "OK"],
])("the error for a response that consists of %s is: %s", (_, what, text) => {
  expect(() => read(text)).toThrow(what);
  expect(() => read(text)).not.toThrow(UnexpectedResponse);
});

const escapedKey = [...key].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join("");

it.each([
  ["verbatim", key],
  ["with every character escaped", escapedKey],
  ["with one character escaped", key.replace("k", "\\u006b")],
  ["with an escaped slash", key.replace("/", "\\/")],
  ["after an escaped backslash", `\\\\${escapedKey}`],
])("a response that contains the API key %s is rejected without quoting it", (_, text) => {
  for (const body of [
    `{"success":true,"data":[{"id":"${text}"}]}`,
    `{"success":true,"data":{"${text}":1}}`,
    `{"success":true,"data":[],"debug":{"authorization":"Bearer ${text}"}}`,
  ]) {
    expect(() => read(body)).toThrow(UnsafeResponse);
    expect(() => read(body)).toThrow("The API's response to /orders was rejected: it contains the API key.");
  }
});

it.each([
  ["only the start of the API key", key.slice(0, -1)],
  ["only the end of the API key", key.slice(1)],
  ["the API key with an escape that is itself escaped", `\\\\u0062${key.slice(1)}`],
])("a response that contains %s is accepted", (_, text) => {
  expect(read(`{"success":true,"data":[{"id":"\\u0041${text}"}]}`).items).toHaveLength(1);
});

it("a response is searched for the API key only if the key has at least eight characters", () => {
  const text = '{"success":true,"data":[{"id":"orders_1"}]}';
  expect(parseEnvelope(text, { ...request, key: "orders_" }).items).toHaveLength(1);
  expect(() => parseEnvelope(text, { ...request, key: "orders_1" })).toThrow(UnsafeResponse);
});

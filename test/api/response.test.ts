import { describe, expect, it } from "vitest";
import { readEnvelope } from "../../src/api/response.js";
import { ResponseRejected, UnexpectedResponse } from "../../src/errors.js";
import { pagination } from "./support.js";

const key = "bk_live_5ecret/Key-0123";
const expected = { path: "/orders", mostItems: 2, key };
const read = (text: string) => readEnvelope(text, expected);
const list = (given: object) =>
  JSON.stringify({ success: true, data: [], pagination: { ...pagination(1, 100, 250), ...given } });
const nested = (levels: number) =>
  `{"success":true,"data":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

describe("an envelope", () => {
  it("gives its data, its items if that is a list, and its pagination", () => {
    const page = pagination(1, 100, 250);
    const text = JSON.stringify({ success: true, data: [{ a: 1.5 }], pagination: page, new: 1 });
    expect(read(text)).toEqual({ data: [{ a: 1.5 }], items: [{ a: 1.5 }], pagination: page });
    expect(read('{"success":true,"data":{"a":1}}')).toEqual({
      data: { a: 1 },
      items: null,
      pagination: null,
    });
  });

  it.each([
    ["[]", "is not an object"],
    ["7", "is not an object"],
    ["null", "is not an object"],
    ['{"data":[]}', "does not say `success: true`"],
    ['{"success":"true","data":[]}', "does not say `success: true`"],
    ['{"success":true}', "has no object or array as `data`"],
    ['{"success":true,"data":null}', "has no object or array as `data`"],
    ['{"success":true,"data":"secret"}', "has no object or array as `data`"],
    ['{"success":true,"data":[],"pagination":[]}', "has a `pagination` that is not an object"],
    [list({ page: "1" }), "has no whole number as `page` in its `pagination`"],
    [list({ page: 0 }), "has no whole number as `page` in its `pagination`"],
    [list({ per_page: 0 }), "has no whole number as `per_page` in its `pagination`"],
    [list({ total_items: -1 }), "has no whole number as `total_items` in its `pagination`"],
    [list({ total_items: 2.5 }), "has no whole number as `total_items` in its `pagination`"],
    [list({ total_pages: undefined }), "has no whole number as `total_pages` in its `pagination`"],
    [list({ has_next: "false" }), "has neither true nor false as `has_next` in its `pagination`"],
    [
      list({ total_items: 1e9 + 1, total_pages: 1e7 }),
      "cannot be true: 10000000 pages for 1000000001 items at 100 a page",
    ],
    [list({ total_pages: 1e9 }), "cannot be true: 1000000000 pages for 250 items at 100 a page"],
    [list({ total_pages: 5 }), "cannot be true: 5 pages for 250 items at 100 a page"],
    [nested(101), "is nested more than 100 levels deep: it is refused"],
    ['{"success":true,"data":[1,2,3]}', "holds more than the 2 items that were asked for: it is refused"],
  ])("%s is refused: it %s", (text, what) => {
    expect(() => read(text)).toThrow(UnexpectedResponse);
    expect(() => read(text)).toThrow(`The API's answer to /orders ${what}.`);
  });

  it.each([
    list({ total_pages: 2 }),
    list({ total_pages: 4 }),
    list({ total_items: 0, total_pages: 0 }),
    list({ total_items: 0, total_pages: 1 }),
    list({ more: "members" }),
    nested(100),
    '{"success":true,"data":[],"pagination":null}',
    '{"success":true,"data":{"__proto__":{"x":1}},"__proto__":{"success":false}}',
  ])("%s is accepted", (text) => {
    expect(read(text).data).toBeTypeOf("object");
  });

  it.each([
    ["", "its body is empty"],
    ["  <!DOCTYPE html><p>Log in", "its body is a web page, not JSON"],
    ['{"success":true,"data":[{"id":', "its JSON is cut short or damaged"],
    ["OK", "its body is not JSON"],
  ])("%j is no envelope at all: %s", (text, what) => {
    expect(() => read(text)).toThrow(what);
    expect(() => read(text)).not.toThrow(UnexpectedResponse);
  });

  const byNumber = [...key].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join("");

  it.each([
    ["as it is", key],
    ["by the numbers of its letters", byNumber],
    ["with one letter by its number", key.replace("k", "\\u006b")],
    ["with an escaped slash", key.replace("/", "\\/")],
    ["behind an escaped backslash", `\\\\${byNumber}`],
  ])("that holds the key is refused, and says nothing of it: %s", (_, text) => {
    for (const body of [
      `{"success":true,"data":[{"id":"${text}"}]}`,
      `{"success":true,"data":{"${text}":1}}`,
      `{"success":true,"data":[],"debug":{"authorization":"Bearer ${text}"}}`,
    ]) {
      expect(() => read(body)).toThrow(ResponseRejected);
      expect(() => read(body)).toThrow("The API's answer to /orders holds the key itself: it is refused.");
    }
  });

  it.each([
    ["part of the key", key.slice(1)],
    ["an escape that is itself escaped", `\\\\u0062${key.slice(1)}`],
  ])("that holds no key is accepted: %s", (_, text) => {
    expect(read(`{"success":true,"data":[{"id":"\\u0041${text}"}]}`).items).toHaveLength(1);
  });

  it("may hold a word that is as short as a key never is", () => {
    const answer = readEnvelope('{"success":true,"data":[{"id":"orders"}]}', { ...expected, key: "orders" });
    expect(answer.items).toHaveLength(1);
  });
});

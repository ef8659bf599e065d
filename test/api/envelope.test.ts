import { describe, expect, it } from "vitest";
import { aPage } from "../../src/api/bounds.js";
import { outlineEnvelope } from "../../src/api/envelope.js";
import { UnexpectedAnswer } from "../../src/errors.js";
import { pagination } from "./support.js";

const key = "bk_live_5ecret/Key-0123";
const expected = { path: "/orders", askedAt: 5, most: aPage, key };
const read = (text: string) => outlineEnvelope(Buffer.from(text), expected).open();
const list = (given: object) =>
  JSON.stringify({ success: true, data: [], pagination: { ...pagination(1, 100, 250), ...given } });

describe("an envelope", () => {
  it("gives its data, exactly as sent, and its pagination", () => {
    const answer = read(
      `{"success": true, "data": {"a": 1.50, "b": "x  y"}, "pagination": ${JSON.stringify(pagination(1, 100, 250))}, "new": 1}`,
    );
    expect(answer).toEqual({
      data: { a: 1.5, b: "x  y" },
      json: '{"a":1.50,"b":"x  y"}',
      items: null,
      pagination: pagination(1, 100, 250),
      askedAt: 5,
    });
  });

  it.each([
    ["[]", "is not an object"],
    ["7", "is not an object"],
    ["null", "is not an object"],
    ['{"data":[]}', "has no `success`, not true"],
    ['{"success":false,"data":[]}', "has false as `success`, not true"],
    ['{"success":"true","data":[]}', "has text as `success`, not true"],
    ['{"success":true}', "has no `data`, not an object or array"],
    ['{"success":true,"data":null}', "has null as `data`, not an object or array"],
    ['{"success":true,"data":"secret"}', "has text as `data`, not an object or array"],
    ['{"success":true,"data":[],"data":3}', "has 3 as `data`, not an object or array"],
    ['{"success":true,"data":[],"pagination":[]}', "has an array as `pagination`, not an object"],
    [list({ page: "1" }), "has text as `page` in `pagination`, not a whole number"],
    [list({ page: 0 }), "has 0 as `page` in `pagination`, not a whole number"],
    [list({ per_page: 0 }), "has 0 as `per_page` in `pagination`, not a whole number"],
    [list({ total_items: -1 }), "has -1 as `total_items` in `pagination`, not a whole number"],
    [list({ total_items: 2.5 }), "has 2.5 as `total_items` in `pagination`, not a whole number"],
    [list({ total_items: null }), "has null as `total_items` in `pagination`, not a whole number"],
    [list({ total_pages: undefined }), "has no `total_pages` in `pagination`, not a whole number"],
    [list({ has_next: "false" }), "has text as `has_next` in `pagination`, not true or false"],
    [list({ has_prev: undefined }), "has no `has_prev` in `pagination`, not true or false"],
    [list({ total_items: 1e9 + 1 }), "claims an absurd `total_items`: 1000000001"],
    [list({ total_pages: 1e7 }), "claims an absurd `total_pages`: 10000000"],
    [list({ total_pages: 5 }), "contradicts itself: 5 pages for 250 items at 100 a page"],
    [
      `{"success":true,"data":${"[".repeat(200)}${"]".repeat(200)}}`,
      "is nested more than 100 levels deep: it is refused",
    ],
  ])("%s is refused: it %s", (text, what) => {
    expect(() => read(text)).toThrow(UnexpectedAnswer);
    expect(() => read(text)).toThrow(`The API's answer to /orders ${what}.`);
  });

  it.each([
    list({ total_pages: 2 }),
    list({ total_pages: 4 }),
    list({ total_items: 0, total_pages: 0 }),
    list({ total_items: 0, total_pages: 1 }),
    list({ more: "members" }),
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
    expect(() => read(text)).not.toThrow(UnexpectedAnswer);
  });

  const byNumber = (text: string) =>
    [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

  it.each([
    ["as it is", key],
    ["by the numbers of its letters", byNumber(key)],
    ["by numbers in capitals", byNumber(key).toUpperCase().replaceAll("\\U", "\\u")],
    ["with one letter by its number", key.replace("k", "\\u006b")],
    ["with an escaped slash", key.replace("/", "\\/")],
    ["behind its own beginning", `bk_live_bk_live_${byNumber(key.slice(8))}`],
    ["behind an escaped backslash", `\\\\${byNumber(key)}`],
  ])("that holds the key is refused, and says nothing of it: %s", (_, text) => {
    for (const body of [
      `{"success":true,"data":[{"id":"${text}"}]}`,
      `{"success":true,"data":{"${text}":1}}`,
      `{"success":true,"data":[],"debug":{"authorization":"Bearer ${text}"}}`,
    ]) {
      expect(() => read(body)).toThrow(UnexpectedAnswer);
      expect(() => read(body)).toThrow("The API's answer to /orders holds the key itself: it is refused.");
    }
  });

  it.each([
    ["part of the key", key.slice(1)],
    ["an escape that is itself escaped", `\\\\u0062${key.slice(1)}`],
    ["the key with a line break in it", `bk_live_\\n${key.slice(8)}`],
  ])("that holds no key is accepted: %s", (_, text) => {
    expect(read(`{"success":true,"data":[{"id":"\\u0041${text}"}]}`).items).toHaveLength(1);
  });

  it("may hold a word that is as short as a key never is", () => {
    const body = Buffer.from('{"success":true,"data":[{"id":"orders"}]}');
    expect(outlineEnvelope(body, { ...expected, key: "orders" }).open().items).toHaveLength(1);
  });

  it("is not called damaged where it is the mirror that cannot say what it holds", () => {
    const broken = new Error("database disk image is malformed");
    const recognise = () => {
      throw broken;
    };
    const body = Buffer.from('{"success":true,"data":[{"id":"o1"}]}');
    expect(() => outlineEnvelope(body, expected).open(recognise)).toThrow(broken);
  });
});

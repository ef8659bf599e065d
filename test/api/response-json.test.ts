import { expect, test } from "vitest";
import { parseResponseJson } from "../../src/api/response.js";
import { parseJson } from "../../src/util/json-value.js";
import { visible } from "../support/visible.js";

test.each([
  ['{"a":1e400}', { a: "1e400" }],
  ["[-1E+400, 1e308, 1e-400, 12.50, 0]", ["-1E+400", 1e308, 0, 12.5, 0]],
  ['{"1e400":"1e400 \\" 1e400","b":1e999}', { "1e400": '1e400 " 1e400', b: "1e999" }],
  ['{"a":"\\\\","b":1e400}', { a: "\\", b: "1e400" }],
  ["1e400", "1e400"],
  ["-1.5e400", "-1.5e400"],
])("parsing the response %s returns numbers that are too large for a double as strings", (text, value) => {
  expect(parseResponseJson(text)).toEqual(value);
});

test("a nested 400-digit number in a response is parsed as a string", () => {
  const digits = "9".repeat(400);
  expect(parseResponseJson(`{"a":{"b":[${digits}]}}`)).toEqual({ a: { b: [digits] } });
});

test.each([
  ...["{}", "[1,null,true]", '"1e400"', "null", "12.5"].map((text) => [text, text]),
  ["a 400-digit number times 10^-390", `[1e20,${"9".repeat(400)}e-390]`],
])("parsing %s in a response returns the same value as JSON.parse", (_, text = "") => {
  expect(parseResponseJson(text)).toEqual(parseJson(text));
});

test.each(["", "{", "NaN", "Infinity", "[1e400", "[01]"].map((text) => [visible(text), text]))(
  "a response that consists of %s is rejected as invalid JSON",
  (_, text = "") => {
    expect(parseResponseJson(text)).toBeUndefined();
  },
);

test("a response with long strings or deep nesting is parsed without a stack overflow", () => {
  const long = "x\\n".repeat(2_000_000);
  const value = parseResponseJson<{ a: string; b: string }>(`{"a":"${long}","b":1e400}`);
  expect(value?.b).toBe("1e400");
  expect(value?.a).toHaveLength(4_000_000);
  const levels = 5_000;
  expect(parseResponseJson(`${"[".repeat(levels)}1e400${"]".repeat(levels)}`)).toBeDefined();
});

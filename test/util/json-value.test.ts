import { expect, test } from "vitest";
import { parseFiniteJson, parseJson } from "../../src/util/json-value.js";

test.each([
  ['{"a":1e400}', { a: "1e400" }],
  ["[-1E+400, 1e308, 1e-400, 12.50, 0]", ["-1E+400", 1e308, 0, 12.5, 0]],
  [`{"a":{"b":[${"9".repeat(400)}]}}`, { a: { b: ["9".repeat(400)] } }],
  ['{"1e400":"1e400 \\" 1e400","b":1e999}', { "1e400": '1e400 " 1e400', b: "1e999" }],
  ['{"a":"\\\\","b":1e400}', { a: "\\", b: "1e400" }],
  ["1e400", "1e400"],
])("parseFiniteJson returns numbers outside the range of a double as strings: %s", (text, value) => {
  expect(parseFiniteJson(text)).toEqual(value);
});

test.each(["{}", "[1,null,true]", '"1e400"', "null", "12.5"])(
  "parseFiniteJson parses other JSON like JSON.parse: %s",
  (text) => {
    expect(parseFiniteJson(text)).toEqual(parseJson(text));
  },
);

test.each(["", "{", "NaN", "Infinity", "[1e400", "[01]"])(
  "parseFiniteJson rejects %j as invalid JSON",
  (text) => {
    expect(parseFiniteJson(text)).toBeUndefined();
  },
);

test("parseFiniteJson parses long strings and deep nesting without a stack overflow", () => {
  const long = "x\\n".repeat(2_000_000);
  const value = parseFiniteJson<{ a: string; b: string }>(`{"a":"${long}","b":1e400}`);
  expect(value?.b).toBe("1e400");
  expect(value?.a).toHaveLength(4_000_000);
  const levels = 5_000;
  expect(parseFiniteJson(`${"[".repeat(levels)}1e400${"]".repeat(levels)}`)).toBeDefined();
});

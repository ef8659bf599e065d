import { expect, test } from "vitest";
import { Exact, hasInexactNumbers, parseExact } from "../../src/lib/exact.js";
import fc from "../support/property.js";

test.each([
  ['{"a":12.5}', false],
  ['{"a":12.50}', true],
  ['{"a":"12.50"}', false],
  ['{"a":"x\\\\","b":1.50}', true],
  ['{"a":"x\\\\\\"","b":",1.50,"}', false],
  ['{"a":[9007199254740993]}', true],
  ['{"1.50":-0}', true],
])("%s holds a number that would not print as it was sent: %s", (json, expected) => {
  expect(hasInexactNumbers(json)).toBe(expected);
});

test("exact numbers are all that is read in another way than JSON.parse does", () => {
  const plain = (value: unknown): unknown => {
    if (value instanceof Exact) return Number(value.literal);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      expect(plain(parseExact(json))).toEqual(JSON.parse(json));
    }),
  );
});

test.each(["x", "\\n", '\\"', "\\\\"])(
  "a text of thirty million letters beside a number is no matter: %s",
  (unit) => {
    const json = `{"a":"${unit.repeat(30e6 / unit.length)}","b":1.50}`;
    expect(hasInexactNumbers(json)).toBe(true);
    expect(String((parseExact(json) as { b: Exact }).b)).toBe("1.50");
  },
);

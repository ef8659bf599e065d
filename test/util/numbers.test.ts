import fc from "fast-check";
import { expect, test } from "vitest";
import { amountsEqual, nearlyEqual, numberFromSqlText, parseJsonNumber } from "../../src/util/numbers.js";
import { Sqlite } from "../support/sqlite.js";
import { visible } from "../support/visible.js";

const sqlite = new Sqlite(":memory:")
  .prepare(`SELECT ${numberFromSqlText("text")} FROM (SELECT ? AS text)`)
  .pluck();

test.each([
  ["12.50", 12.5],
  ["0", 0],
  ["-0.1", -0.1],
  ["1e3", 1_000],
  ["1E+3", 1_000],
  ["9007199254740993", 9_007_199_254_740_992],
  ["1.7976931348623157e308", Number.MAX_VALUE],
])("parseJsonNumber and its SQL equivalent parse the text %j as the number %d", (text, number) => {
  expect(parseJsonNumber(text)).toBe(number);
  expect(sqlite.get(text)).toBe(number);
});

const invalidNumbers = [
  "",
  " 12",
  "12 ",
  "12\n",
  "+1",
  ".5",
  "5.",
  "012",
  "1,5",
  "1_000",
  "0x10",
  "1e",
  "NaN",
  "Infinity",
  "-Infinity",
  "1e400",
  "-1e400",
  "١٢",
  "12.50 EUR",
  "null",
  "true",
  "[1]",
  '"1"',
  "1 2",
  "--1",
  "e",
  "-",
];

test.each(invalidNumbers.map((text) => [visible(text), text]))(
  "parseJsonNumber and its SQL equivalent reject %s as a number",
  (_, text) => {
    expect(parseJsonNumber(text)).toBeUndefined();
    expect(sqlite.get(text)).toBeNull();
  },
);

test("parseJsonNumber and its SQL equivalent reject a number with 400 digits", () => {
  expect(parseJsonNumber("9".repeat(400))).toBeUndefined();
  expect(sqlite.get("9".repeat(400))).toBeNull();
});

test("parseJsonNumber and its SQL equivalent return the same result for every string", () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123456789.eE+- "), maxLength: 8 });
  fc.assert(
    fc.property(fc.oneof(text, fc.double().map(String), fc.string()), (one) => {
      const number = parseJsonNumber(one);
      const found = sqlite.get(one);
      if (number === undefined) expect(found).toBeNull();
      else expect(found).toBeCloseTo(number, 6);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [0.5, 0.500_000_000_000_1, "nearly equal"],
  [-0.5, -0.500_000_000_000_1, "nearly equal"],
  [0.5, 0.500_000_000_001, "different"],
  [-0.5, 0.5, "different"],
  [1e12, 1e12 + 0.5, "nearly equal"],
  [1e15, 1e15 + 1, "different"],
  [3, 3, "equal"],
  [3, 4, "different"],
])("integers are compared exactly and fractions to 12 digits, so %d and %d are %s", (a, b, expected) => {
  const isEqual = expected !== "different";
  expect([nearlyEqual(a, b), nearlyEqual(b, a)]).toEqual([isEqual, isEqual]);
});

test.each([
  [0.1 + 0.2, 0.3, "equal"],
  [10, 10.0004, "equal"],
  [10, 10.0006, "different"],
  [0.001, 0.002, "different"],
  [1e9 + 0.001, 1e9 + 0.0019, "equal"],
  [10, 11, "different"],
])(
  "amounts are equal if they differ by less than 0.0005 or only after the 12th digit, so %d and %d are %s",
  (a, b, expected) => {
    const isEqual = expected === "equal";
    expect([amountsEqual(a, b), amountsEqual(b, a)]).toEqual([isEqual, isEqual]);
  },
);

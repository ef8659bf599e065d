import fc from "fast-check";
import { expect, test } from "vitest";
import { amountsEqual, nearlyEqual, numberFromSqlText, parseJsonNumber } from "../../src/util/numbers.js";
import { Sqlite } from "../support/sqlite.js";

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
])("numberFromText and SQL parse %j as the number %d", (text, number) => {
  expect(parseJsonNumber(text)).toBe(number);
  expect(sqlite.get(text)).toBe(number);
});

test.each([
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
])("numberFromText and SQL reject %j", (text) => {
  expect(parseJsonNumber(text)).toBeUndefined();
  expect(sqlite.get(text)).toBeNull();
});

test("numberFromText and SQL reject a number with 400 digits", () => {
  expect(parseJsonNumber("9".repeat(400))).toBeUndefined();
  expect(sqlite.get("9".repeat(400))).toBeNull();
});

test("SQL and JavaScript parse every string to the same number", () => {
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
  [0.5, 0.500_000_000_000_1, true],
  [-0.5, -0.500_000_000_000_1, true],
  [0.5, 0.500_000_000_001, false],
  [-0.5, 0.5, false],
  [1e12, 1e12 + 0.5, true],
  [1e15, 1e15 + 1, false],
  [3, 3, true],
  [3, 4, false],
])("nearlyEqual compares %d and %d to 12 digits, but integers exactly: %s", (a, b, isEqual) => {
  expect([nearlyEqual(a, b), nearlyEqual(b, a)]).toEqual([isEqual, isEqual]);
});

test.each([
  [0.1 + 0.2, 0.3, true],
  [10, 10.0004, true],
  [10, 10.0006, false],
  [0.001, 0.002, false],
  [1e9 + 0.001, 1e9 + 0.0019, true],
  [10, 11, false],
])("amountsEqual tolerates less than a tenth of a cent between %d and %d: %s", (a, b, isEqual) => {
  expect([amountsEqual(a, b), amountsEqual(b, a)]).toEqual([isEqual, isEqual]);
});

import { expect, test } from "vitest";
import {
  formatBytes,
  formatCount,
  pluralize,
  quoteShellWord,
  uniqueName,
} from "../../src/util/format-text.js";

test.each([
  [0, "record", "0 records"],
  [1, "record", "1 record"],
  [3_000, "record", "3,000 records"],
  [2, "retry", "2 retries"],
  [2, "day", "2 days"],
])("pluralize formats %d and the noun %s as %j", (count, noun, text) => {
  expect(pluralize(count, noun)).toBe(text);
});

test.each([
  [0, "0"],
  [999, "999"],
  [1_000, "1,000"],
  [1_234_567, "1,234,567"],
  [-999, "-999"],
  [-1_000, "-1,000"],
  [1_499.5, "1,500"],
])("formatCount formats %d as %s", (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_000, "1.0 kB"],
  [99_949, "99.9 kB"],
  [99_950, "100 kB"],
  [999_499, "999 kB"],
  [999_500, "1.0 MB"],
  [4_200_000_000, "4.2 GB"],
  [2e12, "2.0 TB"],
  [5e15, "5000 TB"],
])("formatBytes formats %d as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  ["./a-b_c:d@e%f+g=h,1", "./a-b_c:d@e%f+g=h,1"],
  ["a b", "'a b'"],
  ["$HOME", "'$HOME'"],
  ["ü", "'ü'"],
  ["a\n", "'a\n'"],
  ["", "''"],
  ["it's Ada's", "'it'\\''s Ada'\\''s'"],
])("quoteShellWord quotes %j as %j", (word, quoted) => {
  expect(quoteShellWord(word)).toBe(quoted);
});

test.each([
  ["orders", [], "orders"],
  ["Orders", ["orders"], "Orders_2"],
  ["orders", ["orders", "orders_2"], "orders_3"],
  ["orders by day", [], "orders b"],
  ["orders by day", ["orders b"], "orders_2"],
  ["ordersbyday", ["ordersby", ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `orders_${n}`)], "order_10"],
])("uniqueName shortens %s to eight characters and makes it different from %j", (name, taken, unique) => {
  expect(uniqueName(name, new Set(taken), 8)).toBe(unique);
});

import { expect, test } from "vitest";
import {
  formatBytes,
  formatCount,
  pluralize,
  quoteShellWord,
  uniqueName,
} from "../../src/util/format-text.js";
import { visible } from "../support/visible.js";

test.each([
  [0, "record", "0 records"],
  [1, "record", "1 record"],
  [3_000, "record", "3,000 records"],
  [2, "retry", "2 retries"],
  [2, "day", "2 days"],
])("the count %d and the noun %s are printed as %j", (count, noun, text) => {
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
])("the count %d is printed as %s", (count, text) => {
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
])("a size of %d bytes is printed as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test("a word without special characters is not quoted for the shell", () => {
  expect(quoteShellWord("./a-b_c:d@e%f+g=h,1")).toBe("./a-b_c:d@e%f+g=h,1");
});

const quotedWords = [
  ["a b", "'a b'"],
  ["$HOME", "'$HOME'"],
  ["ü", "'ü'"],
  ["a\n", "'a\n'"],
  ["", "''"],
  ["it's Ada's", "'it'\\''s Ada'\\''s'"],
] as const;

test.each(quotedWords.map(([word, quoted]) => [visible(word), visible(quoted), word, quoted]))(
  "%s is quoted for the shell as %s",
  (_, _title, word, quoted) => {
    expect(quoteShellWord(word)).toBe(quoted);
  },
);

test.each([
  ["orders", "orders", "no name is taken", []],
  ["Orders", "Orders_2", "orders is taken", ["orders"]],
  ["orders", "orders_3", "orders and orders_2 are taken", ["orders", "orders_2"]],
  ["orders by day", "orders b", "no name is taken", []],
  ["orders by day", "orders_2", "orders b is taken", ["orders b"]],
  [
    "ordersbyday",
    "order_10",
    "ordersby and orders_2 to orders_9 are taken",
    ["ordersby", ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `orders_${n}`)],
  ],
])("for a limit of eight characters, the unique name for %j is %j if %s", (name, unique, _, taken) => {
  expect(uniqueName(name, new Set(taken), 8)).toBe(unique);
});

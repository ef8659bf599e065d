import { expect, test } from "vitest";
import { closestName, findOwnColumn, suggestName } from "../../src/util/suggestions.js";
import { visible } from "../support/visible.js";

const names = ["orders", "order_line_items", "order_items", "refund_amount", "order_number", "abc", "wxyz"];

test.each([
  ["ordres", "orders"],
  ["ORDERS", "orders"],
  ["ord", "orders"],
  ["reders", "orders"],
  ["ordersorde", "orders"],
  ["abx", "abc"],
  ["xxabc", "abc"],
  ["wxab", "wxyz"],
  ["ab", "abc"],
  ["ORDER_LINES", "order_line_items"],
  ["items_order", "order_items"],
  ["refund_amt", "refund_amount"],
  ["order_no", "order_number"],
  ["order_nr", "order_number"],
  ["order_num", "order_number"],
])("the name suggested for the mistyped name %s is %s", (typed, name) => {
  expect(closestName(typed, names)).toBe(name);
});

const dissimilarNames = ["", "a", "axx", "qxqq", "ordersorder", "completely", "order_zzzz"];

test.each(dissimilarNames.map((typed) => [visible(typed), typed]))(
  "no name is suggested for %s, because none is similar enough",
  (_, typed) => {
    expect(closestName(typed, names)).toBeUndefined();
  },
);

test("the suggestion is the name with the fewest differences, or the first of several equally close names", () => {
  expect(closestName("hosts", ["most", "posts"])).toBe("posts");
  expect(closestName("line_qty", ["line_quantity"])).toBe("line_quantity");
  expect(closestName("acme", ["ACME"])).toBe("ACME");
  expect(closestName("items", ["order_items"])).toBeUndefined();
  expect(closestName("boat", ["coat", "goat"])).toBe("coat");
});

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => `name${String(n).padStart(2, "0")}`);

test("the hint for a mistyped name suggests the closest name, and lists all valid names if there are two to four of them", () => {
  expect(suggestName("csvv", ["csv"])).toBe("did you mean `csv`?");
  expect(suggestName("csvv", ["csv", "xlsx"])).toBe("did you mean `csv`? Use one of `csv`, `xlsx`");
  expect(suggestName("csvv", ["csv", "a", "b", "c"])).toContain("Use one of");
  expect(suggestName("csvv", ["csv", "a", "b", "c", "d"])).toBe("did you mean `csv`?");
});

test("the hint for a name that resembles no valid name lists the valid names if there are at most 40", () => {
  expect(suggestName("other", ["csv"])).toBe("use `csv`");
  expect(suggestName("other", ["csv", "tsv"])).toBe("use one of `csv`, `tsv`");
  expect(suggestName("other", numbered(40))).toMatch(/^use one of `name00`, .*`name39`$/);
  expect(suggestName("other", numbered(41))).toBeUndefined();
});

test.each([
  ["order_id", "orders", "id"],
  ["date", "orders", "order_date"],
  ["order_title", "order_line_items", "title"],
  ["order_price", "orders", "no column"],
])("for the unknown column %s of the table %s, findOwnColumn suggests %s", (typed, table, suggestion) => {
  const column = suggestion === "no column" ? undefined : suggestion;
  expect(findOwnColumn(typed, table, ["id", "order_date", "title"])).toBe(column);
});

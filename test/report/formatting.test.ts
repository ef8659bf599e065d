import { expect, test } from "vitest";
import { formatAmount } from "../../src/report/formatting.js";

test.each([
  [1234.5, "EUR", "1,234.50"],
  [1234, "JPY", "1,234"],
  [1234.5, "JPY", "1,234.50"],
  [1.5, "KWD", "1.500"],
])("formatAmount formats %s with the currency %s as %s", (value, currency, text) => {
  expect(formatAmount(value, currency).text).toBe(text);
});

test("formatAmount uses two decimals if there is no currency", () => {
  expect(formatAmount(-0.004, null).text).toBe("\u22120.00");
});

import { expect, test } from "vitest";
import {
  formatAmount,
  formatChange,
  formatCompact,
  formatCountValue,
  formatCurrency,
  formatCurrencyTitle,
  formatDay,
  formatDifference,
  formatMonth,
  formatPercent,
  formatShortMonth,
  formatTime,
} from "../../src/report/formatting.js";

test.each([
  [1234.5, "EUR", "1,234.50"],
  [1234, "JPY", "1,234"],
  [1234.5, "JPY", "1,234.50"],
  [1.5, "KWD", "1.500"],
  [1, "points", "1.00"],
  [1, "EU", "1.00"],
  [1, "AEUR", "1.00"],
  [-0, "EUR", "0.00"],
])("the report formats the amount %s with the currency %s as %s", (value, currency, text) => {
  expect(formatAmount(value, currency)).toEqual({ value, text });
});

test("the report formats the amount -0.004 without a currency as \u22120.00", () => {
  expect(formatAmount(-0.004, null)).toEqual({ value: -0.004, text: "\u22120.00" });
});

test.each([
  [12.3, "+12.30"],
  [-12.3, "\u221212.30"],
  [0, "0.00"],
  [-0, "0.00"],
])("the report formats a difference of %s as %s", (value, text) => {
  expect(formatDifference(value, "EUR").text).toBe(text);
});

test.each([
  [112.34, 100, "+12.3%"],
  [50, 100, "\u221250.0%"],
  [100, 100, "0.0%"],
  [0, 100, "\u2212100.0%"],
  [-50, 100, "\u2212150.0%"],
])("the report formats the change to %d from %d as %s", (now, before, text) => {
  expect(formatChange(now, before)).toMatchObject({ value: (now - before) / before, text });
});

test.each([
  ["1", "zero", 1, 0],
  ["1", "a negative amount", 1, -1],
  ["no amount", "100", null, 100],
  ["100", "no amount", 100, null],
])("the report states no percentage for a change to %s from %s", (_now, _before, now, before) => {
  expect(formatChange(now, before)).toMatchObject({ value: null, text: "" });
});

const time = "2026-11-02T04:57:59.000Z";

test.each([
  ["the month 2026-10", "October 2026", formatMonth("2026-10-03")],
  ["the month 2026-10 in a table", "Oct 2026", formatShortMonth("2026-10")],
  ["the day 2026-11-02", "2 Nov 2026", formatDay(time)],
  ["the time 2026-11-02T04:57:59Z", "2 Nov 2026, 04:57 UTC", formatTime(time)],
  ["the share 0.0234", "2.3%", formatPercent(0.0234)],
  ["the share 1", "100.0%", formatPercent(1)],
  ["the count 1234", "1,234", formatCountValue(1_234).text],
  ["25000 on the axis of a chart", "25K", formatCompact(25_000)],
  ["-1250 on the axis of a chart", "\u22121.3K", formatCompact(-1_250)],
  ["a missing currency", "no currency", formatCurrency(null)],
  ["a missing currency in a title", "No currency", formatCurrencyTitle(null)],
  ["the currency SEK", "SEK", formatCurrency("SEK")],
  ["the currency SEK in a title", "SEK", formatCurrencyTitle("SEK")],
  ["a currency code that is an escape character", "\\u001b", formatCurrency("\u001b")],
  ["a currency code of 17 characters", `${"x".repeat(15)}…`, formatCurrency("x".repeat(17))],
])("the report formats %s as `%s`", (_, text, formatted) => {
  expect(formatted).toBe(text);
});

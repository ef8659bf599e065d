import { expect, test } from "vitest";
import { findWrongComparisons } from "../../src/query/wrong-comparisons.js";

test.each([
  ["SELECT 1 FROM orders WHERE order_date >= datetime('now', '-7 days')", ["order_date"]],
  ["SELECT 1 FROM orders o WHERE datetime('now', '-7 days') < o.order_date", ["order_date"]],
  ["SELECT 1 FROM orders WHERE order_date BETWEEN '2026' AND datetime('now')", ["order_date"]],
  ["SELECT 1 FROM orders_net WHERE order_date > datetime('now')", ["order_date"]],
  ["SELECT 1 FROM orders WHERE day > '2026' AND \"ORDER_DATE\" <= DATETIME('now') -- AND", ["order_date"]],
  ["SELECT 1 FROM changes WHERE seen_changed_at > (datetime('now', '-1 day'))", ["seen_changed_at"]],
  ["SELECT 1 FROM roster WHERE synced_at < datetime('now')", ["synced_at"]],
])(
  "findWrongComparisons warns about timestamps that a statement compares with datetime(): %s",
  (sql, columns) => {
    expect(findWrongComparisons(sql)).toEqual(
      columns.map((column) => expect.stringContaining(`compare \`datetime(${column})\``)),
    );
  },
);

test.each([
  [
    "a timestamp converted by datetime()",
    "SELECT 1 FROM orders WHERE datetime(order_date) >= datetime('now', '-7 days')",
  ],
  [
    "a timestamp compared with a string",
    "SELECT datetime(order_date) || 'x' FROM orders WHERE order_date >= '2026-10-01'",
  ],
  [
    "a column in the format of datetime()",
    "SELECT 1 FROM orders_net WHERE ordered_at >= datetime('now', '-7 days')",
  ],
  [
    "a converted timestamp with the name of the column",
    "SELECT 1 FROM (SELECT datetime(order_date) AS order_date FROM orders) WHERE order_date > datetime('now')",
  ],
  [
    "datetime() in a string",
    "SELECT 1 FROM orders WHERE order_date > 'datetime(' OR id = 'order_date > datetime()'",
  ],
  ["a day compared with date()", "SELECT 1 FROM orders WHERE day >= date('now', '-7 days')"],
])("findWrongComparisons does not warn about %s: %s", (_, sql) => {
  expect(findWrongComparisons(sql)).toEqual([]);
});

test.each(["day >= '31.10.2026'", "day BETWEEN '2026-10-01' AND '31.10.2026'"])(
  "findWrongComparisons warns about a date that starts with the day: %s",
  (condition) => {
    expect(findWrongComparisons(condition)).toEqual([
      expect.stringContaining("`day` is compared with `'31.10.2026'`"),
    ]);
  },
);

test.each([
  ["is_cancelled = 'false'", "`is_cancelled` is 1 or 0, which never equals `'false'`: compare it with `0`"],
  ["o.IS_REFUNDED IN ('TRUE')", "compare it with `1`"],
  ["'true' <> on_roster", "compare it with `1`"],
])("findWrongComparisons warns about a boolean that is compared with text: %s", (condition, text) => {
  expect(findWrongComparisons(condition)).toEqual([expect.stringContaining(text)]);
});

test.each(["is_cancelled = false", "status = 'true'", "iif(is_cancelled, 'true', 'false') = 'true'"])(
  "findWrongComparisons does not warn about a correct comparison of booleans or text: %s",
  (condition) => {
    expect(findWrongComparisons(condition)).toEqual([]);
  },
);

import { expect, test } from "vitest";
import { findWrongComparisons } from "../../src/query/wrong-comparisons.js";

test.each([
  ["SELECT 1 FROM orders WHERE order_date >= datetime('now', '-7 days')", ["order_date"]],
  ["SELECT 1 FROM orders o WHERE datetime('now', '-7 days') < o.order_date", ["order_date"]],
  ["SELECT 1 FROM orders WHERE order_date BETWEEN '2026' AND datetime('now')", ["order_date"]],
  ["SELECT 1 FROM orders_net WHERE order_date > datetime('now')", ["order_date"]],
  ["SELECT 1 FROM orders WHERE day > '2026' AND \"ORDER_DATE\" <= DATETIME('now') -- AND", ["order_date"]],
  ["SELECT 1 FROM changes WHERE seen_changed_at > (datetime('now', '-1 day'))", ["seen_changed_at"]],
  ["SELECT o.order_date AS order_date FROM orders o WHERE order_date > datetime('now')", ["order_date"]],
  ["SELECT 1 FROM roster WHERE synced_at < datetime('now')", ["synced_at"]],
])("a comparison of a timestamp with datetime() causes a warning: %s", (sql, columns) => {
  expect(findWrongComparisons(sql)).toEqual(
    columns.map((column) => expect.stringContaining(`compare \`datetime(${column})\``)),
  );
});

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
    "a converted timestamp",
    "SELECT 1 FROM (SELECT datetime(day) AS order_date FROM orders) WHERE order_date > datetime('now')",
  ],
  [
    "datetime() in a string",
    "SELECT 1 FROM orders WHERE order_date > 'datetime(' OR id = 'order_date > datetime()'",
  ],
  ["a day compared with date()", "SELECT 1 FROM orders WHERE day >= date('now', '-7 days')"],
])("%s causes no warning: %s", (_, sql) => {
  expect(findWrongComparisons(sql)).toEqual([]);
});

test.each(["day >= '31.10.2026'", "day BETWEEN '2026-10-01' AND '31.10.2026'"])(
  "a date that starts with the day causes a warning: %s",
  (condition) => {
    expect(findWrongComparisons(condition)).toEqual([
      expect.stringContaining("`day` is compared with `'31.10.2026'`"),
    ]);
  },
);

test.each([
  [
    "is_cancelled = 'false'",
    "`is_cancelled` is 1 or 0, which never equals `'false'`; compare the column with `0`",
  ],
  ["o.IS_REFUNDED IN ('TRUE')", "compare the column with `1`"],
  ["'true' <> on_roster", "compare the column with `1`"],
])("a comparison of a boolean with a string causes a warning: %s", (condition, text) => {
  expect(findWrongComparisons(condition)).toEqual([expect.stringContaining(text)]);
});

test.each(["is_cancelled = false", "status = 'true'", "iif(is_cancelled, 'true', 'false') = 'true'"])(
  "a correct comparison of a boolean or a string causes no warning: %s",
  (condition) => {
    expect(findWrongComparisons(condition)).toEqual([]);
  },
);

test.each([
  "<",
  "<=",
  ">",
  ">=",
  "=",
  "==",
  "!=",
  "<>",
  "IS",
  "IS NOT",
  "BETWEEN",
  "NOT BETWEEN",
  "IN",
  "NOT IN",
  "IN (",
  "LIKE",
  "GLOB",
])("an unquoted date after a column and the operator `%s` causes a warning", (operator) => {
  expect(findWrongComparisons(`day ${operator} 2026-10-01`)).toEqual([
    expect.stringContaining("so `day` is compared with 2015; write `'2026-10-01'`"),
  ]);
});

test.each(["+", "OR", "||"])(
  "an unquoted date after a column and the operator `%s` causes no warning",
  (operator) => {
    expect(findWrongComparisons(`day ${operator} 2026-10-01`)).toEqual([]);
  },
);

test.each([
  ["ORDER_DATE < 2026-10", "`ORDER_DATE` is compared with 2016"],
  ["o.order_date < 2026-10", "`o.order_date` is compared with 2016; write `'2026-10'`"],
  ["month = 2026-1-05", "`month` is compared with 2020; write `'2026-01-05'`"],
  ["seen_changed_at > 1999-12-31", "`seen_changed_at` is compared with 1956"],
  ["order_date_utc > 2100-01-01", "`order_date_utc` is compared with 2098"],
  ["day > 2026/10/1", "is a division, so `day` is compared with 202; write `'2026-10-01'`"],
  ["day > 2026-10/01", "`2026-10` without quotes"],
  ["day /* UTC */ > 2026-10-01", "`day` is compared with 2015"],
  ["day > 2026/0", "is compared with null"],
  ["2026-10-01 <= datetime(day)", "`day` is compared with 2015"],
  ["day BETWEEN '2026-01-01' AND 2026-10-01", "`day` is compared with 2015"],
  ["day BETWEEN date('now') AND 2026-10-01", "`day` is compared with 2015"],
  ["id = 'x' AND 2026-10-01 < day", "`day` is compared with 2015"],
  ["date(2026-10-01)", "so `date()` receives 2015"],
  ["datetime ( 2026-10-01 )", "so `datetime()` receives 2015"],
  ["julianday(2026-10-01)", "so `julianday()` receives 2015"],
  ["unixepoch(2026-10-01)", "so `unixepoch()` receives 2015"],
  ["total > 2026-10-01 OR day > 2026-11-01", "`2026-11-01` without quotes"],
])("the warning about the unquoted date in `%s` contains: %s", (sql, text) => {
  expect(findWrongComparisons(sql)).toEqual([expect.stringContaining(text)]);
});

test.each([
  "total_amount = 2026-10-01",
  "day = '2026-10-01' AND 2026-10-01",
  "max(2026-10-01)",
  "date + 2026-10-01",
  "date(day) > '2026' AND round(total) = 2026-10-01",
  "day > 2026-101",
  "day > 2026-10.5",
  "candidate > 2026-10-01",
  "day > 3026-10-01",
  "day > 2026",
  "total_amount > '2026-10' AND total_amount > 2026-10-01",
  "[day > 2026-10-01]",
  "`day > 2026-10-01`",
  "/* day > 2026-10-01",
  "'it''s -- ' /* day > */ > 2026-10-01",
])("no warning about an unquoted date is printed for: %s", (sql) => {
  expect(findWrongComparisons(sql)).toEqual([]);
});

test.each([
  ["'2026-10-01'", "day = '1/10/2026'"],
  ["'2026-10-01'", "day = '01-10-26'"],
  ["'2026-10-01'", "day = '01.10.2026 12:00'"],
  ["'2026-10-01'", "day = '1/10/2026T12:00'"],
  ["'2026-01-05'", "day = '2026-1-5'"],
  ["'2026-01-05'", "day = '2026.01.05'"],
  ["'2026-01-05'", "day = '2026-1-5 12:00'"],
  ["'2026-01-05'", "day = '20260105T12:00'"],
  ["'2026-09'", "month = '2026/9'"],
  ["'2026-09'", "[day] IN ('2026-9')"],
  ["'2026-09-05'", "`day` = '2026/09/05'"],
  ["'2026-09-05'", "'2026/09/05' < day"],
  ["'2026-11-02'", "day = '2026-10-01' OR day = '2026/11/02'"],
  ["'2026-11-02'", "id = '2026/10/01' OR day = '2026/11/02'"],
])("a warning about the date format suggests %s for: %s", (iso, sql) => {
  expect(findWrongComparisons(sql)).toEqual([expect.stringContaining(`write dates as \`${iso}\``)]);
});

test.each([
  "day = '2026-10-01'",
  "month = '2026-10'",
  "order_date = '2026-10-01 12:00'",
  "order_date = '2026-10-01T12:00:00Z'",
  "day > '202610'",
  "day > '2026'",
  "day = '2026-10-011'",
  "day = '2026.10-01'",
  "day = '1/10/026'",
  "day = '100/10/2026'",
  "day = '1,10,2026'",
  "id = '2026/10/01'",
  "day > date('now') AND id = '2026/10/01'",
  ...["format", "printf", "replace", "strftime", "substr", "substring"].map(
    (name) => `${name.toUpperCase()}(day) = '2026/10/01'`,
  ),
])("no warning about a date format is printed for: %s", (sql) => {
  expect(findWrongComparisons(sql)).toEqual([]);
});

test("a statement with many wrong comparisons causes one warning per kind of mistake, or one per column for comparisons with datetime()", () => {
  const sql = `SELECT 1 FROM orders WHERE order_date > datetime('now') AND synced_at > datetime('now') AND order_date < datetime('now')
    AND day > 2026-10-01 AND day < 2026-10-02 AND day > '1/1/2026' AND day < '2/1/2026' AND is_cancelled = 'true' AND is_refunded = 'true'`;
  expect(findWrongComparisons(sql)).toEqual([
    expect.stringContaining("compare `datetime(order_date)`"),
    expect.stringContaining("compare `datetime(synced_at)`"),
    expect.stringContaining("`2026-10-01` without quotes"),
    expect.stringContaining("compared with `'1/1/2026'`"),
    expect.stringContaining("`is_cancelled` is 1 or 0"),
  ]);
});

test.each([
  "datetime > order_date",
  "order_date > max(datetime('now'))",
  "order_date || 'x' > datetime('now')",
  "order_date + datetime('now')",
  "datetime(day) > order_date_utc",
  "day > datetime('now')",
  "order_date LIKE '--' > datetime('now')",
  "date(order_date) > datetime('now')",
  "'TRUE' = o.status",
  "is_cancelled = 'truely'",
  "coalesce(is_cancelled, 0) = 'true'",
])("no warning about a wrong comparison is printed for: %s", (sql) => {
  expect(findWrongComparisons(sql)).toEqual([]);
});

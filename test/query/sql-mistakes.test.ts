import { expect, test } from "vitest";
import type { UsageError } from "../../src/errors.js";
import { compileQuery } from "../../src/query/user-sql.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

const mirror = await makeMirror();
writeRead(mirror, "orders", [anOrder(1)]);
mirror.db.close();
const open = await makeMirror();
open.db.exec("CREATE VIEW my_own_view AS SELECT 1");

async function errorOf(...words: string[]): Promise<string> {
  const { code, err, out } = await brandapi([...words, "--db", mirror.path]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  return err;
}

test.each([
  ["SELECT net_amount FROM orders", "no such column: net_amount"],
  ["SELECT net_amount FROM orders", "`net_amount` is a column of `orders_net`"],
  ["SELECT o.net_amount FROM orders AS o", "`net_amount` is a column of `orders_net`"],
  ["SELECT clicks FROM orders", "`clicks` is a column of `analytics_hosts`"],
  ["SELECT sku FROM orders", "`sku` is a column of `order_line_items`\n"],
  ["SELECT id FROM orders WHERE removed_at IS NULL", "removed ones are in `orders_removed`\n"],
  ["SELECT id FROM orders_remove", "did you mean `orders_removed`?"],
  ["SELECT status FROM orders", "did you mean `financial_status` or `fulfillment_status`?"],
  ["PRAGMA table_info(orders)", "use `brandapi tables orders --db"],
  ["PRAGMA table_list", "use `brandapi tables --db"],
  [".schema orders", "`brandapi tables NAME --db"],
  ["SELECT host_id FROM orders WHERE sum(total_amount) > 5 GROUP BY host_id", "use HAVING after GROUP BY"],
  ["SELECT * FROM host", "did you mean `hosts`, `host_names` or `hosts_by_month`?"],
  ["SELECT curency FROM orders", "did you mean `currency`?"],
  ["SELECT order_currency FROM orders", "did you mean `currency`?"],
  ["SELECT host_name FROM hosts", "`host_name` is now `host_label`\n"],
  ["SELECT h.host_name FROM hosts_by_month AS h", "`host_name` is now `host_label`\n"],
  ["SELECT host_name FROM orders", "`host_name` is a column of `content`"],
  ["SELECT o.curency FROM orders o JOIN roster r ON r.host_id = o.host_id", "did you mean `currency`?"],
  [
    "SELECT id FROM orders WHERE 1 IN (SELECT joined FROM roster)",
    "did you mean `joined_at` or `joined_at_utc`?",
  ],
  ["WITH x AS (SELECT id FROM orders) SELECT curency FROM x", "did you mean `currency`?"],
  ["SELECT _amount FROM orders", "did you mean `total_amount`, `refund_amount` or"],
  [
    "SELECT campaigns FROM roster",
    "did you mean `campaigns_status`, `campaigns_active` or `campaigns_invited`?",
  ],
  ['SELECT "curency" FROM orders', "did you mean `currency`?"],
  ["SELECT * FROM oders", "did you mean `orders`?"],
  ["SELECT * FROM main.oders", "did you mean `orders`?"],
  ["SELECT * FROM line_items", "did you mean `order_line_items`?"],
  ["SELECT * FROM order_lines", "did you mean `order_line_items`?"],
  ["SELECT total_amt FROM orders", "did you mean `total_amount`?"],
  ["orders", "write a statement, such as `SELECT * FROM orders LIMIT 10`"],
  ["SELECT order_id FROM orders", "did you mean `id`?"],
  ["SELECT date FROM orders", "did you mean `order_date`?"],
  ["SELECT order_nr FROM orders", "did you mean `order_number`?"],
  ["SELECT * FROM sales-by-month", "write `sales_by_month` instead of `sales-by-month`"],
  ["reports/q.sql", "use `brandapi query -f reports/q.sql"],
  ["SELECT date(now) FROM orders", "write the current time in single quotes: `'now'`"],
  ["SELECT id FROM orders WHERE currency = ‘EUR’", "replace the curly quotes"],
  ["SELECT id FROM orders WHERE month = :month", "add `-p month=VALUE`"],
  ["SELECT load_extension('x')", "omit `load_extension`"],
  ["SELECT * FROM order", "`order` is a keyword of SQL; the table is `orders`"],
  ["SELECT id FROM orders WHERE currency = EUR", "write text in single quotes: `'EUR'`"],
  ['SELECT id FROM orders WHERE currency = "EUR"', "write text in single quotes: `'EUR'`"],
  ["SELECT id FROM orders WHERE currency = 'EUR", "A quote is not closed: 'EUR."],
  ["SELECT id FROM orders WHERE order_number = #1001", "write text and dates in single quotes"],
  ["SELECT id FROM orders WHERE order_date > 2026-10-01T00:00", "write text and dates in single quotes"],
  ["SELECT count(* FROM orders", "syntax error"],
  ["SELECT (1", "The SQL is incomplete."],
  ["SELECT x.id FROM orders AS o", "check `x`"],
  ["SELECT host_id FROM orders, roster", "write the table's name or alias before it"],
  ["SELECT now()", "for the current time, use `datetime('now')`"],
  ["SELECT wow()", "use SQLite's own functions, such as `date('now', '-7 days')`"],
  [
    "SELECT id FROM orders WHERE order_number = 'O'Brien'",
    "double each apostrophe inside text: `'O''Brien'`",
  ],
  ["SELECT id FROM orders WHERE id = 'O'Brien' AND currency = 'EUR'", "`'O''Brien'`"],
  [
    "SELECT id FROM orders WHERE id IN ('a b ' , 'c') AND AND currency = 'EUR'",
    "check the SQL just before `AND`",
  ],
  ["SELECT id::text FROM orders", "SQLite has no `::`; use `CAST(id AS text)`"],
  ["SELECT TOP 10 * FROM orders", "end the statement with `LIMIT 10`"],
  ["SELECT id FROM orders WHERE currency ILIKE 'eur'", "use LIKE, which is case-insensitive"],
  [
    "SELECT id FROM orders WHERE order_date > CURRENT_DATE - INTERVAL '7 days'",
    "use `date('now', '-7 days')`",
  ],
  ["SELECT date_trunc('month', order_date) FROM orders", "use `strftime('%Y-%m', order_date)`"],
  ["SELECT extract(year FROM order_date) FROM orders", "use `strftime('%Y-%m', order_date)`"],
  ["SELECT id FROM orders WHERE order_date > date '2026-10-01'", "write a date as plain text"],
  ["SELECT isnull(currency, 'x') FROM orders", "use `coalesce(a, b)`"],
  ["SHOW TABLES", "lists the tables, and `brandapi tables NAME --db"],
  ["UPDATE orders SET curency = 'EUR'", "`query` runs only read-only statements."],
  ["WITH x AS (SELECT 1) INSERT INTO orders SELECT * FROM y", "`query` runs only read-only statements."],
  ["SELECT 1; SELECT 2", "The SQL contains several statements.\n  hint: run one statement at a time"],
  ["-- nothing", "The SQL contains no statements."],
])("the error for `%s` contains %j", async (sql, text) => {
  expect(await errorOf("query", sql)).toContain(text);
});

/** Compiles a query and returns the error's hint. */
function hintFor(sql: string): string {
  try {
    compileQuery(open, sql);
  } catch (error) {
    return String((error as UsageError).hint);
  }
  return "no error";
}

test.each([
  ["`CAST(id AS text)`", "SELECT id :: text FROM orders"],
  ["`LIMIT 10`", "SELECT DISTINCT TOP 5 id FROM orders", "SELECT id FROM orders FETCH FIRST 5 ROWS ONLY"],
  ["`LIMIT 10`", "SELECT id FROM orders FETCH NEXT 5 ROWS ONLY"],
  ["use LIKE with `%`", "SELECT 1 WHERE 'a' REGEXP 'b'", "SELECT 1 WHERE 'a' SIMILAR TO 'b'"],
  ["SQLite has no INTERVAL", "SELECT date_add(day, 1) FROM orders", "SELECT dateadd(day, 1) FROM orders"],
  ["SQLite has no INTERVAL", "SELECT date_sub(day, 1) FROM orders", "SELECT now() - INTERVAL '7 days'"],
  ["`julianday(a) - julianday(b)`", "SELECT datediff(day, joined_at, synced_at) FROM roster"],
  ["for the current time, use", "SELECT getdate()", "SELECT curdate()", "SELECT today()", "SELECT sysdate"],
  ["`strftime('%Y-%m', order_date)`", "SELECT date_part(year, order_date) FROM orders"],
  [
    "`strftime('%Y-%m', order_date)`",
    "SELECT date_trunc(month, joined_at) FROM roster",
    "SELECT year(day) FROM orders",
  ],
  ["`strftime('%Y-%m', order_date)`", "SELECT month(day) FROM orders", "SELECT day(day) FROM orders"],
  [
    "`strftime('%Y-%m', order_date)`",
    "SELECT to_char(day, 'YYYY') FROM orders",
    "SELECT to_date('2026', 'YYYY')",
  ],
  ["`strftime('%Y-%m', order_date)`", "SELECT date_format(day, '%Y') FROM orders"],
  [
    "write a date as plain text",
    "SELECT timestamp '2026-10-01'",
    "SELECT 1 WHERE '2026' < timestamp '2026-10-01'",
  ],
  ["use `GROUP BY`", "SELECT DISTINCT ON (currency) id FROM orders"],
  ["`coalesce(a, b)`", "SELECT nvl(currency, 'x') FROM orders"],
  ["`substr(text, 1, 3)`", "SELECT left(currency, 1) FROM orders"],
  ["`instr(text, 'part')`", "SELECT charindex('a', id) FROM orders", "SELECT strpos(id, 'a') FROM orders"],
  ["`length(text)`", "SELECT len(currency) FROM orders"],
  ["`max(a, b)` or `min(a, b)`", "SELECT greatest(1, 2)", "SELECT least(1, 2)"],
  ["`brandapi tables` lists", "DESC orders", "describe orders", ".tables", "\\d orders", " .schema"],
] as const)("the hint contains %j for the query: %s", (hint, ...statements) => {
  const upperCase = statements.map((sql) => sql.toUpperCase().replace("\\D", "\\d"));
  for (const sql of [...statements, ...upperCase])
    expect([sql, hintFor(sql)]).toEqual([sql, expect.stringContaining(hint)]);
});

test.each([
  ["a string", "SELECT 'ILIKE ‘x’' WHERE AND"],
  ["a string with a line break", "SELECT 'a\nilike b' WHERE AND"],
  ["a comment", "SELECT 1 -- ::text ’\n/* interval “ */ WHERE AND"],
  ["a quoted name", 'SELECT 1 AS "ilike ”" WHERE AND'],
])("the hint for a syntax error ignores syntax from other SQL dialects in %s", (_, sql) => {
  expect(hintFor(sql)).toContain("check the SQL just before `AND`");
});

test("the hint for an unknown column does not mention functions from other SQL dialects, even if the statement contains one", () => {
  expect(hintFor("SELECT left(curency, 1), curency FROM orders")).toBe("did you mean `currency`?");
});

test.each(["‘", "’", "“", "”"])(
  "the hint for a query that contains %s suggests replacing the curly quotes",
  (quote) => {
    expect(hintFor(`SELECT ${quote}EUR`)).toContain("replace the curly quotes");
  },
);

test.each(["'EUR", '"EUR', "`EUR", "[EUR"])(
  "the error for a query that contains %s states that the quote is not closed",
  (text) => {
    expect(() => compileQuery(open, `SELECT ${text}\nFROM orders`)).toThrow(
      `A quote is not closed: ${text}.`,
    );
  },
);

test("the error for an unclosed quote contains only the first 40 characters of the unclosed text", () => {
  expect(() => compileQuery(open, `SELECT '${"x".repeat(99)}`)).toThrow(`: '${"x".repeat(39)}.`);
});

test.each([
  ["SELECT 'O'Brien'", "'O''Brien'"],
  ["SELECT 'it''s 5 o'clock'", "'it''s 5 o''clock'"],
  ["SELECT 'x' AS a, 'O'Brien'", "'O''Brien'"],
])("the hint for the query `%s` is to write the apostrophe twice: %s", (sql, fixed) => {
  expect(hintFor(sql)).toBe(`double each apostrophe inside text: \`${fixed}\``);
});

test.each([
  "and",
  "as",
  "asc",
  "between",
  "collate",
  "desc",
  "else",
  "end",
  "from",
  "in",
  "is",
  "like",
  "or",
  "order",
  "then",
  "union",
  "when",
])(
  "the hint for a syntax error after a string and the keyword `%s` does not mention an apostrophe",
  (keyword) => {
    for (const word of [keyword, keyword.toUpperCase()])
      expect(hintFor(`SELECT 'a'${word} 'b') 'c'`)).not.toContain("apostrophe");
  },
);

test.each([
  ["SELECT * FROM order-line-items", "write `order_line_items` instead of `order-line-items`"],
  ["SELECT * FROM Sales-by-month", "write `Sales_by_month` instead of `Sales-by-month`"],
  ["SELECT * FROM refunds", "did you mean `refunds_by_month` or `late_refunds`"],
  ["SELECT * FROM my_own_vew", "did you mean `my_own_view`?"],
  ["SELECT REMOVED_AT FROM orders", "removed ones are in `orders_removed`"],
  ["SELECT HOST_NAME FROM hosts", "`HOST_NAME` is now `host_label`"],
  ["SELECT order_id FROM orders, roster", "`order_id` is a column of"],
  ["SELECT nowhere FROM orders", "`brandapi tables orders` lists the columns"],
  ["SELECT fin FROM orders", "did you mean `financial_status`?"],
  ["SELECT id FROM orders GROUP BY 5", "`brandapi tables` lists the tables and views"],
  ["SELECT SKU FROM orders", "`SKU` is a column of `order_line_items`"],
  ["SELECT * FROM HOST", "did you mean `hosts`, `host_names` or `hosts_by_month`?"],
  ["SELECT customer_currency FROM orders", "did you mean `currency`?"],
  ["SELECT host_name", "`host_name` is a column of"],
  ["SELECT da FROM orders", "`brandapi tables orders` lists the columns"],
  ["SELECT foo_id FROM orders", "`brandapi tables orders` lists the columns"],
  [
    "SELECT xyz FROM orders",
    "`brandapi tables orders` lists the columns; write text in single quotes: `'xyz'`",
  ],
  ["SELECT xyz", "`brandapi tables NAME` lists the columns; write text"],
  ["SELECT 5 - - FROM orders", "check the SQL just before `FROM`"],
  ["SELECT 5 - * 3 AS a-b", "check the SQL just before `*`"],
  ["./my/q-1.SQL ", "use `brandapi query -f ./my/q-1.SQL`"],
  ["~/q.sql", "use `brandapi query -f"],
  ["SELECT q.sql FROM", "finish the last clause"],
  [" sales_by_month ", "`SELECT * FROM sales_by_month LIMIT 10`"],
  ["SELECT id FROM orders WHERE id = 10th", "write text and dates in single quotes"],
  ["SELECT id FROM orders WHERE id = 10 20", "check the SQL just before `20`"],
])("the hint for the query `%s` contains: %s", (sql, hint) => {
  expect(hintFor(sql)).toContain(hint);
});

test("a hint names at most three tables that contain a column", () => {
  expect(hintFor("SELECT host_id FROM changes")).toMatch(/^`host_id` is a column of `\w+`, `\w+`, `\w+`$/);
});

test("if the unknown column follows a table alias, the hint only suggests listing the columns", () => {
  expect(hintFor("SELECT o.xyz FROM orders AS o")).toBe("`brandapi tables orders` lists the columns");
});

test("the error for a parameter without a value names that parameter, even if a different parameter has a value", async () => {
  const err = await errorOf("query", "SELECT id FROM orders WHERE month = :month", "-p", "mnth=2026-10");
  expect(err).toContain("no parameter `:mnth`");
  expect(err).toContain("use `-p month=VALUE`");
});

test.each([
  ["net_amount > 3", "`net_amount` is a column of `orders_net`"],
  ["curency = 'EUR'", "did you mean `currency`?"],
  ["currency = 'EUR", "A quote is not closed: 'EUR."],
  ["currency = EUR", "write text in single quotes: `'EUR'`"],
  ["WHERE currency = 'EUR'", "omit WHERE"],
  ["id IN (SELECT order_id FROM line_items)", "did you mean `order_line_items`?"],
])("the error for --where %j contains %j", async (where, text) => {
  expect(await errorOf("export", "orders", "--csv", "--where", where)).toContain(text);
});

test.each([
  [
    "SELECT id FROM orders WHERE order_date > 2026-10-01",
    "`2026-10-01` without quotes",
    "`order_date`",
    "2015",
  ],
  ["SELECT * FROM sales_by_day WHERE day = 2026-10-01", "`2026-10-01` without quotes", "`day`", "2015"],
  ["SELECT * FROM sales_by_month WHERE month IN (2026-10)", "`2026-10` without quotes", "`month`", "2016"],
  [
    "SELECT id FROM orders WHERE date(order_date) BETWEEN 2026-10-01 AND 2026-10-31",
    "'2026-10-01'",
    "`order_date`",
  ],
  ["SELECT id FROM orders WHERE 2026-10-01 <= date(order_date)", "'2026-10-01'", "`order_date`"],
  ['SELECT id FROM orders o WHERE o."order_date" > 2026-10-01 -- since', "'2026-10-01'", "`order_date`"],
  ["SELECT * FROM sales_by_day WHERE day >= date(2026-10-01)", "so `date()` receives 2015", "'2026-10-01'"],
  [
    "SELECT id FROM orders WHERE order_date > 2026/1/5",
    "is a division",
    "compared with 405;",
    "'2026-01-05'",
  ],
  ["SELECT * FROM sales_by_month WHERE month LIKE 2026-9", "`month` is compared with 2017", "'2026-09'"],
])("query warns about a date without quotes: %s", async (sql, ...texts) => {
  const { code, err } = await brandapi(["query", sql, "--db", mirror.path]);
  expect(code).toBe(0);
  for (const text of texts) expect(err).toContain(text);
  expect(err.match(/without quotes/g)).toHaveLength(1);
});

test.each([
  "SELECT id FROM orders WHERE order_date > '2026-10-01'",
  "SELECT id FROM orders WHERE order_number = '> 2026-10-01' -- order_date > 2026-10-01",
  "SELECT id FROM orders /* day = 2026-10-01 */",
  "SELECT id FROM orders WHERE total_amount > 2026-10",
  "SELECT 2026-10-01 AS day FROM orders",
  "SELECT id FROM orders WHERE order_date > '2026-10-01' AND total_amount = 2026-10-01",
])("query prints no warning about an unquoted date for: %s", async (sql) => {
  const { code, err } = await brandapi(["query", sql, "--db", mirror.path]);
  expect(code).toBe(0);
  expect(err).not.toContain("without quotes");
});

test.each([
  ["order_date >= '01/10/2026'", "'2026-10-01'"],
  ["order_date >= '1.10.26'", "'2026-10-01'"],
  ["order_date BETWEEN '2026-9-1' AND '2026-9-30'", "'2026-09-01'"],
  ["'2026/09/05' < date(order_date)", "'2026-09-05'"],
  ["order_date > '20260905'", "'2026-09-05'"],
])("query warns about a date that is not in ISO format: %s", async (condition, iso) => {
  const sql = `SELECT id FROM orders WHERE ${condition}`;
  const { code, err } = await brandapi(["query", sql, "--db", mirror.path]);
  expect([code, err]).toEqual([0, expect.stringContaining(`write dates as \`${iso}\``)]);
});

test.each([
  "order_date >= '2026-10-01T00:00:00Z'",
  "order_date LIKE '2026-10%'",
  "strftime('%d/%m/%Y', order_date) = '01/10/2026'",
  "order_number = '01/10/2026'",
  "order_date > '2026'",
])("query prints no warning about a date format for the condition: %s", async (condition) => {
  const sql = `SELECT id FROM orders WHERE ${condition}`;
  const { code, err } = await brandapi(["query", sql, "--db", mirror.path]);
  expect(code).toBe(0);
  expect(err).not.toContain("write dates as");
});

test.each([
  ["order_date > 2026-10-01", "write `'2026-10-01'`"],
  ["order_date > datetime('now', '-3 days')", "compare `datetime(order_date)`"],
])("export warns about the wrong date comparison in --where: %s", async (where, text) => {
  const { code, err } = await brandapi(["export", "orders", "--csv", "--where", where, "--db", mirror.path]);
  expect(code).toBe(0);
  expect(err).toContain(text);
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../src/errors.js";
import { resolveTable } from "../../src/query/readable-tables.js";
import type { SqlParameters } from "../../src/query/statement-reads.js";
import {
  checkCondition,
  compileQuery,
  explainRuntimeError,
  openQueryResult,
} from "../../src/query/user-sql.js";
import type { Mirror } from "../../src/store/database.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { Sqlite } from "../support/sqlite.js";

const mirror = await makeMirror();
writeRead(mirror, "orders", [anOrder(1), anOrder(2)]);

/** Compiles a query and returns the error message with the hint. */
function errorOf(sql: string, values?: SqlParameters): string {
  try {
    compileQuery(mirror, sql, values);
  } catch (error) {
    if (error instanceof UsageError) return `${error.message} ${error.hint}`;
    throw error;
  }
  return "no error";
}

function resultOf(sql: string, values?: SqlParameters, limit?: number) {
  const { columns, batches } = openQueryResult(compileQuery(mirror, sql, values), limit);
  return { columns, rows: [...batches()].flat() };
}

test.each([
  "SELECT 1",
  "select 1",
  "WITH a AS (SELECT 1) SELECT * FROM a",
  "VALUES (1)",
  "EXPLAIN SELECT 1",
  "-- a comment\n/* another\ncomment */ SELECT 1",
  "WITH a AS (SELECT ') update' AS x) SELECT * FROM a",
])("query accepts the read-only statement %j", (sql) => {
  expect(errorOf(sql)).toBe("no error");
});

test.each([
  "INSERT INTO nowhere VALUES (1)",
  "UPDATE nowhere SET a = 1",
  "DELETE FROM nowhere",
  "REPLACE INTO nowhere VALUES (1)",
  "MERGE INTO nowhere USING orders",
  "DROP TABLE nowhere",
  "CREATE TABLE",
  "ALTER TABLE nowhere ADD a",
  "TRUNCATE TABLE orders",
  "WITH a AS (SELECT 1) INSERT INTO nowhere SELECT 1",
  "WITH a AS (SELECT 1) REPLACE INTO nowhere SELECT 1",
  "WITH a AS (SELECT 1) UPDATE nowhere SET a = 1",
  "WITH a AS (SELECT 1) DELETE FROM nowhere",
  "WITH a AS (SELECT 1) INSERT OR IGNORE INTO changes (key) SELECT 1",
  "/* a comment */ delete from nowhere",
  "-- a comment\nDELETE FROM nowhere",
  "ATTACH 'x.sqlite' AS x",
  "ATTACH (SELECT 'x.sqlite') AS x",
  "VACUUM",
])("query rejects %j because the statement is not read-only", (sql) => {
  expect(errorOf(sql)).toMatch(/^`query` runs only read-only statements\. begin with SELECT or WITH/);
});

test.each([
  ["PRAGMA table_info(orders)", "use `brandapi tables orders` instead"],
  ["pragma table_xinfo ( 'orders' )", "use `brandapi tables orders` instead"],
  ["PRAGMA table_list", "use `brandapi tables` instead"],
])("the hint for the statement `%s` contains: %s", (sql, hint) => {
  expect(errorOf(sql)).toContain(hint);
});

test.each([
  [":id", "id"],
  ["@id", "id"],
  ["$id", "id"],
])("a query uses the value of a parameter that is written as %s", (written, name) => {
  const values = new Map([[name, "order-2"]]);
  expect(resultOf(`SELECT order_number FROM orders WHERE id = ${written}`, values).rows).toEqual([["#2"]]);
});

test.each([
  [
    "SELECT 1",
    { id: "x" },
    "states that the statement has no parameter `:id`",
    "The statement has no parameter `:id`. write `:id` where",
  ],
  [
    "SELECT :ident",
    { id: "x" },
    "suggests setting `:ident` instead of `:id`",
    "The statement has no parameter `:id`. to set `:ident`, use `-p ident=VALUE`",
  ],
  [
    "SELECT :id, :other",
    { id: "x" },
    "states that `:other` has no value",
    "The parameter `:other` has no value. add `-p other=VALUE`",
  ],
  ['SELECT "EUR"', {}, "suggests single quotes", "should this be a string literal in single-quotes. "],
  ["SELECT :id", {}, "states that `:id` has no value", "The parameter `:id` has no value."],
  ["SELECT ?", {}, "suggests named parameters", "use named parameters such as `:month`"],
])("the error for `%s` with the parameter values %j %s", (sql, values, _, message) => {
  expect(errorOf(sql, new Map(Object.entries(values)))).toContain(message);
});

test("if the file is not a database, query throws SQLite's error instead of reporting a mistake in the statement", async () => {
  const path = join(makeHome(), "damaged.sqlite");
  writeFileSync(path, "not a database".repeat(100));
  const damaged = { db: new Sqlite(path) } as unknown as Mirror;
  expect(() => compileQuery(damaged, "SELECT 1 FROM orders")).toThrow(
    expect.objectContaining({ code: "SQLITE_NOTADB" }),
  );
});

const sqliteError = (code: string) => Object.assign(new Error("SQLite failed"), { code: `SQLITE_${code}` });

test.each(["ERROR", "TOOBIG", "NOMEM", "MISMATCH", "RANGE", "AUTH"])(
  "SQLITE_%s during a query is reported as a mistake in the statement",
  (code) => {
    expect(explainRuntimeError(sqliteError(code), "query")).toBeInstanceOf(UsageError);
  },
);

test.each(["CORRUPT", "BUSY", "IOERR_READ", "FULL"])(
  "SQLITE_%s during a query is not reported as a mistake in the statement",
  (code) => {
    expect(explainRuntimeError(sqliteError(code), "query")).not.toBeInstanceOf(UsageError);
  },
);

test.each([
  ["query", "integer overflow", "check the query"],
  ["--where", "integer overflow", "check the condition"],
  ["query", "not authorized", "omit `load_extension`"],
] as const)("if `%s` fails with %j while rows are read, the hint contains: %s", (culprit, message, hint) => {
  const error = Object.assign(new Error(message), { code: "SQLITE_ERROR" });
  expect(explainRuntimeError(error, culprit)).toMatchObject({
    message: `SQLite stopped at \`${culprit}\`: ${message}.`,
    hint: expect.stringContaining(hint),
  });
});

test("if a query fails while rows are being read, the error contains SQLite's message", () => {
  expect(() => resultOf("SELECT json(id) FROM orders")).toThrow("SQLite stopped at `query`: malformed JSON");
});

test.each(["id = 'order-1'", "1 -- a comment", "id IN (SELECT host_id FROM roster)", "1 OR 1"])(
  "--where accepts the condition %j",
  (condition) => {
    expect(() => checkCondition(mirror, resolveTable(mirror, "orders"), condition)).not.toThrow();
  },
);

test.each([
  ["1) OR (1", "syntax error"],
  ["1 THEN 2 WHEN 1", "syntax error"],
  ["1 ORDER BY id", "syntax error"],
  ["color = 1", "`--where` is not a valid SQL condition: no such column: color."],
  ["id = :id", "`--where` is not a valid SQL condition: "],
])("--where rejects the condition %j", (condition, message) => {
  expect(() => checkCondition(mirror, resolveTable(mirror, "orders"), condition)).toThrow(message);
});

test("columns of a query result have unique names, and columns with amounts are marked as amounts", () => {
  const { columns } = resultOf(
    "SELECT id, 1 AS ID, total_amount AS x, commission_rate, sum(1) AS net_amount, 2 AS id FROM orders",
  );
  expect(columns.map(({ name, isAmount }) => (isAmount ? `${name} amount` : name))).toEqual([
    "id",
    "ID_2",
    "x amount",
    "commission_rate",
    "net_amount amount",
    "id_3",
  ]);
});

test("query results contain exact integers, and blobs as hexadecimal strings", () => {
  const { rows } = resultOf("SELECT 9007199254740993, x'00ff', 1.5, NULL");
  expect(rows).toEqual([[9_007_199_254_740_993n, "00ff", 1.5, null]]);
});

test.each([
  ["0 rows", "none", 0, 0],
  ["1 row", "the first", 1, 1],
  ["2 rows", "both", 2, 2],
  ["3 rows", "both", 3, 2],
])("with a limit of %s, a query that finds two rows returns %s", (_, _returned, limit, count) => {
  expect(resultOf("SELECT id FROM orders", new Map(), limit).rows).toHaveLength(count);
});

test("without a row limit, a query returns all rows", () => {
  expect(resultOf("SELECT id FROM orders").rows).toHaveLength(2);
});

import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ColumnType, TypeFinder, typeOfDelta } from "../../src/export/parquet.js";
import type { RowValue } from "../../src/query/open-rows.js";
import type { Column } from "../../src/resources/table-shape.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { askDuckDb } from "../support/duckdb.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, mirrorOfOrders, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { visible } from "../support/visible.js";

async function parquet(db: string, table: string, ...flags: string[]): Promise<string> {
  const file = join(makeHome(), `${table}.parquet`);
  const run = await brandapi(["export", table, "-o", file, ...flags, "--db", db]);
  expect(run).toMatchObject({ code: 0, out: "" });
  return file;
}

async function typesOf(file: string): Promise<Record<string, unknown>> {
  const rows = await askDuckDb(`DESCRIBE FROM '${file}'`);
  return Object.fromEntries(rows.map((row) => [row.column_name, row.column_type]));
}

const hostile = ['a"b,\n;', "=1+1", "\u0000nul", "Zoë 北京 \u{1f600}", "", "'; DROP TABLE x; --", "\u202e"];

test("a Parquet file contains the mirror's values with suitable types, according to DuckDB", async () => {
  const orders = Array.from({ length: 300 }, (_, n) =>
    anOrder(n, {
      order_number: hostile[n % hostile.length] ?? "",
      external_order_id: `000${n}`,
      currency: n % 5 === 0 ? null : "EUR",
      total_amount: n % 7 === 0 ? null : n / 100,
      is_cancelled: n % 3 === 0,
      order_date:
        n % 2 === 0 ? `2026-10-01T01:02:03.${String(n).padStart(6, "0")}Z` : "2026-10-01T01:30:00+02:00",
      host: n % 4 === 0 ? null : { id: `h${n}`, username: hostile[n % hostile.length] ?? "" },
    }),
  );
  const file = await parquet(await mirrorOfOrders(orders), "orders");
  expect(await typesOf(file)).toMatchObject({
    order_number: "VARCHAR",
    external_order_id: "VARCHAR",
    order_date: "TIMESTAMP WITH TIME ZONE",
    total_amount: "DECIMAL(18,6)",
    is_cancelled: "BOOLEAN",
    synced_at: "TIMESTAMP WITH TIME ZONE",
  });
  const rows = await askDuckDb(
    `SELECT id, order_number, external_order_id, currency, total_amount::DOUBLE AS total, is_cancelled,
       epoch_us(order_date) AS at, host_id, host_username FROM '${file}'`,
  );
  const micro = (n: number) =>
    n % 2 === 0
      ? `${BigInt(Date.parse("2026-10-01T01:02:03Z")) * 1_000n + BigInt(n)}`
      : `${Date.parse("2026-10-01T01:30:00+02:00") * 1_000}`;
  expect(rows).toEqual(
    orders.map((order, n) => ({
      id: `order-${n}`,
      order_number: order.order_number,
      external_order_id: order.external_order_id,
      currency: order.currency,
      total: order.total_amount,
      is_cancelled: order.is_cancelled,
      at: micro(n),
      host_id: (order.host as JsonObject | null)?.id ?? null,
      host_username: (order.host as JsonObject | null)?.username ?? null,
    })),
  );
});

test("Parquet stores amounts as decimals if every value fits, and as doubles otherwise", async () => {
  const text = (n: number, total: string, refund: string) => {
    const json = JSON.stringify(anOrder(n, { total_amount: "T", refund_amount: "R" }));
    return { text: json.replace('"T"', total).replace('"R"', refund) };
  };
  const db = await mirrorOfOrders([
    text(1, "999999999999.125", "1e-7"),
    text(2, "12.50", "2.5"),
    text(3, "-0.10", "0.30000000000000004"),
    text(4, "9007199.254740", "12.50"),
  ]);
  const file = await parquet(db, "orders", "--columns", "total_amount,refund_amount");
  expect(await typesOf(file)).toEqual({ total_amount: "DECIMAL(18,6)", refund_amount: "DOUBLE" });
  expect(await askDuckDb(`SELECT total_amount AS total, refund_amount AS refund FROM '${file}'`)).toEqual([
    { total: "999999999999.125000", refund: 1e-7 },
    { total: "12.500000", refund: 2.5 },
    { total: "-0.100000", refund: 0.30000000000000004 },
    { total: "9007199.254740", refund: 12.5 },
  ]);
});

test("Parquet stores a timestamp column as text if any value is not a timestamp", async () => {
  const dates = ["2026-10-01T00:00:00Z", "soon", "2026-10-02"];
  const db = await mirrorOfOrders(dates.map((order_date, n) => anOrder(n, { order_date })));
  const file = await parquet(db, "orders", "--columns", "order_date");
  expect(await askDuckDb(`SELECT order_date FROM '${file}'`)).toEqual(
    dates.map((order_date) => ({ order_date })),
  );
});

test("a Parquet export chooses column types for undocumented fields, JSON and days", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "gifts", [
    { id: "a", size: 41, sent: true, note: "=x", when: "2026-10-01T00:00:00Z" },
    { id: "b", size: 41.5, sent: false, note: null },
  ]);
  writeRead(mirror, "opportunities", [
    { id: "o", title: "Spring", deadline: "2026-12-24", assignment_counts: { ACTIVE: 2 } },
  ]);
  mirror.db.close();
  const gifts = await parquet(mirror.path, "gifts", "--columns", "id,size,sent,note");
  expect(await typesOf(gifts)).toEqual({
    id: "VARCHAR",
    size: "DECIMAL(18,6)",
    sent: "BOOLEAN",
    note: "VARCHAR",
  });
  const [, second] = await askDuckDb(`SELECT size, sent, note FROM '${gifts}'`);
  expect(second).toMatchObject({ sent: false, note: null });
  const campaigns = await parquet(mirror.path, "opportunities", "--columns", "deadline,assignment_counts");
  expect(await typesOf(campaigns)).toEqual({ deadline: "DATE", assignment_counts: "VARCHAR" });
  expect(await askDuckDb(`SELECT deadline, assignment_counts ->> 'ACTIVE' AS n FROM '${campaigns}'`)).toEqual(
    [{ deadline: "2026-12-24", n: "2" }],
  );
});

test("a query result in Parquet preserves the types of table columns, and derives the types of computed columns from their values", async () => {
  const db = await mirrorOfOrders([anOrder(1), anOrder(2, { total_amount: null, currency: null })]);
  const file = join(makeHome(), "a.parquet");
  const sql = `SELECT order_date, total_amount, count(*) OVER () AS n, total_amount / 3 AS third, '007' AS number,
    is_cancelled, NULL AS blank FROM orders`;
  expect((await brandapi(["query", sql, "-o", file, "--db", db])).code).toBe(0);
  expect(await typesOf(file)).toEqual({
    order_date: "TIMESTAMP WITH TIME ZONE",
    total_amount: "DECIMAL(18,6)",
    n: "BIGINT",
    third: "DOUBLE",
    number: "VARCHAR",
    is_cancelled: "BIGINT",
    blank: "VARCHAR",
  });
  expect(await askDuckDb(`SELECT number, n, third, blank FROM '${file}' LIMIT 1`)).toEqual([
    { number: "007", n: "2", third: 101.5 / 3, blank: null },
  ]);
});

test("a Parquet export limits the number of rows and the amount of text in each row group", async () => {
  const db = await mirrorOfOrders([anOrder(1)]);
  /** Exports a query result with the given number of rows. Returns the number of rows in each row group. */
  const groupsOf = async (rows: number, column: string) => {
    const file = join(makeHome(), "a.parquet");
    const numbers = `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${rows})`;
    const sql = `${numbers} SELECT ${column} AS x FROM n`;
    const { code, err } = await brandapi(["query", sql, "-o", file, "--db", db]);
    expect([code, err]).toEqual([0, expect.stringContaining(`: ${rows.toLocaleString("en")} rows, `)]);
    const groups = await askDuckDb(
      `SELECT DISTINCT row_group_id AS id, row_group_num_rows AS rows FROM parquet_metadata('${file}') ORDER BY id`,
    );
    return groups.map((group) => Number(group.rows));
  };
  expect(await groupsOf(20_000, "n")).toEqual([20_000]);
  expect(await groupsOf(20_002, "n")).toEqual([20_000, 2]);
  expect(await groupsOf(45, "hex(zeroblob(200000))")).toEqual([40, 5]);
});

test("a Parquet export of an empty table contains the table's columns", async () => {
  const db = await mirrorOfOrders([anOrder(1)]);
  const empty = await parquet(db, "orders", "--where", "0");
  expect(await askDuckDb(`SELECT count(*) AS n FROM '${empty}'`)).toEqual([{ n: "0" }]);
  expect((await typesOf(empty)).total_amount).toBe("DECIMAL(18,6)");
});

test("Parquet exports of the same mirror have the same size", async () => {
  const db = await mirrorOfOrders([anOrder(1), anOrder(2)]);
  const [first, second] = [await parquet(db, "orders"), await parquet(db, "orders")];
  expect(statSync(first).size).toBe(statSync(second).size);
});

test("a Parquet export is never printed to a terminal", async () => {
  const db = await mirrorOfOrders([anOrder(1)]);
  const shown = await brandapi(["export", "orders", "--parquet", "--db", db], { tty: true });
  expect(shown).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("cannot be printed to a terminal"),
  });
});

const columns = [
  ["text", ["1"], "string"],
  ["json", ["[1]"], "string"],
  ["timestamp", ["2026-10-01T00:00:00Z", "2026-10-01"], "timestamp"],
  ["timestamp", ["2026-02-30"], "string"],
  ["timestamp", [5], "string"],
  ["date", ["2026-10-01"], "date"],
  ["date", ["2026-10-01T00:00:00Z"], "string"],
  ["date", [20], "string"],
  ["boolean", [0, 1, null], "boolean"],
  ["boolean", [0, 2], "string"],
  ["boolean", ["1"], "string"],
  ["integer", [1, 2 ** 53 - 1], "long"],
  ["integer", [9_007_199_254_740_993n], "long"],
  ["integer", [1, 1.5], "decimal(18,6)"],
  ["integer", [2 ** 53], "double"],
  ["integer", [1, "x"], "string"],
  ["number", [1], "decimal(18,6)"],
  ["number", [999_999_999_999.5, -999_999_999_999], "decimal(18,6)"],
  ["number", [1_000_000_000_000], "double"],
  ["number", [0.000001, -0.123456], "decimal(18,6)"],
  ["number", [0.1234567], "double"],
  ["number", [1e-7], "double"],
  ["number", ["1.5"], "string"],
  ["number", [null], "decimal(18,6)"],
  ["any", [null], "string"],
  ["any", ["2026-10-01", null], "date"],
  ["any", ["2026-10-01", "2026-10-01T00:00:00Z"], "timestamp"],
  ["any", [1, 2n], "long"],
  ["any", [1, 1.5], "decimal(18,6)"],
  ["any", [1, 1e-7], "double"],
  ["any", [1, "2026-10-01"], "string"],
  ["any", ["2026-10-01", 1], "string"],
  ["any", [9_007_199_254_740_993n, 1.5], "double"],
  ["integer", [10_000_000_000_000, 1.5], "double"],
] as const;
const listOf = (values: readonly RowValue[]) => values.map(visible).join(", ");

test.each(columns.map(([type, values, stored]) => [type, listOf(values), stored, values] as const))(
  "a Parquet export of a column of type `%s` with the values %s uses the Parquet type %s",
  (type, _, stored, values) => {
    expect(storedType(type, values).delta).toBe(stored);
  },
);

const changes = [
  ["long", "integer", [1, 1.5], "double"],
  ["long", "integer", [1], "long"],
  ["double", "integer", [1], "double"],
  ["decimal(18,6)", "integer", [1], "decimal(18,6)"],
  ["decimal(18,6)", "number", [1e-7], "double"],
  ["timestamp", "timestamp", ["soon"], "string"],
  ["string", "timestamp", ["2026-10-01"], "string"],
  ["long", "number", [1], "double"],
  ["long", "text", ["a"], "string"],
  ["struct", "integer", [1], "string"],
] as const;

test.each(
  changes.map(([current, type, values, stored]) => {
    const change = stored === current ? `stays ${stored}` : `becomes ${stored}`;
    return [current, change, listOf(values), type, values, stored] as const;
  }),
)(
  "a Delta column of type `%s` %s if an export adds %s from a column of type `%s`",
  (current, _change, _values, type, values, stored) => {
    expect(storedType(type, values, current).delta).toBe(stored);
  },
);

/** Returns the type in which a column with the given values is stored. */
function storedType(type: Column["type"], values: readonly RowValue[], current?: string) {
  const column = { name: "x", type, about: "" };
  const finder = new TypeFinder([column], () => (current === undefined ? undefined : typeOfDelta(current)));
  for (const value of values) finder.add([value]);
  return finder.types()[0] as ColumnType;
}

const storedValues = [
  ["timestamp", "2026-10-01T02:00:00.5+02:00", 1_790_812_800_500_000n, "2026-10-01 00:00:00.5"],
  ["timestamp", "1969-12-31T23:59:59.999999Z", -1n, "1969-12-31 23:59:59.999999"],
  ["timestamp", "2026-10-01T00:00:00.000001Z", 1_790_812_800_000_001n, "2026-10-01 00:00:00.000001"],
  ["date", "1970-01-02", 1, "1970-01-02"],
  ["boolean", 1, true, 1],
  ["boolean", 0, false, 0],
  ["long", 7, 7n, 7],
  ["decimal(18,6)", -12.5, -12_500_000n, -12.5],
  ["decimal(18,6)", 0.000001, 1n, 0.000001],
  ["double", 1.5, 1.5, 1.5],
  ["double", 2n, 2, 2],
  ["string", 1.5, "1.5", "1.5"],
] as const;

test.each(
  storedValues.map(([name, value, stored, text]) => {
    return [visible(value), name, visible(stored), visible(text), value, stored, text] as const;
  }),
)(
  "a Parquet file stores %s in a %s column as %s, which is read back as %s",
  (_value, name, _stored, _text, value, stored, text) => {
    const type = typeOfDelta(name);
    expect(type.convert(value)).toBe(stored);
    expect(type.revert(stored)).toBe(text);
  },
);

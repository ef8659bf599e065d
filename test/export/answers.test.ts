import { join } from "node:path";
import { expect, test } from "vitest";
import { pageQueries } from "../../bin/docs/example-queries.js";
import { naturalPace, simulateActivity } from "../../src/sandbox/activity.js";
import { views } from "../../src/views/all-views.js";
import { makeBrand } from "../support/brand.js";
import { askDuckDb } from "../support/duckdb.js";
import { day } from "../support/records.js";

const month = (at: number) => new Date(at).toISOString().slice(0, 7);
const date = (at: number) => new Date(at).toISOString().slice(0, 10);

/** Translates a query to DuckDB's dialect: relative dates become literals, and `date(…)` becomes `strftime(…)`. */
function forDuckDb(sql: string, today: number): string {
  const thisMonth = Date.parse(`${month(today)}-01`);
  return sql
    .replaceAll("strftime('%Y-%m', 'now', 'start of month', '-1 month')", `'${month(thisMonth - day)}'`)
    .replaceAll("date('now', 'start of month', '-1 month')", `DATE '${month(thisMonth - day)}-01'`)
    .replaceAll("date('now', '-7 days')", `DATE '${date(today - 7 * day)}'`)
    .replaceAll("date('now')", `DATE '${date(today)}'`)
    .replaceAll(/\bdate\((\w+)\)/g, "strftime($1, '%Y-%m-%d')");
}

/** Makes SQLite and DuckDB rows comparable by converting numeric strings to numbers, true to 1, and -0 to 0. */
function plain(rows: readonly Record<string, unknown>[]): unknown[] {
  const value = (one: unknown) => {
    if (typeof one === "boolean") return one ? 1 : 0;
    if (one === 0) return 0;
    return typeof one === "string" && /^-?\d+(\.\d+)?$/.test(one) ? Number(one) : one;
  };
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, one]) => [name, value(one)])));
}

test("each documented example query has at most three lines", () => {
  const tooLong = pageQueries.filter(({ sql }) => sql.split("\n").length > 3);
  expect(tooLong.map(({ question }) => question)).toEqual([]);
});

test("the documented example queries return the same rows from Parquet files in DuckDB as from the mirror", async () => {
  const begun = Date.now() - 75 * day;
  const brand = makeBrand({ history: 1_500, listLimit: 60, seed: 11, now: begun });
  expect((await brand.run("sync")).code).toBe(0);
  simulateActivity(brand.data, begun, begun + 75 * day, naturalPace(1_500));
  brand.pass(75 * day);
  expect((await brand.run("sync --window 400d")).code).toBe(0);
  const namedViews = views.filter(({ name }) => pageQueries.some(({ sql }) => sql.includes(name)));
  expect(namedViews.length).toBeGreaterThan(3);
  const created: string[] = [];
  for (const { name } of namedViews) {
    const file = join(brand.home, `${name}.parquet`);
    expect((await brand.run(["export", name, "-o", file])).code).toBe(0);
    created.push(`CREATE VIEW ${name} AS FROM '${file}'`);
  }
  for (const { question, sql } of pageQueries) {
    // Repeats both queries if the date has changed between them.
    for (let isSameDay = false; !isSameDay; ) {
      const now = Date.now();
      const { out, err, code } = await brand.run(["query", sql, "--json"], { clock: {} });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const found = await askDuckDb(...created, forDuckDb(sql, now));
      isSameDay = date(Date.now()) === date(now);
      if (!isSameDay) continue;
      const told = (rows: unknown[]) =>
        sql.includes("ORDER BY") ? rows : rows.map((row) => JSON.stringify(row)).sort();
      expect([question, told(plain(found))]).toEqual([question, told(plain(JSON.parse(out)))]);
      expect(found).not.toEqual([]);
    }
  }
});

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brandForTest, day, orderAged } from "../scenarios/brand.js";
import { askDuckDb } from "../support/duckdb.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";

const long = new Date("2020-01-01T00:00:00Z");

/** Every file below, and when it was written; all are made old, so that whoever writes one is seen. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
function makeOld(folder: string): void {
  for (const file of filesBelow(folder)) utimesSync(join(folder, file), long, long);
}
const written = (folder: string) =>
  filesBelow(folder).filter((file) => statSync(join(folder, file)).mtimeMs > long.getTime());

async function threeMonths() {
  const mirror = await makeMirror();
  const dates = ["2026-08-31T23:59:59.999Z", "2026-09-30T23:30:00-01:00", "2026-10-31T23:00:00Z"];
  writeRead(
    mirror,
    "orders",
    dates.map((order_date, n) => anOrder(n, { order_date })),
  );
  return { mirror, folder: join(makeHome(), "orders") };
}

function words(db: string, folder: string, tables: readonly string[] = ["orders"]): string[] {
  return ["export", ...tables, "--parquet", "--partition-by", "month", "-o", folder, "--db", db];
}

async function write(db: string, folder: string, ...args: string[]) {
  return await brandapi(words(db, folder, args.length > 0 ? args : undefined));
}

test("an order lies in the folder of its month in UTC, and a child's row in its order's", async () => {
  const { mirror, folder } = await threeMonths();
  writeRead(mirror, "orders", [anOrder(9, { order_date: null })]);
  mirror.db.close();
  const run = await write(mirror.path, folder);
  expect(run.err).toMatch(/^orders: 4 rows, 3 months \(3 written, 0 as before, 0 removed\) in /);
  expect(filesBelow(folder)).toEqual([
    "month=2026-08/orders.parquet",
    "month=2026-10/orders.parquet",
    "month=__HIVE_DEFAULT_PARTITION__/orders.parquet",
  ]);
  const rows = await askDuckDb(`SELECT month, id FROM '${folder}/*/*.parquet' ORDER BY id`);
  expect(rows).toEqual([
    { month: "2026-08", id: "order-0" },
    { month: "2026-10", id: "order-1" },
    { month: "2026-10", id: "order-2" },
    { month: null, id: "order-9" },
  ]);
  await write(mirror.path, folder, "order_line_items", "sales_by_month");
  const items = await askDuckDb(
    `SELECT month, order_id AS id FROM '${folder}/order_line_items/*/*.parquet' ORDER BY id`,
  );
  expect(items).toEqual(rows);
  const sales = await askDuckDb(
    `SELECT month, orders FROM '${folder}/sales_by_month/*/*.parquet' ORDER BY month`,
  );
  expect(sales).toEqual([
    { month: null, orders: "1" },
    { month: "2026-08", orders: "1" },
    { month: "2026-10", orders: "2" },
  ]);
});

test("a late refund of a reported month: its month alone is written again", async () => {
  const brand = await brandForTest({ orders: 1_200 });
  const folder = join(brand.home, "lake");
  const exportAll = () => brand.run(`export orders --parquet --partition-by month -o ${folder}`);
  await brand.run("sync orders");
  expect((await exportAll()).err).toMatch(/\((\d+) written, 0 as before, 0 removed\)/);
  makeOld(folder);
  await brand.run("sync orders");
  expect((await exportAll()).err).toContain("(0 written, ");
  expect(written(folder)).toEqual([]);
  const order = orderAged(brand.sandbox, 45);
  brand.sandbox.events.refund(order.id, 1);
  brand.sandbox.advance(day);
  await brand.run("sync orders --window 60d");
  const month = order.order_date.slice(0, 7);
  expect((await exportAll()).err).toContain("(1 written, ");
  expect(written(folder)).toEqual([`month=${month}/orders.parquet`]);
  expect(
    await askDuckDb(`SELECT refund_amount AS back FROM '${folder}/*/*.parquet' WHERE id = '${order.id}'`),
  ).toEqual([{ back: "1.000000" }]);
  expect(brand.sql("SELECT month, order_id, difference, what FROM restated_orders")).toEqual([
    { month, order_id: order.id, difference: -1, what: "refunded" },
  ]);
});

test("a month that is gone is removed, and nothing that somebody else has put there", async () => {
  const { mirror, folder } = await threeMonths();
  await write(mirror.path, folder);
  writeFileSync(join(folder, "month=2026-08/notes.txt"), "mine");
  mkdirSync(join(folder, "month=2025-01"));
  writeFileSync(join(folder, "month=2025-01/orders.parquet"), "PAR1 another program's PAR1");
  mkdirSync(join(folder, "year=2025"));
  makeOld(folder);
  writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-0", "order-2"] });
  mirror.db.close();
  const run = await write(mirror.path, folder);
  expect(run.err).toContain("1 month (1 written, 0 as before, 1 removed)");
  expect(filesBelow(folder)).toEqual([
    "month=2025-01/orders.parquet",
    "month=2026-08/notes.txt",
    "month=2026-10/orders.parquet",
  ]);
  expect(existsSync(join(folder, "year=2025"))).toBe(true);
});

test("another program's file is not replaced", async () => {
  const { mirror, folder } = await threeMonths();
  mirror.db.close();
  mkdirSync(join(folder, "month=2026-10"), { recursive: true });
  const file = join(folder, "month=2026-10/orders.parquet");
  writeFileSync(file, "mine");
  const run = await write(mirror.path, folder);
  expect(run).toMatchObject({ code: 3, err: expect.stringContaining("`brandapi` did not write") });
  expect(readFileSync(file, "utf8")).toBe("mine");
});

test("types are those of the whole table: one amount that no decimal holds changes every month", async () => {
  const { mirror, folder } = await threeMonths();
  await write(mirror.path, folder);
  writeRead(mirror, "orders", [anOrder(8, { total_amount: 1e-9 })], { at: "2026-11-02T00:00:00.000Z" });
  mirror.db.close();
  await write(mirror.path, folder);
  const types = await askDuckDb(
    `SELECT DISTINCT type, converted_type FROM parquet_schema('${folder}/*/*.parquet') WHERE name = 'total_amount'`,
  );
  expect(types).toEqual([{ type: "DOUBLE", converted_type: null }]);
});

test.each([
  [["roster"], "`roster` was", 3],
  [["recommendations"], "no date that months could go by", 2],
  [["late_refunds"], "a column `month` that is not the month of its date", 2],
])("%j is refused before anything is written", async (tables, message, code) => {
  const { mirror, folder } = await threeMonths();
  writeRead(mirror, "recommendations", [], { whole: true });
  mirror.db.close();
  const run = await write(mirror.path, folder, ...tables);
  expect(run.code).toBe(code);
  if (code === 2) expect(run.err).toContain(message);
  expect(existsSync(folder)).toBe(false);
});

test.each([
  [["--csv", "-o", "x"], "`--partition-by` is for `--parquet`"],
  [["--parquet"], "Months need a folder."],
  [["--parquet", "-o", "x", "--limit", "3"], "there is no `--limit`"],
])("with %j it is refused with 2", async (flags, message) => {
  const { mirror } = await threeMonths();
  mirror.db.close();
  const run = await brandapi(["export", "orders", "--partition-by", "month", ...flags, "--db", mirror.path]);
  expect(run).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

test("a run that is killed leaves every file whole, and the next one goes on", async () => {
  const mirror = await makeMirror();
  const at = (n: number) => new Date(Date.UTC(2026, n % 10, 1 + (n % 27))).toISOString();
  writeRead(
    mirror,
    "orders",
    Array.from({ length: 30_000 }, (_, n) => anOrder(n, { order_date: at(n) })),
  );
  mirror.db.close();
  const folder = join(makeHome(), "lake");
  const args = words(mirror.path, folder);
  const program = spawnBrandapi(args);
  const isThere = () => existsSync(join(folder, "month=2026-03/orders.parquet"));
  while (!isThere() && program.child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
  program.child.kill("SIGKILL");
  await program.ended;
  const whole = filesBelow(folder).filter((file) => file.endsWith(".parquet") && !file.includes("/."));
  for (const file of whole)
    expect(Number((await askDuckDb(`SELECT count(*) AS n FROM '${folder}/${file}'`))[0]?.n)).toBe(3_000);
  const again = await spawnBrandapi(args).ended;
  expect(again.code).toBe(0);
  expect(await askDuckDb(`SELECT count(*) AS n FROM '${folder}/*/*.parquet'`)).toEqual([{ n: "30000" }]);
  expect(filesBelow(folder).filter((file) => file.endsWith(".part"))).toEqual([]);
});

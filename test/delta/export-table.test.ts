import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exportDeltaTable } from "../../src/delta/export-table.js";
import { commitVersion, filesOfBrand, readDeltaLog } from "../../src/delta/log.js";
import type { Action as DeltaAction } from "../../src/delta/log-files.js";
import { openMonthlyRows } from "../../src/delta/monthly-rows.js";
import { saveInfo } from "../../src/store/database.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { askDuckDb } from "../support/duckdb.js";
import { afterFile, makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi, type ProgramOptions, testDeps } from "../support/program.js";
import { day } from "../support/records.js";

type Action = Record<string, JsonObject>;

const orders = [0, 1, 2, 30, 31].map((n) =>
  anOrder(n, { order_date: `2026-${n < 30 ? "10" : "09"}-05T0${n % 10}:00:00Z` }),
);

/** Creates a mirror that contains the given orders, and a folder for Delta tables. */
async function makeDeltaFolder() {
  const home = makeHome();
  const mirror = await makeMirror(home);
  mirror.transaction(() => saveInfo(mirror, "brand_id", "fern"));
  writeRead(mirror, "orders", orders, { whole: true });
  afterFile(() => mirror.db.close());
  const folder = join(home, "lake");
  const table = join(folder, "orders");
  const run = (command: string, options: ProgramOptions = {}) =>
    brandapi([...command.split(" "), "--delta", folder, "--db", mirror.path], { home, ...options });
  return { mirror, folder, table, run };
}

function actionsOf(table: string, version: number): Action[] {
  const name = `${String(version).padStart(20, "0")}.json`;
  const text = readFileSync(join(table, "_delta_log", name), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Action);
}

const kindsOf = (table: string, version: number) =>
  actionsOf(table, version).flatMap((action) => Object.keys(action));

const monthsOf = (actions: readonly Action[], kind: string) =>
  actions.flatMap((action) => (action[kind]?.partitionValues as JsonObject | undefined)?.month ?? []).sort();

const namesOf = (table: string) =>
  readdirSync(table, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".parquet"));

async function currentFiles(table: string): Promise<Map<string, string>> {
  const files = filesOfBrand(await readDeltaLog(table), "fern");
  return new Map([...files].map(([month, { path }]) => [month, path]));
}

/** Queries the newest version of a Delta table. `t` contains the rows of all current files, and the files' months. */
async function read(table: string, sql: string) {
  const files = [...(await currentFiles(table))].map(
    ([month, path]) =>
      `SELECT *, '${month}' AS month FROM read_parquet('${join(table, path)}', hive_partitioning = false)`,
  );
  return await askDuckDb(`WITH t AS (${files.join(" UNION ALL BY NAME ")}) ${sql}`);
}

test("a Delta export writes a log and, for each month, a file with the mirror's values", async () => {
  const { table, run } = await makeDeltaFolder();
  expect(await run("export orders")).toMatchObject({ code: 0, out: "" });
  const actions = actionsOf(table, 0);
  expect(kindsOf(table, 0)).toEqual(["commitInfo", "protocol", "metaData", "add", "add"]);
  expect(actions[1]).toEqual({ protocol: { minReaderVersion: 1, minWriterVersion: 2 } });
  expect(actions[2]?.metaData).toMatchObject({ partitionColumns: ["month"] });
  const { fields } = JSON.parse(String(actions[2]?.metaData?.schemaString)) as { fields: JsonObject[] };
  expect(fields[0]).toEqual({ name: "id", type: "string", nullable: true, metadata: {} });
  const types = Object.fromEntries(fields.map(({ name, type }) => [name, type]));
  const [order_date, total_amount] = ["timestamp", "decimal(18,6)"];
  expect(types).toMatchObject({ order_date, total_amount, is_cancelled: "boolean", month: "string" });
  expect(monthsOf(actions, "add")).toEqual(["2026-09", "2026-10"]);
  expect(JSON.parse(String(actions[4]?.add?.stats))).toMatchObject({ numRecords: 3 });
  expect(
    await read(table, "SELECT month, count(*) AS n, sum(total_amount) AS total FROM t GROUP BY 1 ORDER BY 1"),
  ).toEqual([
    { month: "2026-09", n: "2", total: "262.000000" },
    { month: "2026-10", n: "3", total: "304.500000" },
  ]);
});

test("a Delta export to an existing table rewrites changed months and removes empty months, but adds no version if nothing has changed", async () => {
  const { mirror, table, run } = await makeDeltaFolder();
  await run("export orders");
  const first = namesOf(table);
  expect((await run("export orders")).err).toContain("nothing has changed");
  expect((await readDeltaLog(table)).version).toBe(0);
  writeRead(mirror, "orders", [{ ...orders[1], refund_amount: 7 }], { at: "2026-11-02T00:00:00.000Z" });
  await run("export orders");
  expect(monthsOf(actionsOf(table, 1), "add")).toEqual(["2026-10"]);
  expect(kindsOf(table, 1)).toEqual(["commitInfo", "remove", "add"]);
  expect(namesOf(table)).toEqual(expect.arrayContaining(first));
  expect(await read(table, "SELECT sum(refund_amount) AS refunded FROM t")).toEqual([
    { refunded: "7.000000" },
  ]);
  writeRead(mirror, "orders", [], { at: "2026-11-03T00:00:00.000Z", remove: ["order-30", "order-31"] });
  await run("export orders");
  expect(kindsOf(table, 2)).toEqual(["commitInfo", "remove"]);
  expect([...(await currentFiles(table)).keys()]).toEqual(["2026-10"]);
});

test("a Delta export changes the schema and replaces all files if a column is new or its type has changed", async () => {
  const { mirror } = await makeDeltaFolder();
  const folder = makeHome();
  mirror.db.exec("CREATE TABLE plans (month, goal); INSERT INTO plans VALUES ('2026-10', 5), (NULL, 6)");
  const exportAfter = async (statement: string, ...added: string[]) => {
    mirror.db.exec(statement);
    const columns = ["month", "goal", ...added].map((name) => ({ name, type: "any", about: "" }) as const);
    const date = { sql: "month", form: "month" } as const;
    const table = {
      name: "plans",
      kind: "system" as const,
      about: "",
      tableSql: "plans",
      removedTableSql: null,
      columns,
      date,
      orderBy: [],
      shape: null,
    };
    await exportDeltaTable(openMonthlyRows(mirror, table), await readDeltaLog(folder), testDeps());
  };
  await exportAfter("SELECT 1");
  expect([...(await currentFiles(folder)).keys()].sort()).toEqual(["", "2026-10"]);
  await exportAfter(
    "ALTER TABLE plans ADD note TEXT; UPDATE plans SET note = 'more' WHERE month IS NULL",
    "note",
  );
  expect(kindsOf(folder, 1)).toEqual(["commitInfo", "metaData", "remove", "remove", "add", "add"]);
  expect((await readDeltaLog(folder)).metaData?.schemaString).toContain('"note"');
  await exportAfter("UPDATE plans SET goal = 6.5 WHERE month IS NULL", "note");
  expect(kindsOf(folder, 2).filter((kind) => kind === "add")).toHaveLength(2);
  expect(await read(folder, "SELECT sum(goal) AS goal FROM t")).toEqual([{ goal: "11.500000" }]);
});

test("a Delta export partitions child records by their parent's month, and view rows by their own month", async () => {
  const { mirror, folder, run } = await makeDeltaFolder();
  const refunded = { ...orders[3], refund_amount: 7 };
  writeRead(mirror, "orders", [refunded], { at: "2026-11-02T00:00:00.000Z" });
  writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "h" }, status: "active" }]);
  expect(await run("export order-line-items sales_by_month roster late_refunds")).toMatchObject({ code: 0 });
  const monthsIn = async (name: string) => [...(await currentFiles(join(folder, name))).keys()].sort();
  expect(await monthsIn("order_line_items")).toEqual(["2026-09", "2026-10"]);
  expect(await monthsIn("sales_by_month")).toEqual(["2026-09", "2026-10"]);
  // A late refund is partitioned by its order's month.
  expect(await monthsIn("late_refunds")).toEqual(["2026-09"]);
  expect(await monthsIn("roster")).toEqual([""]);
});

test("a Delta export rejects a log from another program, brand or protocol version, and leaves it unchanged", async () => {
  const { mirror, table, run } = await makeDeltaFolder();
  await run("export orders");
  writeRead(mirror, "orders", [anOrder(3)], { at: "2026-11-02T00:00:00.000Z" });
  const log = join(table, "_delta_log");
  const next = (version: number) => join(log, `${String(version).padStart(20, "0")}.json`);
  const before = namesOf(table);
  const refused = async (reason: string) => {
    for (const command of ["export orders", "verify"])
      expect(await run(command)).toMatchObject({ code: 3, err: expect.stringContaining(reason) });
    expect(namesOf(table)).toEqual(before);
  };
  const own = JSON.stringify(actionsOf(table, 0)[0]);
  writeFileSync(next(1), '{"commitInfo":{"timestamp":1,"engineInfo":"Apache-Spark/3.5"}}\n');
  await refused("another program wrote");
  writeFileSync(next(1), "{");
  await refused("has a damaged version");
  writeFileSync(next(1), `${own}\n{"protocol":{"minReaderVersion":3,"minWriterVersion":7}}\n`);
  await refused("requires a newer protocol version");
  writeFileSync(next(1), own.replaceAll("fern", "moss"));
  await refused("belongs to a different brand");
  renameSync(next(1), next(2));
  await refused("is missing a version");
});

test("if two Delta exports of the same brand run concurrently, one of them fails with exit code 9", async () => {
  const { table, run } = await makeDeltaFolder();
  const runs = await Promise.all([0.1, 0.2].map((n) => run("export orders", { random: () => n })));
  expect(runs.map(({ code }) => code).sort()).toEqual([0, 9]);
  expect(runs.map(({ err }) => err).join()).toContain("Another export added this version first");
  expect(await read(table, "SELECT count(*) AS n FROM t")).toEqual([{ n: "5" }]);
  const log = await readDeltaLog(table);
  expect(namesOf(table)).toHaveLength(log.files.size);
  const commit = async (timestamp: number) =>
    await commitVersion(
      log,
      [{ commitInfo: { ...(actionsOf(table, 0)[0] as DeltaAction).commitInfo, timestamp } }],
      { brand: "fern", manyBrands: false },
      testDeps(),
    );
  expect(await commit(1)).toBe(1);
  await expect(commit(2)).rejects.toMatchObject({ exitCode: 9 });
  // A network file system can report an error even though it has created the link.
  expect(await commit(1)).toBe(1);
  expect(readdirSync(join(table, "_delta_log"))).toHaveLength(2);
});

test("a Delta export deletes only files that were written by Delta exports and are not used by any version from the last week", async () => {
  const { mirror, table, run } = await makeDeltaFolder();
  const start = Date.now();
  const at = (days: number) => ({ clock: { now: () => start + days * day } });
  await run("export orders", at(0));
  const [old = ""] = (await currentFiles(table)).values();
  const [foreign, version] = ["part-00000-c000.snappy.parquet", `.${"0".repeat(20)}.json.mill-1-000001.part`];
  const left = join(table, "month=2026-09", `.part-${randomUUID()}.parquet.mill-1-000001.part`);
  for (const path of [left, join(table, foreign), join(table, "_delta_log", version)]) {
    writeFileSync(path, "");
    utimesSync(path, start / 1_000, start / 1_000);
  }
  const refunded = orders.map((order) => ({ ...order, refund_amount: 2 }));
  writeRead(mirror, "orders", refunded, { at: "2026-11-02T00:00:00.000Z" });
  await run("export orders", at(1));
  expect(namesOf(table)).toContain(old);
  await run("export orders", at(7.5));
  expect(namesOf(table)).toContain(old);
  expect(existsSync(left)).toBe(false);
  await run("export orders", at(8.5));
  expect(namesOf(table).sort()).toEqual([...(await currentFiles(table)).values(), foreign].sort());
  expect(readdirSync(join(table, "_delta_log"))).toHaveLength(2);
});

test("verify --delta prints the months that differ from the mirror", async () => {
  const { mirror, table, run } = await makeDeltaFolder();
  await run("export orders");
  expect(await run("verify")).toMatchObject({
    code: 0,
    out: expect.stringContaining("version 0 matches the mirror"),
  });
  expect((await run("verify --json")).out).toBe('{"table":"orders","version":0,"differing":[]}\n');
  writeRead(mirror, "orders", [{ ...orders[1], refund_amount: 7 }], { at: "2026-11-02T00:00:00.000Z" });
  const changed = await run("verify");
  expect(changed).toMatchObject({ code: 8, err: expect.stringContaining("`brandapi export orders --delta") });
  expect(changed.out).toMatch(/^orders: .*differs.*2026-10\n$/);
  expect((await run("verify --json")).out).toContain(
    '{"table":"orders","version":0,"differing":["2026-10"]}\n',
  );
  await run("export orders");
  writeFileSync(join(table, (await currentFiles(table)).get("2026-09") ?? ""), "cut");
  expect((await run("verify orders")).out).toContain("differs from the mirror: 2026-09\n");
});

test("tables --delta prints the mirror's state as of each Delta table's newest version", async () => {
  const { run } = await makeDeltaFolder();
  expect(await run("tables")).toMatchObject({ code: 3, err: expect.stringContaining("is missing") });
  await run("export orders");
  for (const command of ["tables", "verify"])
    expect(await run(`${command} sales-by-month`)).toMatchObject({ code: 3 });
  const facts = { table: "orders", version: 0, brand: "fern", run: 1, verified: true, rows: 5 };
  const through = "2026-11-01T00:00:00.000Z";
  expect(JSON.parse((await run("tables --json")).out)).toEqual({ ...facts, through });
  expect((await run("tables")).out).toBe(
    "table   version  rows  verified  through (UTC)     run\n" +
      "orders        0     5  yes       2026-11-01 00:00    1\n",
  );
});

test("a failed Delta export deletes the files that it has written", async () => {
  const { table, run } = await makeDeltaFolder();
  mkdirSync(table, { recursive: true });
  writeFileSync(join(table, "month=2026-10"), "");
  expect(await run("export orders")).toMatchObject({ code: 3 });
  expect(readdirSync(join(table, "month=2026-09"))).toEqual([]);
});

test.each([
  ["a bucket URL", "s3://bucket/lake", 3, "not a folder on this machine"],
  ["an empty path", "", 2, "The value of `--delta` is empty."],
])("export --delta rejects %s", async (_, folder, code, message) => {
  const { run, mirror } = await makeDeltaFolder();
  const words = ["export", "orders", "--delta", folder, "--db", mirror.path];
  expect(await brandapi(words)).toMatchObject({ code, err: expect.stringContaining(message) });
  expect(await run("export orders")).toMatchObject({ code: 0 });
});

test("export rejects --delta together with flags that select rows or a format", async () => {
  const { run } = await makeDeltaFolder();
  for (const flag of ["--csv", "--limit 3", "--since 7d", "--columns id", "-o x.csv"])
    expect(await run(`export orders ${flag}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining("--delta"),
    });
  expect(await run("verify --repair")).toMatchObject({ code: 2 });
});

test("export --delta writes nothing if one of the tables has never been synced, and warns about a view that lacks data", async () => {
  const { folder, run } = await makeDeltaFolder();
  expect(await run("export orders roster")).toMatchObject({
    code: 3,
    err: expect.stringContaining("`roster`"),
  });
  expect(existsSync(folder)).toBe(false);
  expect(await run("export hosts")).toMatchObject({
    code: 0,
    err: expect.stringContaining("`hosts` contains no data from roster, "),
  });
});

test("a Delta export of a single row reports `1 row`", async () => {
  const { mirror, run } = await makeDeltaFolder();
  writeRead(mirror, "roster", [{ relationship_id: "r1", host: { id: "h1" } }]);
  expect((await run("export roster")).err).toContain("roster: version 0, 1 row, months written: 1");
});

test("verify --delta --full detects a damaged page, and suggests a command that repairs the table", async () => {
  const { folder, table, run } = await makeDeltaFolder();
  await run("export orders");
  expect((await run("verify --full")).out).toContain("5 rows compared");
  const path = join(table, (await currentFiles(table)).get("2026-10") ?? "");
  const bytes = readFileSync(path);
  for (const position of [60, 70, 80]) bytes[position] = (bytes[position] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
  expect(await run("verify")).toMatchObject({ code: 0 });
  const damaged = await run("verify --full");
  expect(damaged).toMatchObject({
    code: 8,
    err: expect.stringContaining(`\`rm ${path} && brandapi export orders --delta ${folder} --db `),
  });
  expect(damaged.out).toMatch(
    /^orders: version 0 differs from the mirror: 2026-10, 2 rows compared\n {2}damaged: \S+month=2026-10\S+: .+\n$/,
  );
  const [json] = (await run("verify --full --json")).out.split("\n");
  expect(JSON.parse(json ?? "")).toEqual({
    table: "orders",
    version: 0,
    differing: ["2026-10"],
    rows: 2,
    damaged: [{ month: "2026-10", file: path, problem: expect.any(String) }],
  });
  rmSync(path);
  await run("export orders");
  expect(await run("verify --full")).toMatchObject({ code: 0 });
});

test("verify --delta --full detects a value that differs from the mirror", async () => {
  const { mirror, table, run } = await makeDeltaFolder();
  const odd = anOrder(3, {
    order_date: "soon",
    total_amount: 0.123456789,
    order_number: "\ufeff#1\u0000",
    currency: null,
  });
  writeRead(mirror, "orders", [odd], { at: "2026-11-02T00:00:00.000Z" });
  await run("export orders sales_by_month");
  expect((await run("verify --full")).out).toMatch(
    /^orders: .* matches .* 6 rows.*\nsales_by_month: .* matches .* 3 rows.*\n$/,
  );
  const path = join(table, (await currentFiles(table)).get("2026-09") ?? "");
  // Changes a value without damaging its Parquet page.
  writeFileSync(path, readFileSync(path, "latin1").replaceAll("#31", "#39"), "latin1");
  expect(await run("verify orders")).toMatchObject({ code: 0 });
  const { code, out } = await run("verify orders --full");
  expect(code).toBe(8);
  expect(out).toContain("row 2 has a different `order_number`");
});

test("a Delta table has no duplicate or outdated rows after the mirror has been restored or replaced", async () => {
  const { mirror, folder, table, run } = await makeDeltaFolder();
  await run("export orders");
  const backup = join(folder, "../backup.sqlite");
  await mirror.db.backup(backup);
  writeRead(mirror, "orders", [{ ...orders[1], refund_amount: 7 }, anOrder(2), anOrder(3)], {
    at: "2026-11-02T00:00:00.000Z",
    remove: ["order-30"],
  });
  await run("export orders");
  const ids = "SELECT string_agg(id, ' ' ORDER BY id) AS ids, sum(refund_amount) AS refunds FROM t";
  expect(await read(table, ids)).toEqual([
    { ids: "order-0 order-1 order-2 order-3 order-31", refunds: "7.000000" },
  ]);
  const restored = async (path: string) =>
    await brandapi(["export", "orders", "--delta", folder, "--db", path]);
  expect(await restored(backup)).toMatchObject({
    code: 0,
    err: expect.stringContaining("months written: 2"),
  });
  const ofBackup = [{ ids: "order-0 order-1 order-2 order-30 order-31", refunds: "0.000000" }];
  expect(await read(table, ids)).toEqual(ofBackup);
  expect((await restored(backup)).err).toContain("nothing has changed");

  const replaced = await makeMirror(makeHome());
  replaced.transaction(() => saveInfo(replaced, "brand_id", "fern"));
  writeRead(replaced, "orders", [...orders].reverse().slice(0, 4), {
    at: "2026-11-05T00:00:00.000Z",
    whole: true,
  });
  replaced.db.close();
  expect(await restored(replaced.path)).toMatchObject({ code: 0 });
  expect(await read(table, ids)).toEqual([{ ids: "order-1 order-2 order-30 order-31", refunds: "0.000000" }]);
  expect(monthsOf(actionsOf(table, 3), "add")).toEqual(["2026-09", "2026-10"]);
});

test("verify rejects --full without --delta", async () => {
  expect(await brandapi("verify --full")).toMatchObject({
    code: 2,
    err: expect.stringContaining("`--full` applies only to `--delta`"),
  });
});

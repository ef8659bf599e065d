import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveSyncedTable } from "../../src/cli/table-selection.js";
import { writeCheckpoint } from "../../src/delta/checkpoint.js";
import { exportDeltaTable } from "../../src/delta/export-table.js";
import { commitVersion, readDeltaLog } from "../../src/delta/log.js";
import { brandFolder } from "../../src/delta/log-files.js";
import { openMonthlyRows } from "../../src/delta/monthly-rows.js";
import type { Mirror } from "../../src/store/database.js";
import { saveInfo } from "../../src/store/database.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { askDuckDb } from "../support/duckdb.js";
import { afterFile, makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi, type ProgramOptions, testDeps } from "../support/program.js";

/** Orders from October and September. The amounts differ between brands. */
const ordersOf = (brand: number) =>
  [0, 1, 30].map((n) =>
    anOrder(n, {
      order_date: `2026-${n < 30 ? "10" : "09"}-05T0${n % 10}:00:00Z`,
      total_amount: 100 * brand + n + 0.5,
    }),
  );

/** Creates a machine that has a profile and a mirror for each brand, and a folder for Delta tables. */
async function makeMachine(...brands: string[]) {
  const home = makeHome();
  const mirrors = new Map<string, Mirror>();
  for (const [index, brand] of brands.entries()) {
    const mirror = await makeMirror(home, `${brand}.sqlite`);
    mirror.transaction(() => saveInfo(mirror, "brand_id", brand));
    writeRead(mirror, "orders", ordersOf(index + 1), { whole: true });
    afterFile(() => mirror.db.close());
    mirrors.set(brand, mirror);
  }
  const profiles = Object.fromEntries(
    brands.map((brand) => [brand, { key: `bk_${brand}`, db: join(home, `${brand}.sqlite`) }]),
  );
  mkdirSync(join(home, ".config/brandapi"), { recursive: true });
  writeFileSync(join(home, ".config/brandapi/config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  const folder = join(home, "lake");
  const mirrorOf = (brand: string) => mirrors.get(brand) as Mirror;
  const run = (command: string, options: ProgramOptions = {}) =>
    brandapi([...command.split(" "), "--delta", folder], { home, ...options });
  return { folder, table: join(folder, "orders"), home, mirrorOf, run };
}

type Action = Record<string, JsonObject>;

function actionsOf(table: string, version: number): Action[] {
  const name = `${String(version).padStart(20, "0")}.json`;
  const lines = readFileSync(join(table, "_delta_log", name), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as Action);
}

const partitionsIn = (actions: readonly Action[], kind: string) =>
  actions.flatMap((action) => action[kind]?.partitionValues ?? []);

/**
 * Queries the newest version of a Delta table. `t` contains the rows of all current files, and the files' partition
 * values.
 */
async function read(table: string, sql: string) {
  const { files } = await readDeltaLog(table);
  const selects = [...files.values()].map(({ partitionValues: { brand_id, month }, path }) => {
    const values = `'${brand_id}' AS brand_id, '${month}' AS month`;
    return `SELECT *, ${values} FROM read_parquet('${join(table, path)}', hive_partitioning = false)`;
  });
  return await askDuckDb(`WITH t AS (${selects.join(" UNION ALL BY NAME ")}) ${sql}`);
}

const totals = "SELECT brand_id, count(*) AS n, sum(total_amount) AS total FROM t GROUP BY 1 ORDER BY 1";

test("export --all-profiles --delta writes all brands into one table, partitioned by brand and month", async () => {
  const { folder, run, table } = await makeMachine("fern", "moss");
  expect(await run("export orders sales_by_month --all-profiles")).toMatchObject({ code: 0, out: "" });
  const [, , created] = actionsOf(table, 0);
  expect(created?.metaData).toMatchObject({ partitionColumns: ["brand_id", "month"] });
  expect(actionsOf(table, 0)[0]?.commitInfo?.mirror).toMatchObject({
    brand: "fern",
    rows: 3,
    verified: true,
  });
  expect(actionsOf(table, 1)[0]?.commitInfo?.mirror).toMatchObject({
    brand: "moss",
    rows: 3,
    verified: true,
  });
  expect(partitionsIn(actionsOf(table, 1), "add")).toEqual([
    { brand_id: "moss", month: "2026-09" },
    { brand_id: "moss", month: "2026-10" },
  ]);
  expect(readdirSync(table).sort()).toEqual(["_delta_log", "brand_id=fern", "brand_id=moss"]);
  expect(await read(table, totals)).toEqual([
    { brand_id: "fern", n: "3", total: "332.500000" },
    { brand_id: "moss", n: "3", total: "632.500000" },
  ]);
  expect((await readDeltaLog(join(folder, "sales_by_month"))).version).toBe(1);
});

test("a Delta export replaces only the partitions of its brand, with or without --all-profiles", async () => {
  const { mirrorOf, run, table } = await makeMachine("fern", "moss");
  await run("export orders --all-profiles");
  const refunded = { ...ordersOf(2)[0], refund_amount: 7 };
  writeRead(mirrorOf("moss"), "orders", [refunded], { at: "2026-11-02T00:00:00.000Z" });
  const { err } = await run("export orders --all-profiles");
  expect(err).toContain("nothing has changed");
  expect((await readDeltaLog(table)).version).toBe(2);
  expect(partitionsIn(actionsOf(table, 2), "add")).toEqual([{ brand_id: "moss", month: "2026-10" }]);
  writeRead(mirrorOf("fern"), "orders", [], { at: "2026-11-03T00:00:00.000Z", remove: ["order-30"] });
  expect((await run("export orders --profile fern")).code).toBe(0);
  expect(actionsOf(table, 3).flatMap((action) => Object.keys(action))).toEqual(["commitInfo", "remove"]);
  expect(
    await read(table, "SELECT brand_id, count(*) AS n, sum(refund_amount) AS r FROM t GROUP BY 1 ORDER BY 1"),
  ).toEqual([
    { brand_id: "fern", n: "2", r: "0.000000" },
    { brand_id: "moss", n: "3", r: "7.000000" },
  ]);
});

test("concurrent Delta exports of different brands succeed, even if the table does not exist yet", async () => {
  const brands = ["alder", "birch", "cedar"];
  const { home, mirrorOf, run, table } = await makeMachine(...brands);
  const exportAll = async () => {
    const runs = brands.map(async (brand, index) => {
      const config = join(home, `config-${brand}`);
      mkdirSync(config, { recursive: true });
      const profiles = { [brand]: { key: `bk_${brand}`, db: mirrorOf(brand).path } };
      writeFileSync(join(config, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
      const env = { BRANDAPI_CONFIG_DIR: config };
      return await run("export orders --all-profiles", { env, random: () => index / 10 });
    });
    expect((await Promise.all(runs)).map(({ code, err }) => (code === 0 ? 0 : err))).toEqual([0, 0, 0]);
  };
  await exportAll();
  expect((await readDeltaLog(table)).version).toBe(2);
  for (const brand of brands)
    writeRead(mirrorOf(brand), "orders", [{ ...ordersOf(0)[0], total_amount: 1 }], {
      at: "2026-11-02T00:00:00.000Z",
    });
  await exportAll();
  expect((await readDeltaLog(table)).version).toBe(5);
  expect(await read(table, totals)).toEqual([
    { brand_id: "alder", n: "3", total: "233.000000" },
    { brand_id: "birch", n: "3", total: "433.000000" },
    { brand_id: "cedar", n: "3", total: "633.000000" },
  ]);
});

test("if two exports of the same brand to a multi-brand Delta table run concurrently, one of them fails with exit code 9", async () => {
  const { run, table } = await makeMachine("fern", "moss");
  const runs = await Promise.all(
    [0.1, 0.2].map((n) => run("export orders --all-profiles", { random: () => n })),
  );
  expect(runs.map(({ code }) => code)).toContain(9);
  expect(await read(table, "SELECT brand_id, count(*) AS n FROM t GROUP BY 1 ORDER BY 1")).toEqual([
    { brand_id: "fern", n: "3" },
    { brand_id: "moss", n: "3" },
  ]);
});

test("a Delta export does not add a version with a new schema if another brand has been exported in the meantime", async () => {
  const { run, table } = await makeMachine("fern", "moss");
  await run("export orders --all-profiles");
  const log = await readDeltaLog(table);
  const commit = async (brand: string, changesSchema: boolean) => {
    const mirror = { brand, run: 1, verified: true, through: null, rows: 0 };
    const schema = changesSchema && log.metaData ? [{ metaData: log.metaData }] : [];
    const actions = [{ commitInfo: { timestamp: Date.now(), mirror } }, ...schema];
    return await commitVersion(log, actions, { brand, manyBrands: true }, testDeps());
  };
  expect(await commit("alder", false)).toBe(2);
  expect(await commit("birch", false)).toBe(3);
  expect(await commit("cedar", true)).toBeUndefined();
});

test("a Delta export that has to start over fails with exit code 9 if its brand has been exported in the meantime", async () => {
  const { mirrorOf, run, table } = await makeMachine("moss", "fern");
  const beforeOthers = await readDeltaLog(table);
  await run("export orders --all-profiles");
  const before = readdirSync(table, { recursive: true });
  const fern = mirrorOf("fern");
  const rows = openMonthlyRows(fern, resolveSyncedTable(fern, "orders"), { manyBrands: true });
  await expect(exportDeltaTable(rows, beforeOthers, testDeps())).rejects.toMatchObject({ exitCode: 9 });
  expect((await readDeltaLog(table)).version).toBe(1);
  expect(readdirSync(table, { recursive: true })).toEqual(before);
});

test("export --all-profiles rejects an existing single-brand Delta table", async () => {
  const { run } = await makeMachine("fern", "moss");
  expect((await run("export orders --profile fern")).code).toBe(0);
  expect(await run("export orders --profile moss")).toMatchObject({
    code: 3,
    err: expect.stringContaining("belongs to a different brand"),
  });
  expect(await run("export orders --all-profiles")).toMatchObject({
    code: 3,
    err: expect.stringMatching(/fern: .*is a single-brand table.*moss: .*is a single-brand table/s),
  });
  expect(await run("export orders --profile fern")).toMatchObject({
    code: 0,
    err: expect.stringContaining("nothing has changed"),
  });
});

test("export --all-profiles writes nothing if two profiles belong to the same brand", async () => {
  const { folder, home, mirrorOf, run } = await makeMachine("fern", "moss", "reed");
  const reed = mirrorOf("reed");
  reed.transaction(() => saveInfo(reed, "brand_id", "fern"));
  writeFileSync(join(home, "moss.sqlite"), "damaged");
  expect(await run("export orders --all-profiles")).toMatchObject({
    code: 2,
    err: expect.stringContaining("The profiles `fern` and `reed` belong to the same brand"),
  });
  expect(existsSync(folder)).toBe(false);
  for (const profile of ["fern", "reed"])
    expect(await run(`export orders --profile ${profile}`)).toMatchObject({ code: 0 });
});

test("export --all-profiles exports the other brands if one mirror has no brand ID", async () => {
  const { mirrorOf, run, table } = await makeMachine("fern", "moss");
  mirrorOf("fern").db.exec("DELETE FROM mirror_info WHERE name = 'brand_id'");
  const { code, err } = await run("export orders --all-profiles");
  expect(code).toBe(3);
  expect(err).toMatch(/fern: .*brand is unknown.*`brandapi sync --profile fern`/s);
  expect([...(await readDeltaLog(table)).brands.keys()]).toEqual(["moss"]);
});

test("a Delta export converts other brands' files if a value needs a wider column type", async () => {
  const { mirrorOf, run, table } = await makeMachine("fern", "moss");
  await run("export orders --all-profiles");
  const typeOf = async (name: string) => {
    const { fields } = JSON.parse((await readDeltaLog(table)).metaData?.schemaString ?? "") as {
      fields: { name: string; type: string }[];
    };
    return fields.find((field) => field.name === name)?.type;
  };
  expect([await typeOf("total_amount"), await typeOf("order_date")]).toEqual(["decimal(18,6)", "timestamp"]);
  const odd = anOrder(2, { order_date: "soon", total_amount: 0.123456789 });
  writeRead(mirrorOf("moss"), "orders", [odd], { at: "2026-11-02T00:00:00.000Z" });
  expect((await run("export orders --profile moss")).code).toBe(0);
  expect([await typeOf("total_amount"), await typeOf("order_date")]).toEqual(["double", "string"]);
  const rows =
    "SELECT brand_id, order_date, total_amount FROM t WHERE id IN ('order-1', 'order-2') ORDER BY 1, 2";
  const ofMoss = [
    { brand_id: "moss", order_date: "2026-10-05T01:00:00Z", total_amount: 201.5 },
    { brand_id: "moss", order_date: "soon", total_amount: 0.123456789 },
  ];
  expect(await read(table, rows)).toEqual([
    { brand_id: "fern", order_date: "2026-10-05 01:00:00", total_amount: 101.5 },
    ...ofMoss,
  ]);
  // The converted file has no digest, so the brand's next export replaces it.
  expect(await run("verify --profile fern")).toMatchObject({ code: 8 });
  await run("export orders --all-profiles");
  expect(await read(table, rows)).toEqual([
    { brand_id: "fern", order_date: "2026-10-05T01:00:00Z", total_amount: 101.5 },
    ...ofMoss,
  ]);
  expect(await run("verify --profile fern")).toMatchObject({ code: 0 });
});

test("in a Delta table, a column that exists for only one brand is null for the other brands", async () => {
  const { mirrorOf, run, table } = await makeMachine("fern", "moss");
  writeRead(mirrorOf("fern"), "surveys", [{ id: "a", color: "red", Size: 5 }]);
  writeRead(mirrorOf("moss"), "surveys", [{ id: "b", size: 6, weight: 2.5 }]);
  expect((await run("export surveys --all-profiles")).code).toBe(0);
  const surveys = table.replace("orders", "surveys");
  expect((await run("export surveys --all-profiles")).err).not.toContain("version");
  expect(await read(surveys, "SELECT id, color, Size, weight FROM t ORDER BY id")).toEqual([
    { id: "a", color: "red", Size: "5.000000", weight: null },
    { id: "b", color: null, Size: "6.000000", weight: "2.500000" },
  ]);
});

test("tables --delta lists all brands in a table, and verify --delta compares a single brand", async () => {
  const { mirrorOf, run } = await makeMachine("moss", "fern");
  await run("export orders --all-profiles");
  expect((await run("tables")).out).toBe(
    "table   brand  version  rows  verified  through (UTC)     run\n" +
      "orders  fern         1     3  yes       2026-11-01 00:00    1\n" +
      "orders  moss         0     3  yes       2026-11-01 00:00    1\n",
  );
  writeRead(mirrorOf("moss"), "orders", [anOrder(40)], { at: "2026-11-02T00:00:00.000Z" });
  expect(await run("verify --profile fern")).toMatchObject({ code: 0 });
  expect(await run("verify --profile moss")).toMatchObject({
    code: 8,
    out: expect.stringContaining("2026-09"),
  });
});

test("export rejects --all-profiles without --delta", async () => {
  const { home } = await makeMachine("fern");
  expect(await brandapi(["export", "orders", "--csv", "--all-profiles"], { home })).toMatchObject({
    code: 2,
    err: expect.stringContaining("`--all-profiles` applies only to `--delta`"),
  });
});

test("the DuckDB query in the Delta documentation reads the current files", async () => {
  const { mirrorOf, run, table } = await makeMachine("fern", "moss");
  await run("export orders --all-profiles");
  writeRead(mirrorOf("moss"), "orders", [{ ...ordersOf(2)[0], total_amount: 1 }], {
    at: "2026-11-02T00:00:00.000Z",
  });
  await run("export orders --all-profiles");
  const page = readFileSync(new URL("../../src/delta/README.md", import.meta.url), "utf8");
  const [, sql = ""] = page.match(/```sql\n(SET VARIABLE.*?)```/s) ?? [];
  const [collect = "", select = ""] = sql.replaceAll("lake/orders", table).split(";");
  const expected = [
    { brand_id: "fern", month: "2026-09", orders: "1", revenue: "130.500000" },
    { brand_id: "fern", month: "2026-10", orders: "2", revenue: "202.000000" },
    { brand_id: "moss", month: "2026-09", orders: "1", revenue: "230.500000" },
    { brand_id: "moss", month: "2026-10", orders: "2", revenue: "202.500000" },
  ];
  const withoutCheckpoint = collect.replace(/ UNION ALL\n.*\n.*\n/, "\n");
  expect(await askDuckDb(withoutCheckpoint, select)).toEqual(expected);
  await writeCheckpoint(await readDeltaLog(table), 0, testDeps());
  expect(await askDuckDb(collect, select)).toEqual(expected);
});

test("a brand's folder name contains no path separators, even if the brand's ID does", () => {
  expect(brandFolder("../fern/1")).toBe("brand_id=___fern_1");
});

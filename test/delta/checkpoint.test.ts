import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeCheckpoint } from "../../src/delta/checkpoint.js";
import { commitVersion, readDeltaLog } from "../../src/delta/log.js";
import { saveInfo } from "../../src/store/database.js";
import { askDuckDb } from "../support/duckdb.js";
import { afterFile, makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi, testDeps } from "../support/program.js";
import { day } from "../support/records.js";

const versionName = (version: number) => String(version).padStart(20, "0");

async function makeTable() {
  const home = makeHome();
  const mirror = await makeMirror(home);
  mirror.transaction(() => saveInfo(mirror, "brand_id", "fern"));
  afterFile(() => mirror.db.close());
  const folder = join(home, "lake");
  const table = join(folder, "orders");
  const start = Date.now();
  let amount = 0;
  const run = async (command: string, now = start) => {
    const words = [...command.split(" "), "--delta", folder, "--db", mirror.path];
    return await brandapi(words, { home, clock: { now: () => now } });
  };
  return {
    folder,
    table,
    log: join(table, "_delta_log"),
    run,
    /** Changes an order, and exports the change the given number of days after the start. */
    async exportOn(days: number) {
      amount += 1;
      const orders = [
        anOrder(0, { order_date: "2026-10-05T00:00:00Z", total_amount: amount }),
        anOrder(1, { order_date: "soon" }),
      ];
      writeRead(mirror, "orders", orders, { whole: true });
      const { code, err } = await run("export orders", start + days * day);
      expect(code, err).toBe(0);
    },
    /** Adds empty versions until `version` is the next version. */
    async fillUntil(version: number, days: number) {
      const log = await readDeltaLog(table);
      const { version: _, ...mirrorState } = log.brands.get("fern") ?? { version: 0 };
      for (let next = log.version; next < version - 1; next += 1) {
        const timestamp = start + days * day;
        const actions = [{ commitInfo: { timestamp, mirror: mirrorState as never } }];
        await commitVersion(
          { ...log, version: next },
          actions,
          { brand: "fern", manyBrands: false },
          testDeps(),
        );
      }
    },
  };
}

const namesIn = (log: string) => readdirSync(log).filter((name) => !name.startsWith("."));

test("a Delta export writes a checkpoint with all current files every 50 versions", async () => {
  const { exportOn, fillUntil, log, table } = await makeTable();
  await exportOn(0);
  await exportOn(1);
  await fillUntil(48, 1);
  await exportOn(2);
  expect(namesIn(log).filter((name) => !name.endsWith(".json"))).toEqual([]);
  await exportOn(2);
  const checkpoint = join(log, `${versionName(49)}.checkpoint.parquet`);
  expect(existsSync(checkpoint)).toBe(true);
  const pointer = JSON.parse(readFileSync(join(log, "_last_checkpoint"), "utf8"));
  expect(pointer).toMatchObject({ version: 49, size: 7, numOfAddFiles: 2 });
  const log49 = await readDeltaLog(table);
  expect(log49).toMatchObject({ version: 49, checkpointVersion: 49 });
  expect(log49.brands.get("fern")).toMatchObject({ version: 49, rows: 2, verified: true });

  const [counts] = await askDuckDb(`SELECT count(protocol) AS p, count(metaData) AS m, count("add") AS a,
    count(remove) AS r, bool_or(coalesce("add".dataChange, remove.dataChange)) AS changed,
    any_value(typeof("add".partitionValues)) AS partitions FROM '${checkpoint}'`);
  const partitions = "MAP(VARCHAR, VARCHAR)";
  expect(counts).toEqual({ p: "1", m: "1", a: "2", r: "3", changed: false, partitions });
  const adds =
    await askDuckDb(`SELECT "add".path AS path, "add".partitionValues['month'] AS month, "add".size AS size
    FROM '${checkpoint}' WHERE "add" IS NOT NULL ORDER BY month DESC`);
  const files = [...log49.files.values()].map(({ partitionValues: { month = null }, path, size }) => ({
    path,
    month,
    size: String(size),
  }));
  expect(adds).toEqual(expect.arrayContaining(files));
  expect(
    await askDuckDb(`SELECT metaData.partitionColumns AS columns, metaData.format.provider AS provider,
      metaData.configuration AS configuration, metaData.schemaString AS schema FROM '${checkpoint}' WHERE metaData IS NOT NULL`),
  ).toEqual([
    { columns: ["month"], provider: "parquet", configuration: [], schema: log49.metaData?.schemaString },
  ]);

  expect(log49.removedFiles.size).toBe(3);
  await writeCheckpoint(log49, Date.now() + 3 * day, testDeps());
  expect((await readDeltaLog(table)).removedFiles.size).toBe(0);
});

test("a Delta export adds versions to a table even if the versions before the checkpoint have been deleted", async () => {
  const { exportOn, fillUntil, log, run, table } = await makeTable();
  await exportOn(0);
  await fillUntil(49, 0);
  await exportOn(0);
  const before = await readDeltaLog(table);
  for (const version of Array.from({ length: 50 }, (_, n) => n))
    rmSync(join(log, `${versionName(version)}.json`));
  expect((await run("verify")).out).toContain("version 49 matches the mirror");
  expect((await run("tables")).out).toContain("orders       49     2  yes");
  expect((await run("export orders")).err).toContain("nothing has changed");
  expect(await readDeltaLog(table)).toEqual(before);
  await exportOn(1);
  expect(await readDeltaLog(table)).toMatchObject({ version: 50, checkpointVersion: 49 });
});

test("a Delta export replaces a damaged checkpoint, but rejects a checkpoint from another program", async () => {
  const { exportOn, fillUntil, log, run, table } = await makeTable();
  await exportOn(0);
  await fillUntil(49, 0);
  await exportOn(0);
  const checkpoint = join(log, `${versionName(49)}.checkpoint.parquet`);
  writeFileSync(checkpoint, "cut");
  expect(await readDeltaLog(table)).toMatchObject({ version: 49, checkpointVersion: -1 });
  await exportOn(1);
  expect(await readDeltaLog(table)).toMatchObject({ version: 50, checkpointVersion: 50 });
  await askDuckDb(`COPY (SELECT 1 AS x) TO '${join(log, `${versionName(60)}.checkpoint.parquet`)}'`);
  expect(await run("verify")).toMatchObject({ code: 3, err: expect.stringContaining("another program") });
});

test("a Delta export deletes the versions before the newest checkpoint that is older than the retention period", async () => {
  const { exportOn, fillUntil, log, run, table } = await makeTable();
  await exportOn(0);
  await fillUntil(49, 0);
  await exportOn(1);
  await fillUntil(99, 2);
  await exportOn(3);
  const versions = () => namesIn(log).filter((name) => name.endsWith(".json"));
  expect(versions()).toHaveLength(100);
  await exportOn(7.5);
  expect(versions()).toHaveLength(101);
  await exportOn(8.5);
  expect(versions()[0]).toBe(`${versionName(49)}.json`);
  await exportOn(10.5);
  expect(namesIn(log)).toEqual([
    `${versionName(99)}.checkpoint.parquet`,
    ...[99, 100, 101, 102].map((version) => `${versionName(version)}.json`),
    "_last_checkpoint",
  ]);
  expect(await readDeltaLog(table)).toMatchObject({ version: 102, checkpointVersion: 99 });
  expect((await run("verify")).code).toBe(0);
});

test("a Delta export keeps the versions after the checkpoint that `_last_checkpoint` names", async () => {
  const { exportOn, fillUntil, log } = await makeTable();
  await exportOn(0);
  await fillUntil(49, 0);
  await exportOn(0);
  const pointer = join(log, "_last_checkpoint");
  copyFileSync(pointer, join(log, "old"));
  await fillUntil(99, 0);
  await exportOn(0);
  copyFileSync(join(log, "old"), pointer);
  rmSync(join(log, "old"));
  await exportOn(20);
  expect(namesIn(log)[0]).toBe(`${versionName(49)}.checkpoint.parquet`);
});

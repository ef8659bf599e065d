import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writeCheckpoint } from "../../src/delta/checkpoint.js";
import { cleanUpTable } from "../../src/delta/cleanup.js";
import { commitVersion, filesOfBrand, hasManyBrands, readDeltaLog } from "../../src/delta/log.js";
import type { Action } from "../../src/delta/log-files.js";
import { makeHome } from "../support/home.js";
import { testDeps } from "../support/program.js";
import { day } from "../support/records.js";

const start = Date.UTC(2026, 10, 21);
const versionName = (version: number) => `${String(version).padStart(20, "0")}.json`;

const commit = (brand: string | null, days = 0): Action => ({
  commitInfo: {
    timestamp: start + days * day,
    mirror: { brand, run: 1, verified: true, through: null, rows: 2 },
  },
});
const schema = (...partitionColumns: string[]): Action => ({
  metaData: {
    ...{ id: "t", format: { provider: "parquet", options: {} }, schemaString: '{"fields":[]}' },
    ...{ partitionColumns, configuration: {} },
  },
});
const add = (path: string, partitionValues: { brand_id?: string; month?: string | null } = {}): Action => ({
  add: { path, partitionValues, size: 1, modificationTime: start, dataChange: true, stats: "{}" },
});
const remove = (path: string, days: number): Action => ({
  remove: { path, deletionTimestamp: start + days * day, dataChange: true },
});

/** Creates a table whose log contains the given versions. */
function makeTable(...versions: (readonly Action[])[]): string {
  const folder = makeHome();
  mkdirSync(join(folder, "_delta_log"));
  for (const [version, actions] of versions.entries()) addVersion(folder, version, ...actions);
  return folder;
}

function addVersion(folder: string, version: number, ...actions: readonly (Action | string)[]): void {
  const lines = actions.map((action) => (typeof action === "string" ? action : JSON.stringify(action)));
  writeFileSync(join(folder, "_delta_log", versionName(version)), `${lines.join("\n")}\n`);
}

test("reading a Delta log returns the current files, the removed files and the newest version of each brand", async () => {
  const folder = makeTable(
    [commit("fern"), schema("brand_id", "month"), add("a", { brand_id: "fern", month: "2026-10" })],
    [
      commit("moss"),
      add("b", { brand_id: "moss", month: "2026-10" }),
      add("c", { brand_id: "moss", month: null }),
    ],
    [commit("fern"), remove("a", 1), add("d", { brand_id: "fern", month: "2026-10" })],
  );
  for (const name of [
    "00000000000000000003.json.part",
    "_last_checkpoint",
    "3.json",
    `${"x".repeat(20)}.json`,
    `${"0".repeat(20)}.crc`,
  ])
    writeFileSync(join(folder, "_delta_log", name), "");
  const log = await readDeltaLog(folder);
  expect(log).toMatchObject({ version: 2, checkpointVersion: -1 });
  expect([...log.files.keys()]).toEqual(["b", "c", "d"]);
  expect([...log.removedFiles]).toEqual([["a", start + day]]);
  expect([...log.brands.values()].map(({ brand, version }) => [brand, version])).toEqual([
    ["moss", 1],
    ["fern", 2],
  ]);
  expect(hasManyBrands(log)).toBe(true);
  const monthsOf = (brand: string) => [...filesOfBrand(log, brand)].map(([month, { path }]) => [month, path]);
  expect([monthsOf("fern"), monthsOf("moss")]).toEqual([
    [["2026-10", "d"]],
    [
      ["2026-10", "b"],
      ["", "c"],
    ],
  ]);
});

test("a Delta table without a log has no version", async () => {
  const none = await readDeltaLog(makeHome());
  expect(none).toMatchObject({ version: -1, checkpointVersion: -1, metaData: undefined });
  expect(hasManyBrands(none)).toBe(false);
});

test("filesOfBrand returns all files of a single-brand Delta table", async () => {
  const log = await readDeltaLog(makeTable([commit(null), schema("month"), add("a", { month: "2026-10" })]));
  expect(hasManyBrands(log)).toBe(false);
  expect([...filesOfBrand(log, null).keys()]).toEqual(["2026-10"]);
});

const needs = (minReaderVersion: number, minWriterVersion: number) => ({
  protocol: { minReaderVersion, minWriterVersion },
});

test.each([
  ["is missing the first version", 2, [commit("fern")], "is missing a version"],
  ["contains a version from another program", 1, [{ commitInfo: { timestamp: 1 } }], "another program"],
  ["contains a damaged line", 1, [commit("fern"), "{"], "damaged version"],
  ["requires a newer protocol for reading", 1, [commit("fern"), needs(2, 2)], "requires a newer protocol"],
  ["requires a newer protocol for writing", 1, [commit("fern"), needs(1, 3)], "requires a newer protocol"],
] as const)("a Delta log that %s is rejected", async (_, version, actions, reason) => {
  const folder = makeTable([commit("fern")]);
  addVersion(folder, version, ...actions);
  const message = expect.stringContaining(reason);
  await expect(readDeltaLog(folder)).rejects.toMatchObject({ exitCode: 3, message });
});

test("a Delta log that requires the newest supported protocol is accepted", async () => {
  const folder = makeTable([commit("fern")]);
  addVersion(folder, 1, commit("fern"), needs(1, 2));
  expect((await readDeltaLog(folder)).version).toBe(1);
});

test.each([
  ["a different brand", "adds the next version", "moss", [], true, 2],
  ["a different brand with a new schema", "starts over", "moss", [schema("brand_id")], true, undefined],
  ["the same brand", "fails with exit code 9", "fern", [], true, "busy"],
  ["a different brand to a single-brand table", "fails with exit code 9", "moss", [], false, "busy"],
] as const)(
  "if an export of %s has added a version since the log was read, a Delta export %s",
  async (...row) => {
    const [, , brand, actions, manyBrands, result] = row;
    const folder = makeTable([commit("fern"), schema("brand_id")]);
    const log = await readDeltaLog(folder);
    addVersion(folder, 1, commit(brand), ...actions);
    const adding = commitVersion(log, [commit("fern", 1)], { brand: "fern", manyBrands }, testDeps());
    if (result === "busy") await expect(adding).rejects.toMatchObject({ exitCode: 9 });
    else expect(await adding).toBe(result);
    const versions = readdirSync(join(folder, "_delta_log"));
    expect(versions).toHaveLength(result === 2 ? 3 : 2);
  },
);

const part = (folder = "") => `${folder}part-${randomUUID()}.parquet`;

/** Creates files that were last modified the given number of days after the start. */
function createFiles(folder: string, days: number, ...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "");
    utimesSync(join(folder, path), start / 1_000 + days * 86_400, start / 1_000 + days * 86_400);
  }
}

test("the cleanup of a Delta table deletes the program's unused files that are older than the retention period", async () => {
  const [current, removed, recent] = [part("month=2026-10/"), part("month=2026-10/"), part("month=2026-10/")];
  const folder = makeTable(
    [commit(null), schema("month"), add(current), add(removed), add(recent)],
    [commit(null, 1), remove(removed, 4), remove(recent, 5)],
  );
  const left = [
    part(),
    part("month=2026-09/"),
    `month=2026-09/.${part()}.mill-1.part`,
    `_delta_log/.x.json.part`,
  ];
  const young = part("month=2026-11/");
  const foreign = [
    "part-00000.parquet",
    `data/${part()}`,
    `month=2026-09/x-${part()}`,
    "_delta_log/x.part",
    "month=2026-09/x",
  ];
  createFiles(folder, 0, current, removed, recent, ...left, ...foreign);
  createFiles(folder, 5, young);
  await cleanUpTable(folder, { brand: null, cutoffMs: start + 5 * day }, testDeps());
  const exists = (path: string) => existsSync(join(folder, path));
  expect([removed, ...left].filter(exists)).toEqual([]);
  expect([current, recent, young, ...foreign].filter((path) => !exists(path))).toEqual([]);
});

test("the cleanup of a multi-brand Delta table deletes only the exported brand's files and the log's temporary files", async () => {
  const folder = makeTable([commit("fern"), schema("brand_id", "month")]);
  const own = [part("brand_id=fern/month=2026-10/"), part("brand_id=fern/"), "_delta_log/.x.json.part"];
  const others = [part("brand_id=moss/month=2026-10/"), part("month=2026-10/"), part()];
  createFiles(folder, 0, ...own, ...others);
  for (const brand of ["reed", "fern"])
    await cleanUpTable(folder, { brand, cutoffMs: start + day }, testDeps());
  const exists = (path: string) => existsSync(join(folder, path));
  expect([own.filter(exists), others.filter((path) => !exists(path))]).toEqual([[], []]);
});

test.each([
  ["no checkpoint", 49, 0],
  ["a checkpoint", 50, 1],
])(
  "the cleanup of a Delta table writes %s %i versions after the previous checkpoint",
  async (_, versions, count) => {
    const folder = makeTable([commit(null), schema("month")]);
    await writeCheckpoint(await readDeltaLog(folder), 0, testDeps());
    for (let version = 1; version <= versions; version += 1) addVersion(folder, version, commit(null));
    await cleanUpTable(folder, { brand: null, cutoffMs: start - day }, testDeps());
    const checkpoints = readdirSync(join(folder, "_delta_log")).filter((name) => name.endsWith(".parquet"));
    expect(checkpoints).toHaveLength(1 + count);
  },
);

test("a Delta checkpoint preserves the list of files that were removed during the retention period", async () => {
  const folder = makeTable([
    commit("fern"),
    schema("month"),
    add("a"),
    add("b"),
    add("c", { month: "2026-10" }),
  ]);
  await writeCheckpoint(await readDeltaLog(folder), 0, testDeps());
  addVersion(folder, 1, commit("fern"), remove("a", 1), remove("b", 2));
  const before = await readDeltaLog(folder);
  await writeCheckpoint(before, start + 2 * day, testDeps());
  const log = await readDeltaLog(folder);
  expect(log).toMatchObject({ version: 1, checkpointVersion: 1, brands: before.brands });
  expect([...log.removedFiles]).toEqual([["b", start + 2 * day]]);
  expect([...log.files.values()]).toEqual([{ ...add("c", { month: "2026-10" }).add, dataChange: false }]);
  const read = (name: string) => readFileSync(join(folder, "_delta_log", name));
  expect(JSON.parse(read("_last_checkpoint").toString())).toEqual({
    version: 1,
    size: 4,
    sizeInBytes: read(`${"0".repeat(19)}1.checkpoint.parquet`).length,
    numOfAddFiles: 1,
  });
  addVersion(folder, 2, commit("fern"), add("d"));
  expect([...(await readDeltaLog(folder)).files.keys()]).toEqual(["c", "d"]);
});

test("`_last_checkpoint` refers to a Delta checkpoint only after the checkpoint has been fully written", async () => {
  const folder = makeTable([commit("fern"), schema("month")]);
  const names: string[] = [];
  const runGracefully = async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    const result = await work();
    names.push(readdirSync(join(folder, "_delta_log")).at(-1) ?? "");
    return result;
  };
  await writeCheckpoint(await readDeltaLog(folder), 0, testDeps({ runGracefully }));
  expect(names).toEqual([versionName(0), "_last_checkpoint"]);
});

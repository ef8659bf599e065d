import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitVersion, readDeltaLog } from "../../src/delta/log.js";
import { replaceFileFunction } from "../support/files.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi, testDeps } from "../support/program.js";

// Simulates a file system that does not support hard links, such as exFAT.
let code = "EPERM";
replaceFileFunction("link", () => async () => {
  throw Object.assign(new Error(`${code}: link`), { code, syscall: "link" });
});

async function makeTable() {
  const home = makeHome();
  const mirror = await makeMirror(home);
  const write = (amount: number) =>
    writeRead(mirror, "orders", [anOrder(0, { total_amount: amount })], { whole: true });
  const run = (random = 0.5) =>
    brandapi(["export", "orders", "--delta", join(home, "lake"), "--db", mirror.path], {
      home,
      random: () => random,
    });
  const versions = () =>
    readdirSync(join(home, "lake/orders/_delta_log")).filter((name) => name !== "_last_checkpoint");
  write(1);
  return { close: () => mirror.db.close(), home, run, versions, write };
}

const version = (n: number) => `${String(n).padStart(20, "0")}.json`;

test("Delta exports can add versions on a file system that does not support hard links", async () => {
  const { close, run, versions, write } = await makeTable();
  expect(await run()).toMatchObject({ code: 0 });
  write(2);
  expect(await run()).toMatchObject({ code: 0 });
  expect(versions()).toEqual([version(0), version(1)]);
  close();
});

test("only one of two concurrent Delta exports of the same brand succeeds on a file system that does not support hard links", async () => {
  const { close, run, versions } = await makeTable();
  const runs = await Promise.all([run(0.1), run(0.2)]);
  expect(runs.map(({ code }) => code).sort()).toEqual([0, 9]);
  expect(runs.map(({ err }) => err).join()).toContain("Another export added this version first");
  expect(versions()).toEqual([version(0)]);
  close();
});

test("a Delta export replaces the lock file left behind by an export that was killed while adding a version", async () => {
  const { close, home, run, versions, write } = await makeTable();
  await run();
  write(2);
  const claim = join(home, "lake/orders/_delta_log", `.${version(1)}.claim.part`);
  writeFileSync(claim, "");
  expect(await run()).toMatchObject({ code: 9 });
  const twoMinutesAgo = Date.now() / 1_000 - 120;
  await utimes(claim, twoMinutesAgo, twoMinutesAgo);
  expect(await run()).toMatchObject({ code: 0 });
  expect(versions()).toEqual([version(0), version(1)]);
  close();
});

test("concurrent Delta exports of different brands all succeed on a file system that does not support hard links", async () => {
  const folder = makeHome();
  mkdirSync(join(folder, "_delta_log"));
  const commit = async (brand: string, random: number) => {
    const log = await readDeltaLog(folder);
    const mirror = { brand, run: 1, verified: true, through: null, rows: 0 };
    const actions = [{ commitInfo: { timestamp: random, mirror } }];
    return await commitVersion(log, actions, { brand, manyBrands: true }, testDeps({ random: () => random }));
  };
  const versions = await Promise.all([commit("fern", 0.1), commit("moss", 0.2), commit("reed", 0.3)]);
  expect(versions.sort()).toEqual([0, 1, 2]);

  const claim = join(folder, "_delta_log", `.${version(3)}.claim.part`);
  writeFileSync(claim, "");
  const waiting = commit("fern", 0.4);
  setTimeout(() => rmSync(claim), 120);
  expect(await waiting).toBe(3);
});

/** Adds a version to a new table whose next version is locked by a file of the given age. */
async function commitWithLock(ageMs: number, stop?: Error) {
  const folder = makeHome();
  mkdirSync(join(folder, "_delta_log"));
  const claim = join(folder, "_delta_log", `.${version(0)}.claim.part`);
  writeFileSync(claim, "");
  await utimes(claim, 1_000, 1_000);
  const waits: number[] = [];
  const clock = {
    now: () => 1_000_000 + ageMs,
    sleep: async (ms: number) => (stop ? Promise.reject(stop) : void waits.push(ms)),
  };
  const mirror = { brand: "fern", run: 1, verified: true, through: null, rows: 0 };
  const actions = [{ commitInfo: { timestamp: 0, mirror } }];
  const log = await readDeltaLog(folder);
  const adding = commitVersion(log, actions, { brand: "fern", manyBrands: true }, testDeps({ clock }));
  const result = await adding.catch((error) => error.exitCode ?? error.message);
  return {
    result,
    waitedMs: waits.reduce((sum, ms) => sum + ms, 0),
    names: readdirSync(join(folder, "_delta_log")),
  };
}

test("a Delta export waits 5 seconds for another export's lock file, but ignores a lock file older than a minute", async () => {
  expect(await commitWithLock(60_000)).toMatchObject({ result: 9, waitedMs: 5_000 });
  expect(await commitWithLock(60_001)).toEqual({ result: 0, waitedMs: 0, names: [version(0)] });
});

test("a stop signal ends a Delta export that is waiting for another export's lock file", async () => {
  expect(await commitWithLock(0, new Error("stopped"))).toMatchObject({ result: "stopped" });
});

test.each([
  ["EPERM", "succeeds without links", 0],
  ["ENOTSUP", "succeeds without links", 0],
  ["EOPNOTSUPP", "succeeds without links", 0],
  ["ENOSYS", "succeeds without links", 0],
  ["ENOSPC", "fails with exit code 3", 3],
])("if creating a hard link fails with %s, a Delta export %s", async (reported, _, result) => {
  code = reported;
  expect(await commitWithLock(60_001)).toMatchObject({ result });
  code = "EPERM";
});

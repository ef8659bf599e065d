import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scanCommandLine } from "../../src/cli/flags.js";
import { systemClock } from "../../src/deps.js";
import { runCommandLine } from "../../src/main.js";
import { lockMirror } from "../../src/store/mirror-lock.js";
import { makeBrand } from "../support/brand.js";
import { until } from "../support/process.js";
import { brandapi, testDeps } from "../support/program.js";
import { Sqlite } from "../support/sqlite.js";

const schemaOf010 = new URL("../store/schema-0.1.0.sql", import.meta.url);

/** Creates an empty mirror with the schema from version 0.1.0. Returns its path and the environment for syncing it. */
async function olderMirror() {
  const brand = makeBrand({ history: 20, listLimit: 5 });
  const db = new Sqlite(brand.db);
  db.exec(readFileSync(schemaOf010, "utf8"));
  db.close();
  return { path: brand.db, options: { home: brand.home, env: await brand.served() } };
}

test("sync --dry-run does not change a mirror from an older version", async () => {
  const { path, options } = await olderMirror();
  const before = readFileSync(path);
  const { code, out } = await brandapi("sync --dry-run", options);
  expect(code).toBe(0);
  expect(out).toContain("orders: ");
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("sync --wait waits for another run even if the mirror was created by an older version", async () => {
  const { path, options } = await olderMirror();
  const { signal } = new AbortController();
  const lock = await lockMirror(path, { wait: false, clock: systemClock, signal });
  const deps = testDeps(options);
  const exitCode = runCommandLine(scanCommandLine(["sync", "roster", "--wait"]), deps);
  await until(() => deps.stderr.text.includes("waiting for another run"));
  lock.release();
  expect(await exitCode).toBe(0);
});

test("the error for a locked mirror suggests --wait only for commands that accept it", async () => {
  const { path, options } = await olderMirror();
  const { signal } = new AbortController();
  const lock = await lockMirror(path, { clock: systemClock, signal });
  const sync = await brandapi("sync roster", options);
  expect(sync).toMatchObject({ code: 9, err: expect.stringContaining("or add `--wait`") });
  const backup = `${path}.backup`;
  copyFileSync(path, backup);
  const restore = await brandapi(["backup", "--restore", backup], options);
  expect(restore).toMatchObject({ code: 9, err: expect.stringMatching(/after that run has ended\n/) });
  lock.release();
});

test("a process that is killed while it locks the mirror leaves no journal behind", async () => {
  const { path } = await olderMirror();
  const { signal } = new AbortController();
  const lock = await lockMirror(path, { clock: systemClock, signal });
  expect(existsSync(`${path}-lock-journal`)).toBe(false);
  lock.release();
});

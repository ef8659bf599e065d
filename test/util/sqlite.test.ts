import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isDamageError, sqlitePackage } from "../../src/util/sqlite.js";
import { makeHome } from "../support/home.js";
import { Sqlite } from "../support/sqlite.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const major = Number(process.versions.node.split(".")[0]);

test("the program loads better-sqlite3 13 on Node 22 and later, and 12 on Node 20", () => {
  expect(sqlitePackage).toBe(major >= 22 ? "better-sqlite3" : "better-sqlite3-12");
  const db = new Sqlite(":memory:");
  expect(db.prepare("SELECT sqlite_version() >= '3.50'").pluck().get()).toBe(1);
  db.close();
});

function installWithoutSqlite(): string {
  const folder = join(makeHome(), "brandapi");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of ["bin", "dist", "package.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")))
    if (!name.startsWith("better-sqlite3") && !name.startsWith("."))
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  return folder;
}

function runCopy(folder: string, command: string) {
  const home = makeHome();
  const env = { HOME: home, PATH: process.env.PATH };
  return spawnSync(process.execPath, [join(folder, "bin/brandapi.js"), command], {
    cwd: home,
    encoding: "utf8",
    env,
  });
}

const refused = /^! {2}node: SQLite is not installed for Node [\d.]+: better-sqlite3\S* cannot be loaded\.\n/;

test("the program explains how to install SQLite if it is missing", () => {
  const { status, stderr, stdout } = runCopy(installWithoutSqlite(), "doctor");
  expect(status, stderr).toBe(3);
  expect(stdout).toMatch(refused);
  const hints =
    major < 22
      ? ["use Node 22 or later, which needs no compiler", "`npm install -g --foreground-scripts`"]
      : ["reinstall brandapi with this version of Node"];
  for (const hint of hints) expect(stdout).toContain(hint);
});

test("the demo reports that SQLite is missing before it prints or creates anything else", () => {
  const { status, stderr, stdout } = runCopy(installWithoutSqlite(), "demo");
  expect(status).toBe(3);
  expect(stdout).toBe("");
  expect(stderr).toContain("SQLite is not installed for Node");
});

test("the program explains how to install SQLite if its binary was built for a different version of Node", () => {
  const folder = installWithoutSqlite();
  const broken = join(folder, "node_modules", sqlitePackage);
  mkdirSync(broken);
  writeFileSync(
    join(broken, "index.js"),
    `module.exports = class { constructor() { throw new Error("NODE_MODULE_VERSION 108"); } };`,
  );
  const { status, stderr, stdout } = runCopy(folder, "doctor");
  expect(status, stderr).toBe(3);
  expect(stdout).toMatch(refused);
});

test("a mirror is considered damaged if SQLite reports that its file is corrupt or not a database", () => {
  const damaged = (code: string) => isDamageError(Object.assign(new Error(code), { code }));
  expect(["SQLITE_CORRUPT", "SQLITE_CORRUPT_INDEX", "SQLITE_NOTADB"].map(damaged)).toEqual([
    true,
    true,
    true,
  ]);
  expect(["SQLITE_BUSY", "SQLITE_FULL", "NOT_SQLITE_CORRUPT"].map(damaged)).toEqual([false, false, false]);
});

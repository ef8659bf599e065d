import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { afterFile, makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { hour, noon, ordersBefore } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

/** Root can write to read-only folders, so tests that run as root start the program as `nobody`. */
const uid = process.getuid?.() === 0 ? { uid: 65_534 } : {};

async function readableMirror() {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 30, hour) });
  expect((await brand.run("sync orders")).code).toBe(0);
  const folder = join(brand.home, "data");
  mkdirSync(folder);
  const path = join(folder, "mirror.sqlite");
  copyFileSync(brand.db, path);
  const makeReadOnly = () => {
    for (const end of ["", "-wal", "-shm"]) if (existsSync(path + end)) chmodSync(path + end, 0o444);
    chmodSync(brand.home, 0o755);
    chmodSync(folder, 0o555);
    afterFile(() => chmodSync(folder, 0o755));
  };
  const run = async (...args: string[]) =>
    await spawnBrandapi([...args, "--db", path], { home: brand.home, ...uid }).ended;
  return { brand, path, makeReadOnly, run };
}

test.skipIf(process.platform === "win32").each(["status", "report --text --month 2026-11"])(
  "`brandapi %s` works if the lock file is readable only by another user",
  async (command) => {
    const { makeReadOnly, path, run } = await readableMirror();
    writeFileSync(`${path}-lock`, "", { mode: 0o600 });
    makeReadOnly();
    const { code, err } = await run(...command.split(" "));
    expect([code, err]).toEqual([0, ""]);
  },
);

test.skipIf(process.platform === "win32").each([
  ["query SELECT count(*) AS orders FROM orders", /orders\n +30/],
  ["export orders --json", /"order_number"/],
  ["export orders --csv --as-of today", /order_number/],
  ["tables", /^orders +30 /m],
  ["status", /^orders +30 /m],
  ["report --text --month 2026-11", /USD|EUR/],
  ["changes", /^(?!.*brandapi:)/s],
])("`brandapi %s` reads a mirror in a read-only folder", async (words, expected) => {
  const { makeReadOnly, path, run } = await readableMirror();
  makeReadOnly();
  const [command = "", ...args] = words.split(" ");
  const { code, out, err } = await run(command, ...(command === "query" ? [args.join(" ")] : args));
  expect(code, err).toBe(0);
  expect(out).toMatch(expected);
  expect(existsSync(`${path}-shm`)).toBe(false);
});

test.skipIf(process.platform === "win32")(
  "`brandapi backup` copies a mirror in a read-only folder",
  async () => {
    const { makeReadOnly, run } = await readableMirror();
    const folder = makeHome();
    chmodSync(folder, 0o777);
    makeReadOnly();
    const { code, err } = await run("backup", folder);
    expect(code, err).toBe(0);
  },
);

test.skipIf(process.platform === "win32")(
  "opening a read-only mirror with data in its write-ahead log fails and suggests copying the mirror",
  async () => {
    const { makeReadOnly, path, run } = await readableMirror();
    const writer = new Sqlite(path).exec("CREATE TABLE notes (text)");
    copyFileSync(path, `${path}-2`);
    copyFileSync(`${path}-wal`, `${path}-2-wal`);
    writer.close();
    for (const end of ["", "-wal"]) copyFileSync(`${path}-2${end}`, path + end);
    rmSync(`${path}-2`);
    makeReadOnly();
    const { code, err } = await run("query", "SELECT count(*) FROM orders");
    expect(code, err).toBe(3);
    expect(err).toMatch(/cannot be read in a read-only folder[^\n]*\n {2}hint: copy the mirror/);
  },
);

test.skipIf(process.platform === "win32").each([
  ["file is read-only", 0o444, 0o777],
  ["folder is read-only", 0o666, 0o555],
])(
  "opening a mirror from an older version fails and suggests making it writable if its %s",
  async (_, fileMode, folderMode) => {
    const { brand, makeReadOnly, path, run } = await readableMirror();
    const older = new Sqlite(path);
    older.exec("DROP VIEW orders_net");
    older.close();
    makeReadOnly();
    chmodSync(path, fileMode);
    chmodSync(dirname(path), folderMode);
    const refused = await run("status");
    expect(refused.code, refused.err).toBe(3);
    expect(refused.err).toContain("make it writable");
    expect((await brand.run("status", { env: { BRANDAPI_DB: brand.db } })).code).toBe(0);
  },
);

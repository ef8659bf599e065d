import { closeSync, copyFileSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join, parse } from "node:path";
import { expect, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { day, hour, noon, ordersBefore } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

const pageSize = 16_384;
const orders = ordersBefore(noon - hour, 2_000, 6 * hour);

async function synced(): Promise<TestBrand> {
  const brand = makeBrand({ orders });
  expect((await brand.run("sync orders")).code).toBe(0);
  return brand;
}

/** Damages a table in a mirror by overwriting its first page and, by default, the four pages after it. */
function damage(
  path: string,
  table = "order_line_items",
  bytes: Buffer = Buffer.alloc(5 * pageSize, 0x5a),
): void {
  const mirror = new Sqlite(path);
  mirror.pragma("wal_checkpoint(TRUNCATE)");
  const root = mirror
    .prepare("SELECT rootpage FROM sqlite_master WHERE name = ?")
    .pluck()
    .get(table) as number;
  mirror.close();
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, (root - 1) * pageSize);
  closeSync(file);
}

test("if the mirror is damaged, sync names the last backup and exits with code 3 before it requests records", async () => {
  const brand = await synced();
  const { path } = JSON.parse((await brand.run("backup --json")).out) as { path: string };
  damage(brand.db);
  brand.pass(day);
  const { requests, code, err } = await brand.run("sync orders");
  expect([code, requests.map((one) => one.path)]).toEqual([3, ["/me"]]);
  expect(err).toMatch(/^brandapi: The mirror is damaged \(.+\): /);
  expect(err).toContain(`restore the last backup: \`brandapi backup --restore ${path}\``);
  expect(err.trim().split("\n")).toHaveLength(2);
  const doctor = await brand.run("doctor");
  expect([doctor.code, doctor.out]).toEqual([3, expect.stringContaining(`--restore ${path}\``)]);
  expect(doctor.out).not.toContain("\\n");
  const sql = "SELECT sum(price) FROM order_line_items";
  for (const command of [
    ["export", "order_line_items", "--csv"],
    ["query", sql],
  ])
    expect(await brand.run(command)).toMatchObject({ code: 3, err: expect.stringContaining(path) });

  expect((await brand.run(["backup", "--restore", path])).code).toBe(0);
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(brand.lastRun().verified).toBe(1);
});

test("doctor names the last backup even if the damage makes SQLite's integrity check fail", async () => {
  const brand = await synced();
  const { path } = JSON.parse((await brand.run("backup --json")).out) as { path: string };
  // Marks the table's first page as an index page.
  damage(brand.db, "record_versions", Buffer.from([2]));
  const { code, out } = await brand.run("doctor");
  expect([code, out]).toEqual([3, expect.stringContaining(`brandapi backup --restore ${path}\``)]);
});

test("sync suggests --full if the mirror is damaged and has no backup", async () => {
  const brand = await synced();
  damage(brand.db);
  brand.pass(day);
  const { code, err } = await brand.run("sync orders");
  expect([code, err]).toEqual([3, expect.stringContaining("brandapi sync --full")]);
});

test.each(["mirror_info", "sqlite_schema"])(
  "sync names the newest backup in the default folder even if the mirror's %s table is damaged",
  async (table) => {
    const brand = await synced();
    const folder = join(brand.home, "backups");
    mkdirSync(folder);
    for (const at of ["20261119T120000000Z", "20261120T120000000Z"])
      copyFileSync(brand.db, join(folder, `${parse(brand.db).name}-${at}.sqlite`));
    copyFileSync(brand.db, join(folder, "other-20261121T120000000Z.sqlite"));
    if (table === "mirror_info") damage(brand.db, table);
    else {
      const file = openSync(brand.db, "r+");
      rmSync(`${brand.db}-wal`, { force: true });
      writeSync(file, Buffer.alloc(pageSize, 0x5a), 0, pageSize - 100, 100);
      closeSync(file);
    }
    brand.pass(day);
    const { code, err } = await brand.run("sync orders");
    const newest = join(folder, `${parse(brand.db).name}-20261120T120000000Z.sqlite`);
    expect([code, err]).toEqual([3, expect.stringContaining(`brandapi backup --restore ${newest}`)]);
  },
);

test("sync checks the mirror file for damage once a day", async () => {
  const brand = await synced();
  const checkedOn = () => brand.sql("SELECT value FROM mirror_info WHERE name = 'checked_on'");
  expect(checkedOn()).toEqual([{ value: "2026-11-21" }]);
  brand.pass(13 * hour);
  await brand.run("sync orders");
  expect(checkedOn()).toEqual([{ value: "2026-11-22" }]);
  damage(brand.db);
  const { requests } = await brand.run("sync orders");
  expect(requests.map((one) => one.path)).toContain("/orders");
});

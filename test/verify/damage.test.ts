import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { hour, noon, ordersBefore } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

/** Makes an index inconsistent with its table, a fault that SQLite does not detect during reads. */
function damageIndex({ db: path }: TestBrand): void {
  const db = new Sqlite(path);
  db.unsafeMode().pragma("writable_schema = ON");
  db.exec(
    `UPDATE sqlite_master SET sql = replace(sql, 'resource, key', 'key, resource') WHERE name = 'records_key'`,
  );
  db.close();
}

test.each(["verify orders", "verify orders --repair"])(
  "%s exits with code 3 and changes nothing if the mirror file is damaged, even if a sync already checked the file on the same day",
  async (command) => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 500, hour) });
    await brand.run("sync orders");
    damageIndex(brand);
    const before = readFileSync(brand.db);
    const { code, err } = await brand.run(command);
    expect([code, err]).toEqual([3, expect.stringContaining("backup --restore")]);
    expect(readFileSync(brand.db).equals(before)).toBe(true);
  },
);

test("verify exits with code 3 if a stored record is not valid JSON", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - hour, 50, hour), roster: [] });
  await brand.run("sync");
  const db = new Sqlite(brand.db);
  db.exec("UPDATE records SET json = '{' WHERE resource = 'orders' AND key = 'o7'");
  db.close();
  const { code, err } = await brand.run("verify --repair");
  expect([code, err]).toEqual([3, expect.stringContaining("backup --restore")]);
});

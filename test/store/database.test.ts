import { join } from "node:path";
import { expect, test } from "vitest";
import { MirrorUnusable } from "../../src/errors.js";
import {
  checkForDamage,
  closeMirror,
  connect,
  deleteInfo,
  findDamage,
  loadInfo,
  loadJsonInfo,
  type Mirror,
  saveInfo,
  saveJsonInfo,
  truncateLog,
  withMirror,
  withReadTransaction,
  withWriteTransaction,
} from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, mirrorOfOrders, writeRead } from "../support/mirror.js";
import { Sqlite } from "../support/sqlite.js";

const today = Date.parse("2026-11-20T23:59:00Z");
const tomorrow = Date.parse("2026-11-21T00:01:00Z");

/** Edits the stored schema so that rows or indexes no longer match it. */
function changeSchema({ db }: Mirror, name: string, before: string, after: string): void {
  db.unsafeMode().pragma("writable_schema = ON");
  db.prepare("UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?").run(before, after, name);
  db.pragma("writable_schema = RESET");
  db.unsafeMode(false);
}

test("a value in `mirror_info` can be written, replaced, deleted and, if it is valid JSON, read as JSON", async () => {
  const mirror = await makeMirror();
  expect([loadInfo(mirror, "brand_id"), loadJsonInfo(mirror, "omit")]).toEqual([null, null]);
  mirror.transaction(() => {
    for (const value of ["a", "b"]) saveInfo(mirror, "brand_id", value);
    saveJsonInfo(mirror, "omit", ["x"]);
  });
  expect([loadInfo(mirror, "brand_id"), loadJsonInfo(mirror, "omit")]).toEqual(["b", ["x"]]);
  expect(() => loadJsonInfo(mirror, "brand_id")).toThrow("damaged (`brand_id` in `mirror_info` is not JSON)");
  mirror.transaction(() => {
    deleteInfo(mirror, "brand_id");
    saveJsonInfo(mirror, "omit", null);
  });
  expect([loadInfo(mirror, "brand_id"), loadInfo(mirror, "omit")]).toEqual([null, null]);
});

test("the same SQL statement can return a value, a row or all rows", async () => {
  const mirror = await makeMirror();
  const sql = "SELECT value FROM json_each('[1,2]')";
  expect([mirror.selectValue(sql), mirror.selectRow(sql)]).toEqual([1, { value: 1 }]);
  expect([mirror.selectValues(sql), mirror.selectRows(sql)]).toEqual([
    [1, 2],
    [{ value: 1 }, { value: 2 }],
  ]);
});

test("a transaction blocks other writers from the start, and is committed only after the callback has ended", async () => {
  const mirror = await makeMirror();
  const other = new Sqlite(mirror.path, { timeout: 0 });
  const write = () => other.exec("INSERT INTO mirror_info VALUES ('other', '1')");
  const count = () => other.prepare("SELECT count(*) FROM mirror_info WHERE name = 'brand_id'").pluck().get();
  mirror.transaction(() => expect(write).toThrow("locked"));
  const add = async () => {
    await Promise.resolve();
    expect(write).toThrow("locked");
    saveInfo(mirror, "brand_id", "b");
    expect(count()).toBe(0);
  };
  const fail = async () => await add().then(() => Promise.reject(new Error("enough")));
  await expect(withWriteTransaction(mirror, fail)).rejects.toThrow("enough");
  expect([mirror.db.inTransaction, count()]).toEqual([false, 0]);
  await withWriteTransaction(mirror, add);
  expect([mirror.db.inTransaction, count()]).toEqual([false, 1]);
  other.close();
});

test("a read transaction does not see later writes, and ends when the callback returns", async () => {
  const path = await mirrorOfOrders(1);
  const [reader, writer] = [await connect(path, { readonly: true }), await openMirror(path)];
  const count = () => reader.selectValue("SELECT count(*) FROM orders");
  const counts = await withReadTransaction(reader, async () => {
    const before = count();
    writeRead(writer, "orders", [anOrder(9)]);
    await Promise.resolve();
    expect(truncateLog(writer)).toBe(false);
    return [before, count()];
  });
  expect([...counts, count()]).toEqual([1, 1, 2]);
  expect(truncateLog(writer)).toBe(true);
  reader.db.close();
  closeMirror(writer);
});

test("withMirror closes the mirror after the callback has ended", async () => {
  const path = await mirrorOfOrders(2);
  const opened = await withMirror(connect(path), async (mirror) => {
    await Promise.resolve();
    expect([mirror.hasFile, mirror.selectValue("SELECT count(*) FROM orders")]).toEqual([true, 2]);
    return mirror;
  });
  expect(opened.db.open).toBe(false);
});

test("connecting to a missing file fails", async () => {
  await expect(connect(join(makeHome(), "absent.sqlite"))).rejects.toThrow("cannot be opened");
});

test("closing a mirror rolls back an open transaction", async () => {
  const path = await mirrorOfOrders(1);
  const mirror = await openMirror(path);
  mirror.db.exec("BEGIN; DELETE FROM orders");
  closeMirror(mirror);
  expect(await withMirror(connect(path), (again) => again.selectValue("SELECT count(*) FROM orders"))).toBe(
    1,
  );
});

test("the mirror file is checked for damage once a day", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  const check = (now: number, complete = false) => checkForDamage(mirror, now, { complete });
  check(today);
  changeSchema(mirror, "records", "list_json TEXT", "list_json TEXT NOT NULL");
  check(today);
  expect(loadInfo(mirror, "checked_on")).toBe("2026-11-20");
  expect(findDamage(mirror)).toBe("NULL value in records.list_json");
  for (const [now, complete] of [
    [today, true],
    [tomorrow, false],
  ] as const)
    expect(() => check(now, complete)).toThrow(MirrorUnusable);
  expect(loadInfo(mirror, "checked_on")).toBe("2026-11-20");
});

test("only the full damage check compares the indexes with the tables", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  changeSchema(mirror, "records_key", "resource, key", "key, resource");
  checkForDamage(mirror, today, { complete: false });
  const check = () => checkForDamage(mirror, tomorrow, { complete: true });
  expect(check).toThrow(/damaged \(.*records_key/);
});

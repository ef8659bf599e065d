import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigurationError, MirrorUnusable } from "../../src/errors.js";
import {
  backupFolder,
  backupName,
  copyMirror,
  explainCopyError,
  findLastBackup,
  isBackupName,
  lastBackupHint,
  loadOrigin,
  replaceMirror,
} from "../../src/store/backups.js";
import { saveInfo, saveJsonInfo } from "../../src/store/database.js";
import { createFolder } from "../../src/util/files.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, mirrorOfOrders, writeRead } from "../support/mirror.js";
import { Sqlite } from "../support/sqlite.js";

test("if the mirror is missing, the hint names the newest backup in the mirror's backup folder", async () => {
  const path = join(makeHome(), "acme.sqlite");
  expect(await lastBackupHint(path)).toBeNull();
  createFolder(backupFolder(path), 0o700);
  const times = ["2026-11-01T04:00:00.000Z", "2026-11-22T04:00:00.000Z", "2026-10-05T04:00:00.000Z"];
  for (const at of times) writeFileSync(join(backupFolder(path), backupName(path, at)), "");
  writeFileSync(join(backupFolder(path), backupName("basalt.sqlite", "2026-11-30T04:00:00.000Z")), "");
  expect(await lastBackupHint(path)).toContain("acme-20261122T040000000Z.sqlite");
  expect(backupName(path, times[0] ?? "", "-2")).toBe("acme-2-20261101T040000000Z.sqlite");
});

test("findLastBackup returns the backup recorded in the mirror only if that file still exists", async () => {
  const mirror = await makeMirror();
  expect(findLastBackup(mirror)).toBeNull();
  const backup = { at: "2026-11-01T04:00:00.000Z", path: join(makeHome(), "elsewhere.sqlite") };
  mirror.transaction(() => saveJsonInfo(mirror, "last_backup", backup));
  expect(findLastBackup(mirror)).toBeNull();
  writeFileSync(backup.path, "");
  expect(findLastBackup(mirror)).toEqual(backup);
  expect(await lastBackupHint(mirror.path)).toContain(`brandapi backup --restore ${backup.path}`);
});

test.each([
  ["acme-20261122T040000000Z.sqlite", "is"],
  ["acme-before-migration-20261122T040000000Z.sqlite", "is not"],
  ["acme.sqlite", "is not"],
  ["acme-2-20261122T040000000Z.sqlite", "is not"],
  ["acme-20261122T040000000Z.sqlite.old", "is not"],
])("%s %s the name of a manual backup of acme.sqlite", (name, expected) => {
  expect(isBackupName(name, "/data/acme.sqlite")).toBe(expected === "is");
});

test("a copy of a mirror is private, works without a write-ahead log, and contains the records that existed when copying started", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2), anOrder(3)]);
  const copy = join(makeHome(), "copy.sqlite");
  const count = await copyMirror(mirror.path, copy, async (work) => {
    writeRead(mirror, "orders", [anOrder(4)]);
    return await work();
  });
  expect([count, statSync(copy).mode & 0o777, existsSync(`${copy}-wal`)]).toEqual([3, 0o600, false]);
  const db = new Sqlite(copy, { readonly: true });
  expect(db.pragma("journal_mode", { simple: true })).toBe("delete");
  expect(db.prepare("SELECT count(*) FROM records").pluck().get()).toBe(3);
  db.close();
});

test("copying a mirror fails if the mirror is empty or damaged, if the target file exists, or if the target folder is missing", async () => {
  const path = await mirrorOfOrders();
  const home = makeHome();
  const [empty, used] = [join(home, "empty.sqlite"), join(home, "used.sqlite")];
  for (const file of [empty, used]) writeFileSync(file, "");
  await expect(copyMirror(empty, join(home, "copy.sqlite"))).rejects.toThrow("it is empty");
  await expect(copyMirror(path, used)).rejects.toThrow(ConfigurationError);
  expect(readFileSync(used, "utf8")).toBe("");
  await expect(copyMirror(path, join(home, "absent", "copy.sqlite"))).rejects.toThrow(
    "Cannot write to the folder",
  );
  const db = new Sqlite(path);
  db.unsafeMode().pragma("writable_schema = ON");
  db.exec(
    "UPDATE sqlite_master SET sql = replace(sql, 'resource, key', 'key, resource') WHERE name = 'records_key'",
  );
  db.close();
  await expect(copyMirror(path, join(home, "copy.sqlite"))).rejects.toThrow(
    /cannot be copied \(.*records_key\)/,
  );
});

const failure = (code: string) => Object.assign(new Error("reason"), { code });

test.each([
  [
    "SQLITE_CORRUPT_INDEX",
    "states that the mirror cannot be copied",
    MirrorUnusable,
    /mirror cannot be copied \(reason\): from.sqlite/,
  ],
  ["SQLITE_FULL", "names the folder of the copy", ConfigurationError, /copy to the folder \/copies: reason/],
  [
    "SQLITE_IOERR_WRITE",
    "names the folder of the copy",
    ConfigurationError,
    /copy to the folder \/copies: reason/,
  ],
])("if copying a mirror fails with %s, the error %s", (code, _, type, message) => {
  for (const error of [failure(code), new Error("wrapped", { cause: failure(code) })]) {
    const explained = explainCopyError(error, "from.sqlite", "/copies");
    expect(explained).toBeInstanceOf(type);
    expect((explained as Error).message).toMatch(message);
  }
});

test("explainCopyError returns null for a busy mirror and for an error that SQLite did not raise", () => {
  for (const error of [failure("SQLITE_BUSY"), new Error("enough")])
    expect(explainCopyError(error, "from.sqlite", "/copies")).toBeNull();
});

test("a mirror's origin consists of the brand and the time of the first read, so later reads do not change the origin", async () => {
  const mirror = await makeMirror();
  mirror.transaction(() => saveInfo(mirror, "brand_id", "b1"));
  expect(loadOrigin(mirror)).toBeNull();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-01T00:00:00.000Z" });
  writeRead(mirror, "orders", [anOrder(2)], { at: "2026-11-02T00:00:00.000Z" });
  expect(loadOrigin(mirror)).toBe("b1 2026-11-01T00:00:00.000Z");
});

test("replacing a mirror moves the old file and its log to a different name, and fails if that name is taken", () => {
  const home = makeHome();
  const at = (name: string) => join(home, name);
  const content = (...names: string[]) =>
    names.map((name) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : null));
  writeFileSync(at("first"), "first");
  replaceMirror(at("first"), at("mirror"), at("aside"));
  expect(content("first", "mirror", "aside")).toEqual([null, "first", null]);
  for (const name of ["second", "third"]) writeFileSync(at(name), name);
  writeFileSync(at("mirror-wal"), "log");
  replaceMirror(at("second"), at("mirror"), at("aside"));
  expect(content("second", "mirror", "mirror-wal", "aside", "aside-wal")).toEqual([
    null,
    "second",
    null,
    "first",
    "log",
  ]);
  expect(() => replaceMirror(at("third"), at("mirror"), at("aside"))).toThrow("EEXIST");
  expect(content("third", "mirror", "aside")).toEqual(["third", "second", "first"]);
});

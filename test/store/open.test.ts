import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/deps.js";
import { MirrorBusy, MirrorUnusable } from "../../src/errors.js";
import { readFileId } from "../../src/store/mirror-files.js";
import { lockMirror } from "../../src/store/mirror-lock.js";
import {
  mirrorExists,
  openMirror,
  openMirrorForPlan,
  openMirrorForReading,
  openMirrorOrEmpty,
} from "../../src/store/open.js";
import { applicationId, migrations } from "../../src/store/schema.js";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";
import { Sqlite, sqlitePath } from "../support/sqlite.js";

async function openForTest(path: string) {
  const mirror = await openMirror(path);
  onTestFinished(() => void mirror.db.close());
  return mirror;
}

const options = { wait: false, clock: systemClock, signal: new AbortController().signal };

test("opening a new mirror creates a private file with an application ID and a schema version", async () => {
  const path = join(makeHome(), "deep", "mirror.sqlite");
  const { db } = await openForTest(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  expect(db.pragma("application_id", { simple: true })).toBe(applicationId);
  expect(db.pragma("user_version", { simple: true })).toBe(migrations.length);
  expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
});

test("temporary data is kept in memory because read-only systems have no writable temporary folder", async () => {
  const { db, path } = await makeMirror();
  const reader = await openMirrorForReading(path);
  const inMemory = 2;
  expect(db.pragma("temp_store", { simple: true })).toBe(inMemory);
  expect(reader.db.pragma("temp_store", { simple: true })).toBe(inMemory);
  reader.db.close();
});

test("opening a mirror initializes an empty file left behind by a killed process", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  writeFileSync(path, "");
  const { db } = await openForTest(path);
  expect(db.pragma("page_size", { simple: true })).toBe(16_384);
  expect(db.pragma("user_version", { simple: true })).toBeGreaterThan(0);
});

test("the write-ahead log that a moved mirror left behind is not applied to a new mirror at the same path", async () => {
  const home = makeHome();
  const path = join(home, "mirror.sqlite");
  await openForTest(path);
  const other = new Sqlite(path).exec("CREATE TABLE other (n)");
  rmSync(path);
  const { db } = await openMirror(path);
  expect(db.prepare("SELECT name FROM sqlite_master WHERE name = 'other'").all()).toEqual([]);
  expect(readdirSync(home)).toContain("mirror.sqlite-old-wal");
  other.close();
  db.close();
});

test("opening a symbolic link to a missing mirror creates the mirror and its lock at the link's target", async () => {
  const home = makeHome();
  const [link, target] = [join(home, "mirror.sqlite"), join(home, "disk", "brand.sqlite")];
  symlinkSync(join("disk", "brand.sqlite"), link);
  const lock = await lockMirror(link, options);
  expect(statSync(`${target}-lock`).isFile()).toBe(true);
  const mirror = await openForTest(link);
  expect(mirror.fileId).toBe(readFileId(target));
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  await expect(lockMirror(link, options)).rejects.toBeInstanceOf(MirrorBusy);
  lock.release();
});

const cases: [string, (path: string) => void, RegExp][] = [
  ["a mirror from a newer version", newer, /written by a newer version of brandapi/],
  ["another program's database", foreign, /Not a brandapi mirror/],
  [
    "another program's database with a schema version",
    (path) => foreign(path, "user_version = 1"),
    /Not a brandapi mirror/,
  ],
  ["another program's empty database", (path) => empty(path, "application_id = 5"), /Not a brandapi mirror/],
  [
    "an empty database with a schema version",
    (path) => empty(path, "user_version = 1"),
    /Not a brandapi mirror/,
  ],
  [
    "a file that is not a database",
    (path) => writeFileSync(path, "name,amount\n".repeat(200)),
    /is not an SQLite database/,
  ],
];
cases.push(
  ["a mirror without a schema version", (path) => unversioned(path, 0), /Not a brandapi mirror/],
  ["a mirror with an impossible schema version", (path) => unversioned(path, -1), /Not a brandapi mirror/],
);
test.each(cases)("opening %s fails and does not change the file", async (_, make, message) => {
  const path = join(makeHome(), "other.sqlite");
  make(path);
  const before = readFileSync(path);
  for (const open of [openMirror, openMirrorForReading, openMirrorOrEmpty]) {
    const error = await open(path).then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(MirrorUnusable);
    expect((error as Error).message).toMatch(message);
  }
  expect(readFileSync(path).equals(before)).toBe(true);
});

function unversioned(path: string, version: number) {
  const db = new Sqlite(path);
  for (const step of migrations) db.exec(step);
  db.exec("INSERT INTO records (resource, key, json, since_at) VALUES ('orders', 'o', '{}', '2026')");
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${version}`);
  db.close();
}

function newer(path: string) {
  const db = new Sqlite(path);
  db.exec("CREATE TABLE records (future TEXT)");
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${migrations.length + 1}`);
  db.close();
}

function foreign(path: string, pragma = "user_version = 0") {
  const db = new Sqlite(path);
  db.exec("CREATE TABLE invoices (id TEXT)");
  db.pragma(pragma);
  db.close();
}

function empty(path: string, pragma: string) {
  const db = new Sqlite(path);
  db.pragma(pragma);
  db.close();
}

test("opening a missing mirror for reading fails, a dry run uses an empty mirror instead, and neither creates the file", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  const openings = [openMirrorOrEmpty, openMirrorForPlan];
  await expect(openMirrorForReading(path)).rejects.toThrow("ENOENT");
  for (const content of [null, ""]) {
    if (content !== null) writeFileSync(path, content);
    expect(mirrorExists(path)).toBe(false);
    for (const open of openings) {
      const { db, hasFile } = await open(path);
      expect([hasFile, db.prepare("SELECT count(*) FROM records").pluck().get()]).toEqual([false, 0]);
      db.close();
    }
    expect(existsSync(path)).toBe(content !== null);
  }
  await expect(openMirrorForReading(path)).rejects.toThrow("The mirror is empty");
  (await openForTest(path)).db.pragma("wal_checkpoint");
  expect(mirrorExists(path)).toBe(true);
});

test("a dry run rebuilds outdated tables only in a copy of the mirror, and opens an up-to-date mirror directly", async () => {
  const { db, path } = await makeMirror();
  const current = await openMirrorForPlan(path);
  expect(current.hasFile).toBe(true);
  expect(() => current.db.exec("DELETE FROM mirror_info")).toThrow(/readonly/);
  current.db.close();
  const count = "SELECT count(*) FROM sqlite_master WHERE name = 'orders_removed'";
  db.exec("DROP TABLE orders_removed");
  const copy = await openMirrorForPlan(path);
  expect([copy.hasFile, copy.selectValue(count), db.prepare(count).pluck().get()]).toEqual([false, 1, 0]);
  copy.db.close();
});

test("opening a mirror for reading recreates a missing view", async () => {
  const { db, path } = await makeMirror();
  db.exec("DROP VIEW orders_net");
  const reader = await openMirrorForReading(path);
  expect(reader.selectValues("SELECT count(*) FROM orders_net")).toEqual([0]);
  reader.db.close();
});

test("an open mirror has a busy timeout of one second and a write-protected schema", async () => {
  const { db } = await openForTest(join(makeHome(), "mirror.sqlite"));
  expect(db.pragma("busy_timeout", { simple: true })).toBe(1_000);
  expect(db.pragma("writable_schema", { simple: true })).toBe(0);
  db.pragma("writable_schema = ON");
  expect(() => db.exec("UPDATE sqlite_master SET sql = NULL")).toThrow("may not be modified");
});

test.each([
  ["a folder", () => makeHome(), /must be a file, not a folder or a device/],
  ["a device", () => "/dev/null", /must be a file, not a folder or a device/],
  ["a device file", () => "/dev/full", /must be a file, not a folder or a device/],
])("opening %s as a mirror fails and creates no file", async (_, make, message) => {
  const path = make();
  for (const open of [openMirror, openMirrorForReading, openMirrorOrEmpty, () => lockMirror(path, options)])
    await expect(open(path)).rejects.toThrow(message);
  expect(statSync(`${path}-lock`, { throwIfNoEntry: false })).toBeUndefined();
});

test("opening a mirror for reading does not wait for a write transaction", async () => {
  const { db, path } = await makeMirror();
  db.exec("BEGIN IMMEDIATE; INSERT INTO mirror_info VALUES ('x', 'y')");
  const reader = await openMirrorForReading(path);
  try {
    expect(reader.db.prepare("SELECT value FROM mirror_info WHERE name = 'x'").get()).toBeUndefined();
    expect(() => reader.db.exec("DELETE FROM mirror_info")).toThrow(/readonly/);
  } finally {
    reader.db.close();
    db.exec("ROLLBACK");
  }
});

test("while a run holds the lock, opening a mirror for reading does not rebuild outdated tables, even if the schema version is current", async () => {
  const { db, path } = await makeMirror();
  const outdatedRules = "outdated";
  db.prepare("UPDATE mirror_info SET value = ? WHERE name = 'host_names'").run(outdatedRules);
  const readRules = () => db.prepare("SELECT value FROM mirror_info WHERE name = 'host_names'").pluck().get();
  const lock = await lockMirror(path, options);
  await expect(openMirrorForReading(path)).rejects.toBeInstanceOf(MirrorBusy);
  expect(readRules()).toBe(outdatedRules);
  lock.release();
  (await openMirrorForReading(path)).db.close();
  expect(readRules()).not.toBe(outdatedRules);
});

test("if a newer version migrates a mirror while an older version opens it, the older version fails and does not change the mirror", async () => {
  const { db, path } = await makeMirror();
  const newerVersion = migrations.length + 1;
  const brands = {
    // Simulates the migration. `openMirror` reads this property after it has checked the mirror's version.
    get ofKey() {
      db.pragma(`user_version = ${newerVersion}`);
      return { id: "b", name: "Fjell" };
    },
    ofProfile: undefined,
  };
  await expect(openMirror(path, { brands })).rejects.toThrow(/^The mirror was written by a newer version/);
  expect(db.pragma("user_version", { simple: true })).toBe(newerVersion);
});

test.each([
  ["openMirrorForReading", openMirrorForReading],
  ["openMirrorForPlan", openMirrorForPlan],
])("%s closes the connection if a table is missing", async (_, open) => {
  const { db, path } = await makeMirror();
  db.exec("DROP TABLE mirror_info");
  const close = vi.spyOn(Sqlite.prototype, "close");
  onTestFinished(() => close.mockRestore());
  await expect(open(path)).rejects.toThrow("mirror_info");
  expect(close).toHaveBeenCalledOnce();
});

test("a mirror's lock blocks a second run until the first run releases it", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  const first = await lockMirror(path, options);
  await expect(lockMirror(path, options)).rejects.toBeInstanceOf(MirrorBusy);
  first.release();
  (await lockMirror(path, options)).release();
});

test("killing the process that holds a mirror's lock releases the lock, even though the lock file remains", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  const script = `const Sqlite = require(${JSON.stringify(sqlitePath)});
    new Sqlite(${JSON.stringify(`${path}-lock`)}).exec("BEGIN EXCLUSIVE");
    console.log("held"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await expect(lockMirror(path, options)).rejects.toBeInstanceOf(MirrorBusy);
  child.kill("SIGKILL");
  await once(child, "close");
  expect(statSync(`${path}-lock`).isFile()).toBe(true);
  (await lockMirror(path, options)).release();
});

test("a signal interrupts the wait for a mirror's lock", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  const first = await lockMirror(path, options);
  const stop = new AbortController();
  const waiting = lockMirror(path, { ...options, wait: true, signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  first.release();
});

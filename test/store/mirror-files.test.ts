import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  checkMirrorPath,
  checkNotReplaced,
  createMirrorFolder,
  isWritable,
  mirrorFiles,
  moveLogFiles,
  readFileId,
  readIntoMemory,
  resolveMirrorPath,
} from "../../src/store/mirror-files.js";
import { makeHome } from "../support/home.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { Sqlite } from "../support/sqlite.js";

test.each([
  ["contains a mirror, the hint suggests that file", ["notes.txt", "acme.sqlite"], /--db .*\/acme\.sqlite/],
  [
    "contains no mirror, the hint suggests the file mirror.sqlite in that folder",
    ["notes.txt"],
    /--db .*\/mirror\.sqlite/,
  ],
])("if the path of a mirror is a folder that %s", (_, names, hint) => {
  const folder = makeHome();
  for (const name of names) writeFileSync(join(folder, name), "");
  expect(() => checkMirrorPath(folder)).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(hint) }),
  );
});

test("if a mirror's path is a device, the hint asks for the path of a file", () => {
  const hint = "choose a file with `--db`";
  expect(() => checkMirrorPath("/dev/null")).toThrow(expect.objectContaining({ hint }));
});

test("moving a mirror's log files leaves the lock file in place", () => {
  const path = join(makeHome(), "mirror.sqlite");
  for (const file of mirrorFiles(path)) writeFileSync(file, "");
  moveLogFiles(path, `${path}-old`);
  expect(mirrorFiles(path).filter((file) => existsSync(file))).toEqual([path, `${path}-lock`]);
  const moved = ["-wal", "-shm", "-journal"].map((end) => `${path}-old${end}`);
  expect(mirrorFiles(`${path}-old`).filter((file) => existsSync(file))).toEqual(moved);
});

test("an in-memory mirror stays usable if a file appears at its path, but an open mirror file is rejected if it was replaced", () => {
  const path = join(makeHome(), "mirror.sqlite");
  writeFileSync(path, "");
  expect(() => checkNotReplaced({ fileId: null, path })).not.toThrow();
  expect(() => checkNotReplaced({ fileId: readFileId(path), path })).not.toThrow();
  expect(() => checkNotReplaced({ fileId: "0:0", path })).toThrow("was replaced");
});

test("reading a mirror into memory fails if the write-ahead log contains changes, but not if the log is empty or missing", async () => {
  const path = await mirrorOfOrders();
  expect(readFileSync(path)[18]).toBe(2);
  const link = join(makeHome(), "link.sqlite");
  symlinkSync(path, link);
  expect(existsSync(`${path}-wal`)).toBe(false);
  for (const writeLog of [() => {}, () => writeFileSync(`${path}-wal`, "")]) {
    writeLog();
    const db = new Sqlite(readIntoMemory(link));
    expect(db.prepare("SELECT count(*) FROM orders").pluck().get()).toBe(3);
    db.close();
  }
  writeFileSync(`${path}-wal`, "changes");
  for (const name of [path, link]) expect(() => readIntoMemory(name)).toThrow("some of its data is in a log");
});

test("in a linked folder, a relative link to a missing mirror is resolved relative to the folder's real location", () => {
  const home = makeHome();
  mkdirSync(join(home, "deep", "folder"), { recursive: true });
  symlinkSync(join("deep", "folder"), join(home, "link"));
  symlinkSync(join("..", "brand.sqlite"), join(home, "link", "mirror.sqlite"));
  expect(resolveMirrorPath(join(home, "link", "mirror.sqlite"))).toBe(
    join(realpathSync(home), "deep", "brand.sqlite"),
  );
});

test("resolving the path of a mirror in a missing folder does not create the folder", () => {
  const home = makeHome();
  const path = join(home, "new", "folder", "mirror.sqlite");
  expect(resolveMirrorPath(path)).toBe(join(realpathSync(home), "new", "folder", "mirror.sqlite"));
  expect(existsSync(join(home, "new"))).toBe(false);
  expect(createMirrorFolder(path)).toBe(resolveMirrorPath(path));
  expect(existsSync(join(home, "new", "folder"))).toBe(true);
});

test("reading a mirror of 2 GiB into memory fails because the file is too large", () => {
  const path = join(makeHome(), "mirror.sqlite");
  writeFileSync(path, "");
  truncateSync(path, 2 ** 31);
  expect(() => readIntoMemory(path)).toThrow("larger than 2 GiB");
});

test("isWritable returns false for a file that does not exist, and true once it has been created", () => {
  const path = join(makeHome(), "mirror.sqlite");
  expect(isWritable(path)).toBe(false);
  writeFileSync(path, "");
  expect(isWritable(path)).toBe(true);
});

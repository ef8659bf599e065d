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
  ["a folder with a mirror", ["notes.txt", "acme.sqlite"], /--db .*\/acme\.sqlite/],
  ["a folder without a mirror", ["notes.txt"], /--db .*\/mirror\.sqlite/],
])("the hint for %s suggests a file in it", (_, names, hint) => {
  const folder = makeHome();
  for (const name of names) writeFileSync(join(folder, name), "");
  expect(() => checkMirrorPath(folder)).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(hint) }),
  );
});

test("the hint for a device asks for a file", () => {
  const hint = "choose a file with `--db`";
  expect(() => checkMirrorPath("/dev/null")).toThrow(expect.objectContaining({ hint }));
});

test("the log files of a mirror are moved, but not its lock", () => {
  const path = join(makeHome(), "mirror.sqlite");
  for (const file of mirrorFiles(path)) writeFileSync(file, "");
  moveLogFiles(path, `${path}-old`);
  expect(mirrorFiles(path).filter((file) => existsSync(file))).toEqual([path, `${path}-lock`]);
  const moved = ["-wal", "-shm", "-journal"].map((end) => `${path}-old${end}`);
  expect(mirrorFiles(`${path}-old`).filter((file) => existsSync(file))).toEqual(moved);
});

test("a mirror in memory is not replaced by a file that appears at its path", () => {
  const path = join(makeHome(), "mirror.sqlite");
  writeFileSync(path, "");
  expect(() => checkNotReplaced({ fileId: null, path })).not.toThrow();
  expect(() => checkNotReplaced({ fileId: readFileId(path), path })).not.toThrow();
  expect(() => checkNotReplaced({ fileId: "0:0", path })).toThrow("was replaced");
});

test("a mirror that is read into memory does not need its log, unless the log contains changes", async () => {
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

test("a relative link to a missing mirror is resolved from the real location of the link's folder", () => {
  const home = makeHome();
  mkdirSync(join(home, "deep", "folder"), { recursive: true });
  symlinkSync(join("deep", "folder"), join(home, "link"));
  symlinkSync(join("..", "brand.sqlite"), join(home, "link", "mirror.sqlite"));
  expect(resolveMirrorPath(join(home, "link", "mirror.sqlite"))).toBe(
    join(realpathSync(home), "deep", "brand.sqlite"),
  );
});

test("a file of 2 GiB is too large to be read into memory", () => {
  const path = join(makeHome(), "mirror.sqlite");
  writeFileSync(path, "");
  truncateSync(path, 2 ** 31);
  expect(() => readIntoMemory(path)).toThrow("larger than 2 GiB");
});

test("a missing file is not writable", () => {
  const path = join(makeHome(), "mirror.sqlite");
  expect(isWritable(path)).toBe(false);
  writeFileSync(path, "");
  expect(isWritable(path)).toBe(true);
});

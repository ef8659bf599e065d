import { existsSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MirrorUnusable } from "../../src/errors.js";
import { closeMirror, type Mirror, withWriteTransaction } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";
import { Sqlite } from "../support/sqlite.js";

/** Reads the committed notes through a separate connection. */
function notes(path: string): unknown[] {
  const db = new Sqlite(path);
  try {
    return db.prepare("SELECT name FROM mirror_info WHERE name LIKE 'note%' ORDER BY name").pluck().all();
  } finally {
    db.close();
  }
}

function addNote(mirror: Mirror, name: string): void {
  mirror.execute("INSERT INTO mirror_info VALUES (?, '1')", name);
}

function fails(): never {
  throw new Error("enough");
}

test("a transaction, even a nested one, is committed completely or not at all", async () => {
  const mirror = await makeMirror();
  const note = (name: string) => addNote(mirror, name);
  mirror.transaction(() => {
    note("note 1");
    mirror.transaction(() => note("note 2"));
    const undone = () => {
      note("note 3");
      fails();
    };
    expect(() => mirror.transaction(undone)).toThrow("enough");
  });
  const all = () => {
    mirror.transaction(() => note("note 4"));
    fails();
  };
  expect(() => mirror.transaction(all)).toThrow("enough");
  expect(notes(mirror.path)).toEqual(["note 1", "note 2"]);
});

test("a statement that writes outside a transaction is rejected", async () => {
  const mirror = await makeMirror();
  expect(() => addNote(mirror, "note 1")).toThrow("no transaction is open");
  expect(notes(mirror.path)).toEqual([]);
});

const replacements: [string, RegExp, (path: string) => void][] = [
  ["removed", /was moved or removed during/, (path) => rmSync(path)],
  ["moved away", /was moved or removed during/, (path) => renameSync(path, `${path}.old`)],
  ["replaced", /was replaced by another file during/, (path) => renameSync(`${path}.other`, path)],
];

type Commit = (mirror: Mirror, path: string, replaceFile: (path: string) => void) => void | Promise<void>;

const waysToCommit: [string, Commit][] = [
  [
    "an asynchronous transaction",
    (mirror, path, replaceFile) =>
      withWriteTransaction(mirror, async () => {
        addNote(mirror, "note 2");
        replaceFile(path);
      }),
  ],
  [
    "a transaction",
    (mirror, path, replaceFile) =>
      mirror.transaction(() => {
        addNote(mirror, "note 2");
        replaceFile(path);
      }),
  ],
  [
    "the run",
    (mirror, path, replaceFile) => {
      replaceFile(path);
      closeMirror(mirror);
    },
  ],
];

const cases = replacements.flatMap(([what, message, replaceFile]) =>
  waysToCommit.map(([when, commit]) => [what, when, message, replaceFile, commit] as const),
);

test.each(cases)(
  "a commit fails if the mirror is %s before %s ends",
  async (_, __, message, replaceFile, commit) => {
    const path = join(makeHome(), "mirror.sqlite");
    (await openMirror(`${path}.other`)).db.close();
    const mirror = await openMirror(path);
    mirror.transaction(() => addNote(mirror, "note 1"));
    await expect(async () => await commit(mirror, path, replaceFile)).rejects.toThrow(message);
    expect(mirror.db.open && mirror.db.inTransaction).toBe(false);
    if (mirror.db.open) expect(() => closeMirror(mirror)).toThrow(MirrorUnusable);
    // The moved file contains all committed changes, and its log is not applied to the new file.
    if (existsSync(`${path}.old`)) expect(notes(`${path}.old`)).toEqual(["note 1"]);
    if (existsSync(path)) expect(notes(path)).toEqual([]);
  },
);

test("a commit fails if the symbolic link to the mirror has been redirected to a different file", async () => {
  const home = makeHome();
  const [link, other] = [join(home, "link.sqlite"), join(home, "other.sqlite")];
  for (const name of ["first.sqlite", "other.sqlite"]) (await openMirror(join(home, name))).db.close();
  symlinkSync(join(home, "first.sqlite"), link);
  const mirror = await openMirror(link);
  rmSync(link);
  symlinkSync(other, link);
  expect(() => mirror.transaction(() => addNote(mirror, "note 1"))).toThrow(/was replaced/);
  expect(() => closeMirror(mirror)).toThrow(/was replaced/);
  expect(notes(other)).toEqual([]);
});

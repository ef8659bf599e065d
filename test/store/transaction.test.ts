import { existsSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MirrorUnusable } from "../../src/errors.js";
import { beginTransaction, closeMirror, type Mirror, writeInfo } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { makeHome } from "../support/home.js";
import { Sqlite } from "../support/sqlite.js";
import { mirrorForTest } from "./record-mirror.js";

/** The notes of a mirror's file, read by a connection of its own. */
function notes(path: string): unknown[] {
  const db = new Sqlite(path);
  try {
    return db.prepare("SELECT name FROM mirror_info WHERE name LIKE 'note%' ORDER BY name").pluck().all();
  } finally {
    db.close();
  }
}

function fails(): never {
  throw new Error("enough");
}

test("a transaction keeps all or nothing, also of what is written inside it", async () => {
  const mirror = await mirrorForTest();
  const note = (name: string) => writeInfo(mirror, name, "1");
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

test("an open transaction ends once, and commits nothing after SQLite has rolled it back", async () => {
  const mirror = await mirrorForTest();
  const commit = beginTransaction(mirror);
  mirror.transaction(() => writeInfo(mirror, "note 1", "1"));
  expect(mirror.db.inTransaction).toBe(true);
  commit();
  commit();
  expect(mirror.db.inTransaction).toBe(false);
  const commitSecond = beginTransaction(mirror);
  writeInfo(mirror, "note 2", "1");
  mirror.db.exec("ROLLBACK");
  commitSecond();
  expect(notes(mirror.path)).toEqual(["note 1"]);
});

describe("a run whose mirror's file is not the one that was opened", () => {
  const happenings: [string, RegExp, (path: string) => void][] = [
    ["removed", /was moved away or removed during/, (path) => rmSync(path)],
    ["moved away", /was moved away or removed during/, (path) => renameSync(path, `${path}.old`)],
    ["replaced", /was replaced by another file during/, (path) => renameSync(`${path}.other`, path)],
  ];

  const waysToCommit: [string, (mirror: Mirror, path: string, happen: (path: string) => void) => void][] = [
    [
      "a transaction",
      (mirror, path, happen) =>
        mirror.transaction(() => {
          writeInfo(mirror, "note 2", "1");
          happen(path);
        }),
    ],
    [
      "an open transaction",
      (mirror, path, happen) => {
        const commit = beginTransaction(mirror);
        writeInfo(mirror, "note 2", "1");
        happen(path);
        commit();
      },
    ],
    [
      "the end",
      (mirror, path, happen) => {
        happen(path);
        closeMirror(mirror);
      },
    ],
  ];

  const cases = happenings.flatMap(([what, message, happen]) =>
    waysToCommit.map(([when, commit]) => [what, when, message, happen, commit] as const),
  );

  test.each(cases)(
    "%s before %s: it ends, and keeps nothing more",
    async (_, __, message, happen, commit) => {
      const path = join(makeHome(), "mirror.sqlite");
      (await openMirror(`${path}.other`)).db.close();
      const mirror = await openMirror(path);
      mirror.transaction(() => writeInfo(mirror, "note 1", "1"));
      expect(() => commit(mirror, path, happen)).toThrow(message);
      expect(mirror.db.open && mirror.db.inTransaction).toBe(false);
      if (mirror.db.open) expect(() => closeMirror(mirror)).toThrow(MirrorUnusable);
      // The file that was moved has all that was kept, the one that took its place is not read with its log.
      if (existsSync(`${path}.old`)) expect(notes(`${path}.old`)).toEqual(["note 1"]);
      if (existsSync(path)) expect(notes(path)).toEqual([]);
    },
  );

  test("a link that leads elsewhere is another mirror", async () => {
    const home = makeHome();
    const [link, other] = [join(home, "link.sqlite"), join(home, "other.sqlite")];
    for (const name of ["first.sqlite", "other.sqlite"]) (await openMirror(join(home, name))).db.close();
    symlinkSync(join(home, "first.sqlite"), link);
    const mirror = await openMirror(link);
    rmSync(link);
    symlinkSync(other, link);
    expect(() => mirror.transaction(() => writeInfo(mirror, "note 1", "1"))).toThrow(/was replaced/);
    expect(() => closeMirror(mirror)).toThrow(/was replaced/);
    expect(notes(other)).toEqual([]);
  });
});

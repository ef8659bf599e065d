import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { openMirrorReadOnly, withSnapshot } from "../../src/query/index.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

/** A mirror of some orders, opened for reading, and another beside it. */
async function reading() {
  const home = makeHome();
  const path = join(home, "mirror.sqlite");
  const first = await makeMirror(home);
  writeRead(first, "orders", [anOrder(1), anOrder(2)]);
  first.db.close();
  copyFileSync(path, join(home, "other.sqlite"));
  const other = new Sqlite(join(home, "other.sqlite"));
  other.exec("UPDATE orders SET currency = 'ZZZ'");
  other.close();
  return { home, path, mirror: await openMirrorReadOnly(path) };
}

test.each([
  ["written over it", "cp other.sqlite mirror.sqlite"],
  ["moved over it", "mv other.sqlite mirror.sqlite"],
  ["deleted", "rm mirror.sqlite"],
] as const)(
  "a mirror that is read while another is %s: no mixture of both is told as one state",
  async (_, typed) => {
    const { home, mirror } = await reading();
    const currencies = () => mirror.db.prepare("SELECT currency FROM orders").pluck().all();
    const read = withSnapshot(mirror, async () => {
      const before = currencies();
      execFileSync("sh", ["-c", typed], { cwd: home });
      return [...before, ...currencies()];
    });
    if (typed.startsWith("cp"))
      await expect(read).rejects.toThrow(/The mirror was overwritten in the middle/);
    else expect(await read).toEqual(["EUR", "EUR", "EUR", "EUR"]);
    mirror.db.close();
  },
);

test.each([
  ["writes", "INSERT INTO mirror_info VALUES ('a', 'b')"],
  ["writes, and brings its log in", "INSERT INTO mirror_info VALUES ('a', 'b'); PRAGMA wal_checkpoint"],
  ["packs the file", "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"],
])(
  "a mirror that is read while another program %s: it is read as it was, and that is well",
  async (_, sql) => {
    const { path, mirror } = await reading();
    const there = await withSnapshot(mirror, async () => {
      const before = mirror.db.prepare("SELECT count(*) FROM mirror_info").pluck().get();
      const writer = new Sqlite(path);
      writer.exec(sql);
      writer.close();
      return [before, mirror.db.prepare("SELECT count(*) FROM mirror_info").pluck().get()];
    });
    expect(there[0]).toBe(there[1]);
    // Once more, with what is left in the log.
    await withSnapshot(mirror, async () => mirror.db.prepare("SELECT 1 FROM orders").get());
    mirror.db.close();
  },
);

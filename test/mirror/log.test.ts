import { truncateSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { openLog } from "../../src/mirror/log.js";
import { makeHome } from "../support/home.js";

/** A database of which nothing is brought in from its log by itself; `add` commits one more row of many bytes. */
function database() {
  const path = join(makeHome(), "some.sqlite");
  const db = new Sqlite(path);
  db.pragma("journal_mode = WAL");
  db.pragma("wal_autocheckpoint = 0");
  db.exec("CREATE TABLE things (bytes BLOB)");
  const firstPages: Buffer[] = [];
  const log = openLog(`${path}-wal`, (page) => void firstPages.push(Buffer.from(page)));
  onTestFinished(() => {
    db.close();
    log.close();
  });
  const add = () => db.exec("INSERT INTO things VALUES (randomblob(9000))");
  const pages = () => (db.pragma("wal_checkpoint(NOOP)") as { log: number }[])[0]?.log ?? 0;
  return { path, db, log, add, pages, firstPages };
}

describe("a log", () => {
  test("holds what was committed, is proven on as it grows, and is proven anew when it begins anew", () => {
    const { db, log, add, pages } = database();
    for (let n = 0; n < 20; n += 1) {
      add();
      expect(log.holds(pages())).toBe(true);
    }
    const before = pages();
    db.pragma("wal_checkpoint(PASSIVE)");
    add();
    expect(pages()).toBeLessThan(before);
    expect(log.holds(pages())).toBe(true);
  });

  test("names each first page of the database that it has", () => {
    const { db, log, add, pages, firstPages } = database();
    add();
    log.holds(pages());
    const newest = firstPages.at(-1);
    expect(newest?.toString("latin1", 0, 15)).toBe("SQLite format 3");
    expect(newest?.readUInt32BE(28)).toBe(db.pragma("page_count", { simple: true }));
  });

  test.each([0, 1, 31, 32, 33, 60, 4_000, 4_152, 30_000, "its last byte", "its last page"] as const)(
    "that was cut at %s does not hold it, and not either when more was written behind the hole",
    (where) => {
      for (const isProvenBefore of [true, false]) {
        const { path, log, add, pages } = database();
        for (let n = 0; n < 8; n += 1) add();
        const [header, page] = [32, 24 + 4_096];
        const size = header + pages() * page;
        if (isProvenBefore) expect(log.holds(pages())).toBe(true);
        const at = where === "its last byte" ? size - 1 : where === "its last page" ? size - page : where;
        truncateSync(`${path}-wal`, at);
        expect(log.holds(pages())).toBe(false);
        add();
        expect(log.holds(pages())).toBe(false);
      }
    },
  );
});

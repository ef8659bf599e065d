import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, truncateSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { holdMirror } from "../../src/mirror/held.js";
import { closeMirror, connect, createFile, lockMirror, type Mirror } from "../../src/mirror/index.js";
import { openMirror } from "../../src/query/open.js";
import { makeHome } from "../support/home.js";

const never = { wait: false, clock: systemClock, signal: new AbortController().signal };

/** A small mirror that a run holds, and the files beside it. */
async function held(options: { journal?: "wal" | "delete" } = {}) {
  const path = join(makeHome(), "mirror.sqlite");
  await createFile(path);
  const lock = await lockMirror(path, never);
  const mirror = await connect(path, false);
  mirror.db.pragma(`journal_mode = ${options.journal ?? "wal"}`);
  mirror.held = await holdMirror(mirror, path, lock);
  onTestFinished(() => {
    mirror.db.close();
    lock.release();
  });
  mirror.transaction(() => mirror.db.exec("CREATE TABLE things (bytes BLOB)"));
  return { mirror, path, lock };
}

function add({ db, transaction }: Mirror, rows: number): void {
  transaction(() => {
    for (let n = 0; n < rows; n += 1) db.exec("INSERT INTO things VALUES (randomblob(3000))");
  });
}

function count(path: string): unknown {
  const db = new Sqlite(path, { readonly: true });
  const found = db.prepare("SELECT count(*) FROM things").pluck().get();
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  db.close();
  return found;
}

/** What another program does to the file, in a process of its own. */
function elsewhere(path: string, sql: string): void {
  const sqlite = createRequire(import.meta.url).resolve("better-sqlite3");
  const script = `const db = require(${JSON.stringify(sqlite)})(${JSON.stringify(path)}); db.exec(${JSON.stringify(sql)}); db.close();`;
  execFileSync(process.execPath, ["-e", script]);
}

test("a mirror that nobody touches is closed with all that was kept, and nothing is left beside it", async () => {
  const { mirror, path, lock } = await held();
  for (let n = 0; n < 10; n += 1) add(mirror, 400);
  closeMirror(mirror);
  lock.release();
  expect(readdirSync(dirname(path)).sort()).toEqual(["mirror.sqlite", "mirror.sqlite-lock"]);
  expect(count(path)).toBe(4_000);
});

test("the log is kept short, although SQLite does not bring it in by itself", async () => {
  const { mirror, path } = await held();
  for (let n = 0; n < 30; n += 1) add(mirror, 300);
  const [row] = mirror.db.pragma("wal_checkpoint(NOOP)") as { log: number }[];
  expect(row?.log).toBeLessThan(1_100);
  closeMirror(mirror);
  expect(count(path)).toBe(9_000);
});

describe("another program may work on the mirror by SQLite's own rules", () => {
  test.each([
    ["writes rows", "INSERT INTO things SELECT randomblob(3000) FROM things"],
    ["makes an index", "DROP INDEX IF EXISTS by_bytes; CREATE INDEX by_bytes ON things (bytes)"],
    ["brings the log in", "PRAGMA wal_checkpoint(PASSIVE)"],
    ["brings the log in and empties it", "PRAGMA wal_checkpoint(TRUNCATE)"],
    ["writes, and brings the log in", "DELETE FROM things WHERE rowid % 2; PRAGMA wal_checkpoint(RESTART)"],
    ["packs the file", "DELETE FROM things WHERE rowid > 100; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"],
    ["packs the file, and leaves it in the log", "DELETE FROM things WHERE rowid > 100; VACUUM"],
  ])("it %s, and the run goes on", async (_, sql) => {
    const { mirror, path } = await held();
    add(mirror, 400);
    elsewhere(path, sql);
    add(mirror, 400);
    elsewhere(path, sql);
    add(mirror, 400);
    const there = mirror.db.prepare("SELECT count(*) FROM things").pluck().get();
    closeMirror(mirror);
    expect(count(path)).toBe(there);
  });

  test("it changes a row in its place, and the run does too: what the log held before is brought in", async () => {
    const { mirror, path } = await held();
    const change = "UPDATE things SET bytes = zeroblob(3000) WHERE rowid = 1";
    add(mirror, 400);
    elsewhere(path, change);
    mirror.transaction(() => mirror.db.exec(change));
    closeMirror(mirror);
    expect(count(path)).toBe(400);
  });

  test("it reads for as long as it likes: nothing is brought in past it, and nothing is lost", async () => {
    const { mirror, path } = await held();
    add(mirror, 10);
    const reader = new Sqlite(path, { readonly: true });
    reader.exec("BEGIN");
    expect(reader.prepare("SELECT count(*) FROM things").pluck().get()).toBe(10);
    for (let n = 0; n < 30; n += 1) add(mirror, 100);
    closeMirror(mirror);
    expect(reader.prepare("SELECT count(*) FROM things").pluck().get()).toBe(10);
    expect(existsSync(`${path}-wal`)).toBe(true);
    reader.close();
    expect(count(path)).toBe(3_010);
  });
});

test("a mirror without a log (a file system without shared memory) is held by its name and its lock", async () => {
  const one = await held({ journal: "delete" });
  add(one.mirror, 400);
  closeMirror(one.mirror);
  expect(count(one.path)).toBe(400);

  const two = await held({ journal: "delete" });
  execFileSync("mv", [two.path, `${two.path}.moved`]);
  expect(() => add(two.mirror, 1)).toThrow(/moved away or removed in the middle of this run/);
  expect(() => closeMirror(two.mirror)).toThrow(/moved away or removed in the middle of this run/);
  expect(count(`${two.path}.moved`)).toBe(0);
});

test("a mirror that was moved away takes along what was kept, and nothing of it is left where it was", async () => {
  const { mirror, path } = await held();
  add(mirror, 10);
  execFileSync("mv", [path, `${path}.moved`]);
  expect(() => closeMirror(mirror)).toThrow(/moved away or removed/);
  expect(readdirSync(dirname(path)).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  expect(count(`${path}.moved`)).toBe(10);
});

test("what happens in the middle of a transaction ends this very one, not the next", async () => {
  const one = await held();
  const moved = () =>
    one.mirror.transaction(() => {
      add(one.mirror, 10);
      execFileSync("mv", [one.path, `${one.path}.moved`]);
    });
  expect(moved).toThrow(/moved away or removed/);
  expect(() => closeMirror(one.mirror)).toThrow(/moved away or removed/);
  expect(count(`${one.path}.moved`)).toBe(0);

  const two = await held();
  two.mirror.db.pragma("wal_checkpoint(PASSIVE)");
  add(two.mirror, 10);
  const cut = () =>
    two.mirror.transaction(() => {
      add(two.mirror, 10);
      truncateSync(`${two.path}-wal`);
    });
  expect(cut).toThrow(/log was cut/);
  expect(() => closeMirror(two.mirror)).toThrow(/log was cut/);
  expect(count(two.path)).toBe(0);
});

test("what is lost stays lost, although the file comes back", async () => {
  const { mirror, path } = await held();
  add(mirror, 10);
  execFileSync("mv", [path, `${path}.moved`]);
  expect(() => add(mirror, 1)).toThrow(/moved away or removed/);
  execFileSync("mv", [`${path}.moved`, path]);
  expect(() => add(mirror, 1)).toThrow(/moved away or removed/);
  expect(() => closeMirror(mirror)).toThrow(/moved away or removed/);
  expect(count(path)).toBe(10);
});

/** Something happens, once, just before a connection does something. */
function justBefore(
  db: Mirror["db"],
  name: "close" | "pragma",
  isIt: (given?: string) => boolean,
  act: () => void,
) {
  const plain = db[name].bind(db) as (...given: unknown[]) => never;
  let happened = false;
  Object.assign(db, {
    [name](...given: unknown[]) {
      if (!happened && isIt(given[0] as string)) {
        happened = true;
        act();
      }
      return plain(...given);
    },
  });
}

test("a mirror that is moved away while it is closed is told all the same", async () => {
  const { mirror, path } = await held();
  add(mirror, 10);
  justBefore(
    mirror.db,
    "close",
    () => true,
    () => execFileSync("mv", [path, `${path}.moved`]),
  );
  expect(() => closeMirror(mirror)).toThrow(/moved away or removed/);
  expect(readdirSync(dirname(path)).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  expect(count(`${path}.moved`)).toBe(10);
});

describe("while the log is brought into the mirror", () => {
  const isBroughtIn = (given?: string) => given === "wal_checkpoint(PASSIVE)";

  test("it is cut: the run ends, and says that the mirror may be damaged", async () => {
    const { mirror, path } = await held();
    add(mirror, 10);
    justBefore(mirror.db, "pragma", isBroughtIn, () => truncateSync(`${path}-wal`));
    expect(() => closeMirror(mirror)).toThrow(/log was cut while it was brought into the mirror/);
    expect(readdirSync(dirname(path)).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  });

  test("the disk is full: the log stays, and what was kept is in it", async () => {
    const { mirror, path } = await held();
    add(mirror, 10);
    let tries = 0;
    justBefore(mirror.db, "pragma", isBroughtIn, () => {
      tries += 1;
      throw new Error("the disk is full");
    });
    closeMirror(mirror);
    expect(tries).toBe(1);
    expect(count(path)).toBe(10);
  });
});

test("a transaction within another is kept with it, or not at all", async () => {
  const { mirror, path } = await held();
  expect(() =>
    mirror.transaction(() => {
      add(mirror, 3);
      throw new Error("no");
    }),
  ).toThrow("no");
  mirror.transaction(() => {
    add(mirror, 2);
    const inner = () =>
      mirror.transaction(() => {
        add(mirror, 1);
        throw new Error("not this");
      });
    expect(inner).toThrow("not this");
  });
  closeMirror(mirror);
  expect(count(path)).toBe(2);
});

test("a mirror that was replaced after it was locked, before it is opened, is not the run's", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  await createFile(path);
  await createFile(`${path}.backup`);
  const lock = await lockMirror(path, never);
  execFileSync("mv", [`${path}.backup`, path]);
  const mirror = await connect(path, false);
  await expect(holdMirror(mirror, path, lock)).rejects.toThrow(/replaced by another file/);
  mirror.db.close();
  lock.release();
});

test("a mirror that was moved away after it was locked is not made anew", async () => {
  const path = join(makeHome(), "mirror.sqlite");
  await createFile(path);
  const lock = await lockMirror(path, never);
  execFileSync("mv", [path, `${path}.moved`]);
  await expect(openMirror(path, lock)).rejects.toThrow(/moved away or removed/);
  expect(existsSync(path)).toBe(false);
  lock.release();
});

test("a lock that was taken away and laid anew by another run is not taken away from it", async () => {
  const { mirror, path, lock } = await held();
  execFileSync("rm", [`${path}-lock`]);
  const other = await lockMirror(path, never);
  expect(() => closeMirror(mirror)).toThrow(/lock was removed/);
  execFileSync("rm", [path]);
  lock.release();
  expect(existsSync(`${path}-lock`)).toBe(true);
  other.release();
});

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { applicationId } from "../../src/mirror/schema.js";
import { makeHome } from "../support/home.js";
import { startSandbox } from "../support/old-sandbox/index.js";
import { spawnBrandapi } from "../support/process.js";
import {
  areWholeAnswers,
  envOf,
  expectEqual,
  expectSeen,
  expectWhole,
  runAt,
  sharedSandbox,
  syncedHome,
} from "./matrix.js";

const mounted: string[] = [];
afterAll(() => {
  for (const folder of mounted) spawnSync("umount", [folder]);
});

/** A disk of so many kilobytes at `folder`; false where this machine does not let us make one. */
function smallDisk(folder: string, kilobytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "none", folder]);
  if (status === 0) mounted.push(folder);
  return status === 0;
}

/** Whether a small disk can be mounted: by root, in a container that allows it. */
const canMount = (() => {
  const folder = makeHome();
  if (!smallDisk(folder, 64)) return false;
  spawnSync("umount", [mounted.pop() ?? ""]);
  return true;
})();

test.runIf(canMount)(
  "the disk is full in a commit: exit 3 says so, whole answers are kept, and with space it goes on",
  async () => {
    const sandbox = await startSandbox({ orders: 3_000, rateLimit: null, pace: 0 }, { clock: systemClock });
    try {
      const home = makeHome();
      const disk = join(home, "disk");
      smallDisk(disk, 3_000);
      const env = { ...envOf(sandbox, disk, sandbox.key) };
      const result = await runAt(sandbox, home, "sync orders", { env });
      expectSeen(result, { code: 3, says: /The disk is full[\s\S]*free some space/, moves: true }, [
        sandbox.key,
      ]);
      expectWhole(disk, true);
      const held = new Sqlite(join(disk, "mirror.sqlite"), { readonly: true });
      const count = held
        .prepare("SELECT count(*) FROM records WHERE resource = 'orders'")
        .pluck()
        .get() as number;
      held.close();
      expect(areWholeAnswers(count), `${count} orders`).toBe(true);
      // Still full: the same words, and nothing lost.
      expect((await runAt(sandbox, home, "sync orders", { env })).code).toBe(3);
      execFileSync("mount", ["-o", "remount,size=64m", disk]);
      expectSeen(await runAt(sandbox, home, "sync orders", { env }), { code: 0, moves: true }, [sandbox.key]);
      expectEqual(sandbox, disk);
    } finally {
      await sandbox.close();
    }
  },
);

test.runIf(canMount)("the disk is full from the beginning: exit 3, not a defect", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const disk = join(home, "disk");
  smallDisk(disk, 16);
  const result = await runAt(sandbox, home, "sync orders", {
    env: { BRANDAPI_DB: join(disk, "mirror.sqlite") },
  });
  expectSeen(result, { code: 3, says: /disk (is full|failed, or is full)/i }, [sandbox.key]);
});

test.runIf(canMount)("the disk is full in an export: the old file stays, and no half one", async () => {
  const sandbox = await sharedSandbox();
  const home = await syncedHome(sandbox, "sync orders");
  const disk = join(home, "disk");
  smallDisk(disk, 24);
  const file = join(disk, "orders.csv");
  writeFileSync(file, "old\n");
  const result = await runAt(sandbox, home, ["export", "orders", "--csv", "-o", file]);
  expectSeen(result, { code: 3, says: /disk (is full|failed, or is full)/i }, [sandbox.key]);
  expect(readFileSync(file, "utf8")).toBe("old\n");
});

test("a file may not grow further (a quota of the shell): exit 3, whole answers are kept, and later it goes on", async () => {
  const sandbox = await startSandbox({ orders: 3_000, rateLimit: null, pace: 0 }, { clock: systemClock });
  try {
    const home = makeHome();
    const limited = spawnBrandapi(["sync", "orders"], {
      home,
      env: envOf(sandbox, home, sandbox.key),
      node: ["sh", "-c", 'ulimit -f 1500; exec "$0" "$@"', process.execPath],
    });
    const result = await limited.ended;
    expect(result.signal).toBeNull();
    expectSeen(
      { ...result, code: result.code ?? -1, home },
      { code: 3, says: /disk (is full|failed)/i, moves: true },
      [sandbox.key],
    );
    expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0, moves: true }, [sandbox.key]);
    expectEqual(sandbox, home);
  } finally {
    await sandbox.close();
  }
});

async function synced() {
  const sandbox = await sharedSandbox();
  const home = await syncedHome(sandbox, "sync orders roster");
  return { sandbox, home, path: join(home, "mirror.sqlite") };
}

const commands = ["sync orders", "verify orders", "status", "export orders --csv", "sync orders --dry-run"];

test.each(commands)("the mirror is no database: `%s` ends with 3 and leaves it as it is", async (command) => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const path = join(home, "mirror.sqlite");
  writeFileSync(path, "Dear diary, ".repeat(900));
  const before = readFileSync(path);
  const result = await runAt(sandbox, home, command);
  expect(result).toMatchObject({
    code: 3,
    err: expect.stringMatching(/is not an SQLite database|not a mirror/i),
  });
  expect(result.err).toContain("hint:");
  expect(readFileSync(path).equals(before)).toBe(true);
});

test.each(commands)(
  "the mirror is another program's database: `%s` ends with 3 and leaves it as it is",
  async (command) => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    const path = join(home, "mirror.sqlite");
    const db = new Sqlite(path);
    db.exec("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')");
    db.close();
    const before = readFileSync(path);
    const result = await runAt(sandbox, home, command);
    expect(result).toMatchObject({ code: 3, err: expect.stringContaining("Not a mirror of brandapi") });
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test.each(commands)(
  "the mirror was written by a newer version: `%s` ends with 3 and leaves it as it is",
  async (command) => {
    const { sandbox, home, path } = await synced();
    const db = new Sqlite(path);
    db.pragma("journal_mode = DELETE");
    db.pragma("user_version = 9999");
    db.close();
    const before = readFileSync(path);
    const result = await runAt(sandbox, home, command);
    expect(result).toMatchObject({
      code: 3,
      err: expect.stringMatching(/newer version of brandapi[\s\S]*update/),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test.each([
  ["a page in its middle is overwritten", (path: string) => spoil(path, 4_096 * 20, 4_096 * 30)],
  ["its first page is overwritten", (path: string) => spoil(path, 100, 4_096)],
  [
    "it is cut in half",
    (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2 / 4_096) * 4_096),
  ],
] as const)(
  "the mirror is damaged (%s): exit 3 in words, or it is not touched by the damage",
  async (_, damage) => {
    const { sandbox, home, path } = await synced();
    damage(path);
    for (const command of [
      "sync orders --full",
      "verify orders",
      "status",
      "export orders --csv -o out.csv",
    ]) {
      const result = await runAt(sandbox, home, command);
      expect([0, 3, 8], `${command}: ${result.err}`).toContain(result.code);
      if (result.code === 3)
        expect(result.err).toMatch(/brandapi: .*(damaged|not an? |cannot be|Not a mirror).*\n {2}hint: /);
      expect(result.err).not.toContain("A defect in brandapi");
    }
  },
);

function spoil(path: string, from: number, to: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0xa5, from, Math.min(to, bytes.length));
  writeFileSync(path, bytes);
}

test("the mirror is an empty file: it is filled", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  writeFileSync(join(home, "mirror.sqlite"), "");
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("the mirror is a folder: exit 3, in words", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  mkdirSync(join(home, "mirror.sqlite"));
  const result = await runAt(sandbox, home, "sync orders");
  expectSeen({ ...result, home: makeHome() }, { code: 3, says: /hint: / }, [sandbox.key]);
});

/** Permissions do not stop root: these run as nobody. */
const asNobody = process.getuid?.() === 0;

test.runIf(asNobody)("the mirror's folder is read-only: exit 3 names it", async () => {
  const { sandbox, home, path } = await synced();
  const result = await runAs(home, ["sync", "orders", "--db", path], sandbox);
  expect(result).toMatchObject({
    code: 3,
    err: expect.stringMatching(/brandapi: .*(permission|cannot be)[\s\S]*hint/i),
  });
  expect(result.err).not.toContain(sandbox.key);
});

test.runIf(asNobody)(
  "a reader in a read-only folder is told that it is reading that needs to write",
  async () => {
    const { sandbox, home, path } = await synced();
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
    const { code, err } = await runAs(home, ["status", "--json", "--db", path], sandbox);
    expect({ code, err }).toMatchObject({
      code: 3,
      err: expect.stringMatching(
        /cannot be read where nothing may be written: .*\n {2}hint: .*copy it elsewhere/,
      ),
    });
  },
);

/** Runs the program as a user who may read what root wrote, and not write it. */
async function runAs(home: string, args: string[], sandbox: { baseUrl: string; key: string }) {
  chmodSync(home, 0o755);
  for (const end of ["", "-wal", "-shm", "-lock"])
    if (statSync(args.at(-1) + end, { throwIfNoEntry: false })) chmodSync(args.at(-1) + end, 0o644);
  const env = { ...envOf(sandbox, home, sandbox.key), HOME: "/nonexistent" };
  const program = spawnBrandapi(args, {
    home,
    env,
    node: ["setpriv", "--reuid=65534", "--clear-groups", process.execPath],
  });
  return await program.ended;
}

test("a migration that was killed half-way is done again from its beginning", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const path = join(home, "mirror.sqlite");
  // What a kill leaves: the transaction's pages in the journal file, without its end.
  const db = new Sqlite(path);
  db.pragma("journal_mode = WAL");
  db.pragma(`application_id = ${applicationId}`);
  db.exec("BEGIN; CREATE TABLE mirror_info (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  db.pragma("cache_spill = ON");
  copyFileSync(path, `${path}.killed`);
  copyFileSync(`${path}-wal`, `${path}.killed-wal`);
  db.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
  const result = await runAt(sandbox, home, "sync orders", { env: { BRANDAPI_DB: `${path}.killed` } });
  expectSeen(result, { code: 0 }, [sandbox.key]);
  expect(dirname(path)).toBe(home);
});

test("a mirror on a file system without shared memory (no WAL) still works", async () => {
  const { sandbox, home, path } = await synced();
  const db = new Sqlite(path);
  expect(db.pragma("journal_mode = DELETE", { simple: true })).toBe("delete");
  db.close();
  expectSeen(await runAt(sandbox, home, "sync orders --full"), { code: 0 }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("the mirror's journal is left over from a kill: it is taken in, and nothing is lost", async () => {
  const { sandbox, home, path } = await synced();
  const db = new Sqlite(path);
  db.pragma("journal_mode = WAL");
  db.pragma("wal_autocheckpoint = 0");
  db.exec("CREATE TABLE IF NOT EXISTS left_over (x); INSERT INTO left_over VALUES (1)");
  copyFileSync(path, `${path}.killed`);
  copyFileSync(`${path}-wal`, `${path}.killed-wal`);
  db.close();
  const env = { BRANDAPI_DB: `${path}.killed` };
  expectSeen(await runAt(sandbox, home, "sync orders", { env }), { code: 0 }, [sandbox.key]);
  const after = new Sqlite(`${path}.killed`, { readonly: true });
  expect(after.prepare("SELECT x FROM left_over").pluck().get()).toBe(1);
  after.close();
});

test.each([
  ["somebody else's database", "CREATE TABLE invoices (id TEXT); INSERT INTO invoices VALUES ('1')"],
  ["somebody else's database, with our table's name", "CREATE TABLE records (id TEXT)"],
])(
  "the mirror is %s: exit 3 from every command, not a byte is written, and no lock lies beside it",
  async (_, sql) => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    const path = join(home, "mirror.sqlite");
    const db = new Sqlite(path);
    db.exec(sql);
    db.close();
    const before = readFileSync(path);
    for (const command of [
      "sync orders",
      "sync --dry-run",
      "verify",
      "status",
      "export orders --csv",
      "changes",
    ]) {
      const { code, err } = await runAt(sandbox, home, command);
      expect({ command, code, err }).toMatchObject({
        code: 3,
        err: expect.stringMatching(/^brandapi: Not a mirror of brandapi: /),
      });
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(home).filter((name) => name.startsWith("mirror"))).toEqual(["mirror.sqlite"]);
  },
);

test("the API refuses the key before there is a mirror: nothing is left where it would have been", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  expect((await runAt(sandbox, home, "sync orders", { key: "wrong" })).code).toBe(4);
  expect(readdirSync(home).filter((name) => name.startsWith("mirror"))).toEqual([]);
});

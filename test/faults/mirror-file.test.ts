import { execSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import type { Sandbox } from "../support/old-sandbox/index.js";
import { spawnBrandapi } from "../support/process.js";
import { envOf, expectEqual, expectSeen, pageSize, runAt, sharedSandbox } from "./matrix.js";

let made: Promise<string> | undefined;

/** A mirror as it was before each case: what a person has as a backup. */
async function makeBackup(sandbox: Sandbox): Promise<string> {
  made ??= (async () => {
    const home = makeHome();
    expect((await runAt(sandbox, home, "sync orders roster content")).code).toBe(0);
    return join(home, "mirror.sqlite");
  })();
  return await made;
}

interface Case {
  /** What a person types, in the mirror's folder, while the run waits for an answer. */
  typed: string;
  says: RegExp;
  /** The mirror that is there afterwards is the backup, to the byte. */
  restores?: boolean;
  /** It takes a part of the mirror away, which nobody can mend. */
  ruins?: boolean;
}

const replaced = /The mirror was replaced by another file in the middle of this run: .*mirror\.sqlite\./;
const removed = /The mirror was moved away or removed in the middle of this run: .*mirror\.sqlite\./;
const overwritten = /The mirror was overwritten in the middle of this run: .*mirror\.sqlite\./;
const logLost =
  /The mirror's log was cut, removed or replaced in the middle of this run: .*mirror\.sqlite-wal\./;
const lockLost = /The mirror's lock was removed in the middle of this run: .*mirror\.sqlite-lock\./;

const cases: readonly Case[] = [
  { typed: "mv backup.sqlite mirror.sqlite", says: replaced, restores: true },
  { typed: "rm mirror.sqlite", says: removed },
  { typed: "truncate -s 0 mirror.sqlite-wal", says: logLost },
  { typed: "rm mirror.sqlite-lock", says: lockLost },
];

const more: readonly Case[] = [
  { typed: "mv mirror.sqlite moved.sqlite", says: removed },
  { typed: "mv mirror.sqlite moved.sqlite; mv backup.sqlite mirror.sqlite", says: replaced, restores: true },
  { typed: "rm mirror.sqlite*; cp backup.sqlite mirror.sqlite", says: replaced, restores: true },
  { typed: "cp backup.sqlite mirror.sqlite", says: overwritten, restores: true },
  { typed: "truncate -s 0 mirror.sqlite", says: overwritten },
  { typed: "truncate -s 65536 mirror.sqlite", says: overwritten, ruins: true },
  { typed: "truncate -s 40000 mirror.sqlite-wal", says: logLost },
  { typed: "cp backup.sqlite mirror.sqlite-wal", says: logLost },
  { typed: "rm mirror.sqlite-wal mirror.sqlite-shm", says: logLost },
];

/** Types something while the run waits for the nth answer that is meant. */
function type(sandbox: Sandbox, home: string, typed: string, { asks, nth }: Command): () => number {
  let count = 0;
  const meet = (target: string) => {
    if (!asks.test(target)) return undefined;
    count += 1;
    if (count === nth) execSync(typed, { cwd: home, stdio: ["ignore", "ignore", "inherit"] });
    return undefined;
  };
  sandbox.intercept = ({ path, query }) => meet(`${path}?${query}`);
  sandbox.interceptFile = () => meet("file");
  return () => count;
}

interface Command {
  command: string;
  /** The requests in the middle of its work. */
  asks: RegExp;
  nth: number;
  /** Something differs, so that there is something to mend. */
  differs?: boolean;
}

const syncs: Command = { command: "sync orders --full", asks: /^\/orders.*per_page=100/, nth: 2 };
const others: readonly Command[] = [
  { command: "sync roster", asks: /^\/roster/, nth: 2 },
  { command: "verify orders roster", asks: /^\/orders/, nth: 1 },
  { command: "verify orders --repair", asks: /^\/orders.*per_page=100/, nth: 1, differs: true },
  { command: "download content --out files", asks: /^file$/, nth: 6 },
];

describe.each([
  ...[...cases, ...more].map((one) => ({ ...one, ...syncs })),
  ...others.flatMap((command) => cases.map((one) => ({ ...one, ...command }))),
])("`$typed` in the middle of `$command`", (one) => {
  test("ends it with 3, tells no success, and leaves a mirror that goes on", async () => {
    const sandbox = await sharedSandbox();
    const backup = await makeBackup(sandbox);
    const home = makeHome();
    const path = join(home, "mirror.sqlite");
    copyFileSync(backup, path);
    copyFileSync(backup, join(home, "backup.sqlite"));
    if (one.differs) forgetOrders(path);
    const asked = type(sandbox, home, one.typed, one);
    const result = await runAt(sandbox, home, one.command);
    sandbox.interceptFile = undefined;
    expect(asked()).toBeGreaterThanOrEqual(one.nth);
    expectSeen({ ...result, home: makeHome() }, { code: 3, says: one.says }, [sandbox.key]);
    expect(result.err).toContain("hint: ");
    expect(result.out + result.err).not.toMatch(/verified|proven|repaired| files, /);

    if (one.restores) expect(readFileSync(path).equals(readFileSync(backup))).toBe(true);
    expect(readdirSync(home).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
    if (one.ruins) return;
    for (const name of ["mirror.sqlite", "moved.sqlite"])
      if (existsSync(join(home, name))) expect(integrityOf(join(home, name)), name).toMatch(/^(ok|empty)$/);

    sandbox.intercept = undefined;
    const after = await runAt(sandbox, home, "sync orders --full");
    expect({ code: after.code, err: after.err }).toMatchObject({ code: 0 });
    expectEqual(sandbox, home);
  });
});

function forgetOrders(path: string): void {
  const db = new Sqlite(path);
  const some = "SELECT record_id FROM records WHERE resource = 'orders' ORDER BY dated_at LIMIT 5";
  db.exec(
    `DELETE FROM orders WHERE record_id IN (${some}); DELETE FROM records WHERE record_id IN (${some})`,
  );
  db.close();
}

/** Opened as other programs do it. */
function integrityOf(path: string): string {
  if (readFileSync(path).length === 0) return "empty";
  const db = new Sqlite(path);
  try {
    return String(db.pragma("integrity_check", { simple: true }));
  } finally {
    db.close();
  }
}

test("a mirror that is reached by a link is synced, and a link that is turned elsewhere ends the run with 3", async () => {
  const sandbox = await sharedSandbox();
  const backup = await makeBackup(sandbox);
  const home = makeHome();
  mkdirSync(join(home, "disk"));
  for (const name of ["one.sqlite", "two.sqlite"]) copyFileSync(backup, join(home, "disk", name));
  symlinkSync(join("disk", "one.sqlite"), join(home, "mirror.sqlite"));
  expectSeen(await runAt(sandbox, home, "sync orders --full"), { code: 0 }, [sandbox.key]);
  expect(readdirSync(join(home, "disk")).sort()).toEqual(["one.sqlite", "one.sqlite-lock", "two.sqlite"]);

  type(sandbox, home, "ln -sfn disk/two.sqlite mirror.sqlite", syncs);
  const result = await runAt(sandbox, home, "sync orders --full");
  expectSeen(result, { code: 3, says: replaced }, [sandbox.key]);
  expect(readFileSync(join(home, "disk", "two.sqlite")).equals(readFileSync(backup))).toBe(true);
  expect(integrityOf(join(home, "disk", "one.sqlite"))).toBe("ok");
});

test("two runs that both hold a lock, since the first one's was removed: the first ends with 3, the second with 0", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  copyFileSync(await makeBackup(sandbox), join(home, "mirror.sqlite"));
  let count = 0;
  let second: ReturnType<typeof spawnBrandapi> | undefined;
  sandbox.intercept = async ({ path, query }) => {
    if (path !== "/orders" || query.get("per_page") !== String(pageSize)) return undefined;
    count += 1;
    if (count !== 2) return undefined;
    execSync("rm mirror.sqlite-lock", { cwd: home });
    second = spawnBrandapi(["sync", "orders", "--full"], { home, env: envOf(sandbox, home, sandbox.key) });
    expect(await second.ended).toMatchObject({ code: 0, err: expect.stringContaining("verified") });
    return undefined;
  };
  const first = await runAt(sandbox, home, "sync orders --full");
  expectSeen(first, { code: 3, says: lockLost }, [sandbox.key]);
  expect((await second?.ended)?.code).toBe(0);
  expectEqual(sandbox, home);
});

test("an empty file is filled, and that is told with `--quiet` too", async () => {
  const sandbox = await sharedSandbox();
  const home = makeHome();
  execSync("touch mirror.sqlite", { cwd: home });
  const result = await runAt(sandbox, home, "sync orders --quiet");
  expectSeen(
    result,
    { code: 0, says: /the mirror was an empty file, and is filled from the beginning: .*mirror/ },
    [sandbox.key],
  );
  expectEqual(sandbox, home);
});

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { checks } from "../../src/doctor/index.js";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { patient } from "./support.js";

test("all is well: every check has a line that begins with `ok`, one request is sent, and nothing is written", async () => {
  const one = await patient();
  const before = readFileSync(one.dbPath);
  const asked = one.sandbox.log.length;
  const { code, out, err } = await one.run("doctor");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = out.trim().split("\n");
  expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(checks.map(({ name }) => name));
  for (const line of lines) expect(line).toMatch(/^ok /);
  expect(one.sandbox.log.slice(asked).map(({ path }) => path)).toEqual(["/api/brand/v1/me"]);
  expect(readFileSync(one.dbPath).equals(before)).toBe(true);
  expect(out).not.toContain(one.sandbox.key);
  expect((await one.run("doctor --quiet")).out).toBe("");
});

test("what fails is marked with what mends it, its code is the program's, and `--quiet` leaves the rest out", async () => {
  const one = await patient();
  one.edit("DELETE FROM orders WHERE record_id IN (SELECT record_id FROM orders LIMIT 10)");
  const { code, out, err } = await one.run(`doctor --quiet --db ${one.dbPath}`);
  expect(code).toBe(8);
  expect(out).toBe(
    `!  tables    Tables differ from the mirror's records: orders: 10 rows missing. Run \`brandapi verify orders --repair --db ${one.dbPath}\`.\n`,
  );
  expect(err).toBe(
    "brandapi: Not everything is as it should be: tables.\n  hint: each line that begins with `!` says what mends it\n",
  );
  const { lines } = await one.visit();
  expect(lines.find(({ state }) => state === "failed")).toEqual({
    check: "tables",
    state: "failed",
    text: "Tables differ from the mirror's records: orders: 10 rows missing.",
    hint: "run `brandapi verify orders --repair`",
    exit_code: 8,
  });
  // What it says is what mends it.
  expect((await one.run("verify orders --repair")).code).toBe(0);
  expect((await one.visit()).code).toBe(0);
});

describe("node", () => {
  test("the native module does not load: the command that builds it, and what hangs on it is not checked", async () => {
    const one = await patient();
    const preload = join(one.home, "preload.cjs");
    writeFileSync(
      preload,
      `process.dlopen = () => { throw Object.assign(new Error("NODE_MODULE_VERSION 127"), { code: "ERR_DLOPEN_FAILED" }); };`,
    );
    const node: [string, ...string[]] = [process.execPath, "--require", preload];
    const { code, out } = await spawnBrandapi(["doctor"], { home: one.home, node }).ended;
    expect(code).toBe(3);
    expect(out).toMatch(/^! {2}node .*better-sqlite3.*`npm rebuild better-sqlite3`/m);
    for (const name of ["mirror", "tables", "runs", "budget"])
      expect(out).toMatch(new RegExp(`^\\? {2}${name} +not checked: see \`node\``, "m"));
    expect(out).toMatch(/^ok settings /m);
  });
});

describe("settings", () => {
  test("others may read the file: the `chmod`, exit 3, and the mirror is looked at all the same", async () => {
    const one = await patient();
    const file = join(one.configDir, "config.json");
    chmodSync(file, 0o644);
    const { code, named, of } = await one.visit();
    expect(code).toBe(3);
    expect(of("settings")).toMatchObject([{ state: "failed", hint: `run \`chmod 600 ${file}\`` }]);
    expect(named("unchecked")).toEqual(["budget", "cron", "api", "key", "brand", "scopes", "clock"]);
    expect(named("ok")).toEqual(["node", "disk", "mirror", "tables", "runs"]);
  });

  test("others may look into the folder: a warning with the `chmod`, which fails nothing", async () => {
    const one = await patient();
    chmodSync(one.configDir, 0o755);
    const { code, of } = await one.visit();
    expect(code).toBe(0);
    expect(of("settings")).toMatchObject([
      { state: "warning", hint: `run \`chmod 700 ${one.configDir}\`` },
      { state: "ok" },
    ]);
    expect((await one.visit({ platform: "win32" })).named("warning")).not.toContain("settings");
  });

  test("no key: what to run, exit 3", async () => {
    const one = await patient();
    rmSync(one.configDir, { recursive: true });
    const { code, of } = await one.visit();
    expect(code).toBe(3);
    expect(of("settings")).toMatchObject([
      { state: "failed", hint: expect.stringContaining("`brandapi login`") },
    ]);
  });

  test("the file is garbled: it is told once, exit 3", async () => {
    const one = await patient();
    writeFileSync(join(one.configDir, "config.json"), "{ no");
    const { code, named } = await one.visit();
    expect(code).toBe(3);
    expect(named("failed")).toEqual(["settings"]);
    expect(named("ok")).toEqual(["node"]);
  });
});

describe("disk", () => {
  const mounted: string[] = [];
  afterAll(() => {
    for (const folder of mounted) spawnSync("umount", [folder]);
  });

  /** A disk of so many megabytes; false where this machine does not let us make one. */
  function smallDisk(folder: string, megabytes: number): boolean {
    mkdirSync(folder, { recursive: true });
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "none", folder]);
    if (status === 0) mounted.push(folder);
    return status === 0;
  }

  const canMount = smallDisk(makeHome(), 1);

  test.runIf(canMount)(
    "almost nothing is free: exit 3; less than the mirror may need: a warning",
    async () => {
      const one = await patient();
      const disk = join(one.home, "disk");
      smallDisk(disk, 20);
      const path = join(disk, "mirror.sqlite");
      writeFileSync(path, readFileSync(one.dbPath));
      const full = await one.visit({ flags: `--db ${path}` });
      expect(full.code).toBe(3);
      expect(full.of("disk")).toMatchObject([
        { state: "failed", hint: expect.stringContaining("free some space") },
      ]);

      spawnSync("mount", ["-o", "remount,size=120m", disk]);
      expect((await one.visit({ flags: `--db ${path}` })).of("disk")).toMatchObject([{ state: "ok" }]);
      writeFileSync(join(disk, "ballast"), Buffer.alloc(60e6));
      // As if it grew by more than is left within three months.
      const db = new Sqlite(path);
      const size = statSync(path).size;
      const [run] = db.prepare("SELECT * FROM sync_runs WHERE resource = 'orders'").all() as {
        started_at: string;
      }[];
      const weeks = (n: number) =>
        new Date(Date.parse(run?.started_at ?? "") - n * 7 * 86_400_000).toISOString();
      const records = db.prepare("SELECT count(*) FROM records").pluck().get() as number;
      db.prepare("UPDATE sync_runs SET started_at = ?").run(weeks(8));
      db.prepare(
        "INSERT INTO sync_runs (resource, started_at, outcome, rows_new) VALUES ('orders', ?, 'done', ?)",
      ).run(weeks(1), Math.round((24e6 * records) / size));
      db.close();
      const growing = await one.visit({ flags: `--db ${path}` });
      expect(growing.of("disk")).toMatchObject([
        { state: "warning", text: expect.stringContaining("and grows by 24.0 MB a month") },
      ]);
    },
  );
});

/** Permissions do not stop root: as root these run the program as nobody. */
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** What `doctor` says of a mirror, and of a folder for the rate budget, to a user who may not write everything. */
async function visitAsUser(home: string, dbPath: string): Promise<(check: string) => unknown> {
  chmodSync(home, 0o755);
  const node: [string, ...string[]] = isRoot
    ? ["setpriv", `--reuid=${nobody}`, "--clear-groups", process.execPath]
    : [process.execPath];
  const env = { HOME: "/nonexistent", XDG_STATE_HOME: join(home, "closed") };
  const { out } = await spawnBrandapi(["doctor", "--json", "--db", dbPath], { home, env, node }).ended;
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { check: string });
  return (name) => lines.find(({ check }) => check === name);
}

describe("who may write", () => {
  test.for([
    ["of one's own", true, "chmod u+rwx"],
    ["of somebody else's (skipped without root)", false, 'sudo chown "$(id -u)"'],
  ] as const)(
    "in a folder %s that cannot be written: the mirror fails with the command, the budget warns",
    async ([, isOwn, command], { skip }) => {
      skip(!isOwn && !isRoot);
      const one = await patient();
      one.edit("PRAGMA wal_checkpoint(TRUNCATE)");
      const closed = join(one.home, "closed");
      mkdirSync(closed);
      const path = join(closed, "mirror.sqlite");
      writeFileSync(path, readFileSync(one.dbPath), { mode: 0o644 });
      chmodSync(closed, 0o555);
      if (isRoot && isOwn) chownSync(closed, nobody, nobody);
      const of = await visitAsUser(one.home, path);
      expect(of("mirror")).toMatchObject({
        state: "failed",
        exit_code: 3,
        text: `The mirror cannot be written, permission was denied: ${closed}.`,
        hint: expect.stringContaining(`run \`${command} ${closed}\``),
      });
      const state = join(closed, "brandapi");
      expect(of("budget")).toMatchObject({
        state: "warning",
        text: expect.stringContaining("permission was denied"),
        hint: expect.stringContaining(
          isOwn ? `run \`chmod u+rwx ${closed}\`` : `run \`sudo mkdir -p ${state} && ${command} ${state}\``,
        ),
      });
      chmodSync(closed, 0o755);
    },
  );

  test("a mirror that cannot be written in a folder that can: it fails with the command", async () => {
    const one = await patient();
    one.edit("PRAGMA wal_checkpoint(TRUNCATE)");
    const path = join(one.home, "mirror.sqlite");
    writeFileSync(path, readFileSync(one.dbPath), { mode: 0o444 });
    if (isRoot) for (const place of [one.home, path]) chownSync(place, nobody, nobody);
    expect((await visitAsUser(one.home, path))("mirror")).toMatchObject({
      state: "failed",
      text: `The mirror cannot be written, permission was denied: ${path}.`,
      hint: `run \`chmod u+rw ${path}\``,
    });
  });

  test("a mirror that is not there yet, where it cannot be made: it fails with the command", async () => {
    const home = makeHome();
    mkdirSync(join(home, "closed"), { mode: 0o555 });
    const folder = join(home, "closed/new");
    const of = await visitAsUser(home, join(folder, "mirror.sqlite"));
    expect(of("mirror")).toMatchObject({
      state: "failed",
      exit_code: 3,
      text: expect.stringContaining(folder),
    });
  });
});

describe("mirror", () => {
  test("there is none: what makes one, and no failure", async () => {
    const one = await patient();
    rmSync(dirname(one.dbPath), { recursive: true });
    const { code, named, of } = await one.visit();
    expect(code).toBe(0);
    expect(of("mirror")).toMatchObject([
      { state: "warning", hint: expect.stringContaining("`brandapi sync`") },
    ]);
    expect(named("unchecked")).toEqual(["tables", "runs", "brand"]);
  });

  test.each([
    ["another program's database", "CREATE TABLE bills (id)", "Not a mirror of brandapi"],
    ["of a newer version", "PRAGMA journal_mode = DELETE; PRAGMA user_version = 999", "newer version"],
  ])("it is %s: exit 3, and it stays as it is", async (name, sql, says) => {
    const one = await patient();
    const path = join(one.home, "other.sqlite");
    if (name.startsWith("of")) writeFileSync(path, readFileSync(one.dbPath));
    const db = new Sqlite(path);
    db.exec(sql);
    db.close();
    const before = readFileSync(path);
    const { code, named, of } = await one.visit({ flags: `--db ${path}` });
    expect(code).toBe(3);
    expect(of("mirror")).toMatchObject([{ state: "failed", text: expect.stringContaining(says) }]);
    expect(named("failed")).toEqual(["mirror"]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("it is of an older version: what brings it up to date, and it is left as it is", async () => {
    const one = await patient();
    one.edit("UPDATE mirror_info SET value = 'older' WHERE name = 'shape:orders'");
    const { code, of } = await one.visit();
    expect(code).toBe(0);
    expect(of("mirror")).toMatchObject([
      { state: "warning", hint: expect.stringContaining("`brandapi status`") },
    ]);
    expect((await one.run("status")).code).toBe(0);
    expect((await one.visit()).named("warning")).toEqual([]);
  });

  test("pages in its middle are overwritten: exit 3, in words", async () => {
    const one = await patient();
    one.edit("PRAGMA wal_checkpoint(TRUNCATE)");
    const bytes = readFileSync(one.dbPath);
    writeFileSync(one.dbPath, bytes.fill(0xa5, 16_384 * 10, 16_384 * 20));
    const { code, named, of } = await one.visit();
    expect(code).toBe(3);
    expect(named("failed")).toContain("mirror");
    expect(of("mirror")).toMatchObject([
      { text: expect.stringContaining("The mirror is damaged ("), hint: expect.stringContaining("backup") },
    ]);
    expect(of("mirror")[0]?.text).not.toContain("defect");
  });

  test("an index says something else than its table, which only a full check sees: exit 3", async () => {
    const one = await patient();
    const db = new Sqlite(one.dbPath);
    db.unsafeMode(true);
    db.pragma("writable_schema = ON");
    db.exec(
      "UPDATE sqlite_master SET sql = replace(sql, '(resource, key)', '(key, resource)') WHERE name = 'records_key'",
    );
    db.close();
    const { code, of } = await one.visit();
    expect(code).toBe(3);
    expect(of("mirror")).toMatchObject([
      { state: "failed", text: expect.stringContaining("index records_key") },
    ]);
  });
});

describe("tables", () => {
  test.each([
    [
      "a row gone",
      "DELETE FROM orders WHERE record_id = (SELECT max(record_id) FROM orders)",
      "orders: 1 row missing",
      "orders",
    ],
    [
      "a cell changed",
      "UPDATE roster SET commission_rate = 99 WHERE record_id = (SELECT max(record_id) FROM roster)",
      "roster: 1 row changed",
      "roster",
    ],
    [
      "a child without a parent",
      "INSERT INTO order_line_items (order_id, synced_at) VALUES ('x', '')",
      "order_line_items: 1 row too many",
      "orders",
    ],
    ["a table dropped", "DROP TABLE gifts", "gifts: 64 rows missing", "gifts"],
  ])("%s: exit 8, with the table, the rows and the command that mends it", async (_, sql, says, resource) => {
    const one = await patient();
    one.edit(sql);
    const { code, of } = await one.visit();
    expect(code).toBe(8);
    expect(of("tables")[0]).toMatchObject({
      state: "failed",
      text: `Tables differ from the mirror's records: ${says}.`,
      hint: `run \`brandapi verify ${resource} --repair\``,
    });
  });

  test.each([
    ["a view dropped", "DROP VIEW hosts", "Views are gone, or not as this version makes them: hosts."],
    [
      "a view replaced",
      "DROP VIEW hosts; CREATE VIEW hosts AS SELECT 1 AS id",
      "Views are gone, or not as this version makes them: hosts.",
    ],
    [
      "an index dropped",
      "DROP INDEX orders_by_order_date",
      "Indexes are gone, so queries take longer: orders.",
    ],
  ])("%s: a warning, and a sync makes it anew", async (_, sql, text) => {
    const one = await patient();
    one.edit(sql);
    const { code, of } = await one.visit();
    expect(code).toBe(0);
    expect(of("tables")[0]).toMatchObject({ state: "warning", text });
    expect((await one.run("sync orders")).code).toBe(0);
    expect((await one.visit()).of("tables")).toMatchObject([{ state: "ok" }]);
  });

  test("a record was made no JSON: damage in words, not a defect", async () => {
    const one = await patient();
    one.edit("UPDATE records SET json = 'no' WHERE record_id = (SELECT max(record_id) FROM orders)");
    const { code, of } = await one.visit();
    expect(code).toBe(3);
    expect(of("tables")).toMatchObject([
      { state: "failed", text: expect.stringContaining("a record of orders is no JSON") },
    ]);
  });
});

describe("runs", () => {
  const now = Date.now();

  test.each([
    [
      "failed",
      "UPDATE sync_runs SET outcome = 'failed', error = 'no luck' WHERE resource = 'roster'",
      "failed",
      "roster: the last run failed: no luck",
      8,
    ],
    [
      "was killed",
      "UPDATE sync_runs SET outcome = 'running' WHERE resource = 'roster'",
      "warning",
      "roster: the last run was stopped.",
      0,
    ],
    [
      "was stopped",
      "UPDATE sync_runs SET outcome = 'stopped', error = 'Stopped.' WHERE resource = 'roster'",
      "warning",
      "roster: the last run was stopped.",
      0,
    ],
    [
      "is refused by now",
      "INSERT INTO sync_runs (resource, started_at, outcome, error) VALUES ('roster', '2026-01-01', 'skipped', 'no scope')",
      "failed",
      "roster: it was read before, and is refused now: no scope",
      5,
    ],
  ])("the last run %s", async (_, sql, state, text, code) => {
    const one = await patient();
    one.edit(sql);
    const visit = await one.visit();
    expect(visit.code).toBe(code);
    expect(visit.of("runs")[0]).toMatchObject({ state, text });
  });

  test("what `verify` found: exit 8, until it is mended", async () => {
    const one = await patient();
    one.edit("DELETE FROM gifts");
    expect((await one.run("verify gifts")).code).toBe(8);
    expect((await one.visit()).of("runs")).toMatchObject([
      {
        state: "failed",
        text: "gifts: `verify` found: tables differ from the records (gifts: 64 rows missing).",
        hint: "run `brandapi verify gifts --repair`",
        exit_code: 8,
      },
    ]);
    expect((await one.run("verify gifts --repair")).code).toBe(0);
    expect((await one.visit()).of("runs")).toMatchObject([{ state: "ok" }]);
  });

  test("two nights were missed: a warning; nothing was ever synced: what to run", async () => {
    const one = await patient();
    const later = { clock: { now: () => now + 3 * 86_400_000 } };
    expect((await one.visit(later)).of("runs")).toMatchObject([
      {
        state: "warning",
        text: "Last read more than 2d ago: orders, roster, gifts.",
        hint: "run `brandapi sync`",
      },
    ]);
    one.edit("UPDATE sync_runs SET verified = 0 WHERE resource = 'roster'");
    expect((await one.visit()).of("runs")).toMatchObject([
      { state: "warning", text: "Never read whole: roster.", hint: "run `brandapi sync`" },
    ]);
    one.edit("DELETE FROM sync_runs");
    expect((await one.visit()).of("runs")).toMatchObject([
      { state: "warning", text: "Nothing was synced yet." },
    ]);
  });
});

describe("budget", () => {
  test("the file is damaged: a warning with what mends it", async () => {
    const one = await patient();
    const path = join(one.home, ".local/state/brandapi/rate.sqlite");
    writeFileSync(path, "Dear diary, ".repeat(900));
    const { of } = await one.visit();
    expect(of("budget")).toMatchObject([
      {
        state: "warning",
        text: expect.stringContaining("the file is damaged"),
        hint: expect.stringContaining(`\`rm ${path}\``),
      },
    ]);
  });

  test("its folder is a file: a warning; it is not there yet: all is well", async () => {
    const one = await patient();
    const folder = join(one.home, ".local/state/brandapi");
    rmSync(folder, { recursive: true });
    expect((await one.visit()).of("budget")).toMatchObject([
      { state: "ok", text: expect.stringContaining("none yet") },
    ]);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    expect((await one.visit()).of("budget")).toMatchObject([
      { state: "warning", text: expect.stringContaining("a part of the path is not a folder") },
    ]);
  });
});

describe("cron", () => {
  test("the key is in this shell alone: what a job would lack, and what stores it; the key is not shown", async () => {
    const one = await patient();
    rmSync(one.configDir, { recursive: true });
    const env = { BRANDAPI_KEY: one.sandbox.key, BRANDAPI_BASE_URL: one.sandbox.baseUrl };
    const { code, of } = await one.visit({ env });
    expect(code).toBe(0);
    expect(of("cron")).toMatchObject([
      {
        state: "warning",
        text: "A cron job would have no base URL, no key: these are of this shell alone: BRANDAPI_KEY, BRANDAPI_BASE_URL.",
        hint: expect.stringContaining("`brandapi login`"),
      },
    ]);
  });

  test.each([
    ["another mirror", { env: { BRANDAPI_DB: "~/other.sqlite" } }, "another mirror", "BRANDAPI_DB"],
    ["another profile", { env: { BRANDAPI_PROFILE: "acme" } }, "another profile", "BRANDAPI_PROFILE"],
    ["a proxy", { env: { HTTPS_PROXY: "http://127.0.0.1:1" } }, "go another way to the API", "HTTPS_PROXY"],
    ["a relative path", { flags: "--db here.sqlite", cwd: "sub" }, "another mirror", "a path is relative"],
    ["HOME", { machine: { home: "/nonexistent" } }, "no key", "HOME"],
  ])(
    "%s, which a job would not have, is a warning",
    async (_, { cwd, ...options }: Record<string, unknown>, what, why) => {
      const one = await patient();
      const elsewhere = cwd === undefined ? {} : { cwd: join(one.home, String(cwd)) };
      const { of } = await one.visit({ ...options, ...elsewhere });
      expect(of("cron")).toMatchObject([{ state: "warning" }]);
      expect(of("cron")[0]?.text).toContain(what);
      expect(of("cron")[0]?.text).toContain(why);
    },
  );
});

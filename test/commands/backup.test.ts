import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { scanCommandLine } from "../../src/cli/command-line.js";
import { Stopped } from "../../src/errors.js";
import { runCommandLine } from "../../src/main.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { createEmptyMirror } from "../support/mirror.js";
import { spawnBrandapi, until } from "../support/process.js";
import { testDeps } from "../support/program.js";
import { day, hour, noon, ordersBefore } from "../support/records.js";
import { Sqlite, sqlitePath } from "../support/sqlite.js";

async function mirrored(orders = 50): Promise<TestBrand> {
  const brand = makeBrand({ orders: ordersBefore(noon - day, orders, hour) });
  await brand.run("sync orders");
  return brand;
}

const backups = (brand: TestBrand) => {
  const folder = join(brand.home, "backups");
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};

const backUp = async (brand: TestBrand, flags = "") => {
  const ran = await brand.run(`backup --json ${flags}`);
  return JSON.parse(ran.out) as { path: string; records: number; removed: string[] };
};

/** Damages a table in a mirror by overwriting its first database page. */
function damage(path: string, table: string): void {
  const [size, page] = ["PRAGMA page_size", `SELECT rootpage FROM sqlite_master WHERE name = '${table}'`].map(
    (sql) => Number(read(path, sql)),
  ) as [number, number];
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(size, 7), 0, size, (page - 1) * size);
  closeSync(file);
}

function read(path: string, sql: string): unknown {
  const db = new Sqlite(path, { readonly: true });
  const value = db.prepare(sql).pluck().get();
  db.close();
  return value;
}

test("backup waits for another program to finish writing to the mirror, even if that takes more than a second", async () => {
  const brand = await mirrored();
  const hold = `const { workerData, parentPort } = require("node:worker_threads");
    const db = new (require(${JSON.stringify(sqlitePath)}))(workerData);
    db.exec("BEGIN IMMEDIATE");
    parentPort.postMessage("held");
    setTimeout(() => db.exec("COMMIT"), 1500);`;
  const worker = new Worker(hold, { eval: true, workerData: brand.db });
  await once(worker, "message");
  const ended = once(worker, "exit");
  expect((await brand.run("backup")).code).toBe(0);
  expect(backups(brand).length).toBe(1);
  await ended;
});

test("backup writes a complete copy of the mirror to a file named with a timestamp, and status prints the backup's age", async () => {
  const brand = await mirrored();
  const ran = await brand.run("backup");
  const [name = ""] = backups(brand);
  expect(name).toMatch(/^brand-1-20261121T1200\d{5}Z\.sqlite$/);
  expect(ran.out).toMatch(/^\/.*\/backups\/brand-1-\S+\.sqlite: 50 records, checked\n$/);
  const path = join(brand.home, "backups", name);
  expect(
    (await brand.run(["query", "--db", path, "SELECT count(*) AS n FROM orders", "--json"])).out,
  ).toContain('"n":50');
  brand.pass(3 * hour);
  expect((await brand.run("status")).out).toContain(`Last backup: 2026-11-21 12:00, 3h ago, ${path}`);
});

test("backup --keep N keeps the newest N backups, and never removes other files", async () => {
  const brand = await mirrored();
  const other = makeBrand({ sameApiAs: brand, seed: 2, history: 20, listLimit: 10 });
  await other.run("sync roster");
  expect((await other.run("backup")).code).toBe(0);
  const [copied = ""] = backups(brand);
  const foreign = "brand-1-20200101T000000000Z.sqlite";
  renameSync(join(brand.home, "backups", copied), join(brand.home, "backups", foreign));
  writeFileSync(join(brand.home, "backups", "brand-1-notes.sqlite"), "");
  const twin = { env: { BRANDAPI_DB: join(brand.home, "twin.sqlite") } };
  await brand.run("sync orders", twin);
  const own = JSON.parse((await brand.run("backup --json", twin)).out)
    .path.split("/")
    .at(-1);
  for (let n = 0; n < 3; n += 1) {
    brand.pass(day);
    await backUp(brand, "--keep 2");
  }
  brand.pass(day);
  const { path, removed } = await backUp(brand, "--keep 2");
  expect(removed).toHaveLength(1);
  expect(backups(brand)).toHaveLength(5);
  expect(backups(brand)).toEqual(
    expect.arrayContaining([foreign, own, "brand-1-notes.sqlite", path.split("/").at(-1)]),
  );
});

test("backup keeps the 7 newest intact copies by default and all copies with --keep 0, and never removes a damaged copy", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const folder = dirname(path);
  const older = Array.from({ length: 8 }, (_, n) => join(folder, `brand-1-2026010${n}T000000000Z.sqlite`));
  for (const copy of older) copyFileSync(path, copy);
  const damaged = join(folder, "brand-1-20250101T000000000Z.sqlite");
  writeFileSync(damaged, "damaged");
  brand.pass(day);
  expect((await backUp(brand, "--keep 0")).removed).toEqual([]);
  brand.pass(day);
  const { code, out } = await brand.run("backup");
  const removed = older.slice(0, 4);
  expect([code, out.split(/\n */).slice(1)]).toEqual([0, [...removed.map((old) => `removed: ${old}`), ""]]);
  expect(backups(brand)).toHaveLength(7 + 1);
  expect([existsSync(damaged), ...removed.map(existsSync)]).toEqual([true, false, false, false, false]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("if the mirror has never been synced, backup --keep 1 removes no files, because it cannot recognize the mirror's backups", async () => {
  const brand = makeBrand();
  await createEmptyMirror(brand.db);
  mkdirSync(join(brand.home, "backups"));
  writeFileSync(join(brand.home, "backups", "brand-1-20250101T000000000Z.sqlite"), "damaged");
  expect(await backUp(brand, "--keep 1")).toMatchObject({ records: 0, removed: [] });
  expect(await brand.run("backup --keep 1 --quiet")).toMatchObject({ code: 0, out: "" });
});

test("backup copies a consistent snapshot while a sync is writing", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - day, 2_000, 60_000) });
  let finishSync = () => {};
  const isCopied = new Promise<void>((resolve) => {
    finishSync = resolve;
  });
  const env = await brand.served((requests) => (requests > 15 ? isCopied : undefined));
  const sync = spawnBrandapi(["sync", "orders"], { env, home: brand.home });
  await until(() => brand.servedCount() > 15);
  const backup = spawnBrandapi(["backup", "--json"], { env, home: brand.home });
  const { path, records } = JSON.parse((await backup.ended).out);
  expect(sync.child.exitCode).toBeNull();
  expect(records).toBeGreaterThan(0);
  expect(records).toBeLessThan(2_000);
  expect(read(path, "SELECT count(*) FROM orders")).toBe(records);
  expect(read(path, "SELECT rows_new FROM sync_runs")).toBe(records);
  expect(read(path, "PRAGMA integrity_check")).toBe("ok");
  finishSync();
  expect((await sync.ended).code).toBe(0);
});

test("backup removes a copy that fails its check, and keeps the existing backups", async () => {
  const brand = await mirrored();
  await backUp(brand);
  const before = backups(brand);
  // The damaged index makes the copy fail its check.
  const mirror = new Sqlite(brand.db);
  mirror.unsafeMode().pragma("writable_schema = 1");
  mirror.exec(
    "UPDATE sqlite_master SET sql = replace(sql, '(resource, key)', '(key, resource)') WHERE name = 'records_key'",
  );
  mirror.close();
  brand.pass(day);
  const env = { BRANDAPI_DB: brand.db };
  const ran = await spawnBrandapi(["backup", "--keep", "1"], { env, home: brand.home }).ended;
  expect([ran.code, ran.err]).toEqual([3, expect.stringContaining("The mirror cannot be copied (")]);
  expect(backups(brand)).toEqual(before);
});

test("backup exits with code 3 for a folder that does not exist or is not writable", async () => {
  const brand = await mirrored();
  const gone = await brand.run("backup nowhere");
  expect([gone.code, gone.err]).toEqual([3, expect.stringMatching(/hint: run `mkdir -p \S+\/nowhere`/)]);
  mkdirSync(join(brand.home, "full"));
  writeFileSync(join(brand.home, "file"), "");
  const file = await brand.run("backup file");
  expect([file.code, file.err]).toEqual([3, expect.stringContaining("it is a file, not a folder")]);
  chmodSync(join(brand.home, "full"), 0o500);
  if (process.getuid?.() !== 0) expect((await brand.run("backup full")).code).toBe(3);
  expect(readdirSync(join(brand.home, "full"))).toEqual([]);
});

test("the error from backup names the destination if the copy does not fit on the disk", async () => {
  const brand = await mirrored();
  const folder = join(brand.home, "small");
  mkdirSync(folder);
  const limited = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`;
  const { code, err } = await spawnBrandapi(["backup", folder], {
    env: { BRANDAPI_DB: brand.db },
    home: brand.home,
    node: ["sh", "-c", limited, process.execPath],
  }).ended;
  expect([code, err]).toEqual([3, expect.stringContaining(`Cannot write a copy to the folder ${folder}: `)]);
  expect(readdirSync(folder)).toEqual([]);
});

test("backup --restore keeps the replaced mirror, and the next sync continues from the backup", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  brand.pass(day);
  brand.order();
  brand.pass(hour);
  await brand.run("sync orders");
  expect(brand.mirrored("orders")).toHaveLength(51);
  const ran = await brand.run(["backup", "--restore", path, "--json"]);
  const kept = `${brand.db}.before-${brand.now()}`;
  expect(JSON.parse(ran.out)).toEqual({ db: brand.db, restored: path, kept });
  expect(ran.err).toContain(`To undo, run \`brandapi backup --restore ${kept}\`.`);
  expect(ran.err).toContain("Next: run `brandapi sync` to read newer data.");
  expect(ran.err).not.toContain("warning");
  expect(brand.mirrored("orders")).toHaveLength(50);
  expect(read(kept, "SELECT count(*) FROM orders")).toBe(51);
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(brand.mirrored("orders")).toHaveLength(51);
});

test("if a signal arrives after the last step, backup reports that the copy is complete", async () => {
  const brand = await mirrored();
  const deps = {
    ...testDeps({ home: brand.home, env: brand.env, clock: brand.clock }),
    async runGracefully<T>(work: () => Promise<T>): Promise<T> {
      const result = await work();
      if (readdirSync(join(brand.home, "backups")).some((name) => name.endsWith("Z.sqlite")))
        throw new Stopped("SIGINT");
      return result;
    },
  };
  expect(await runCommandLine(scanCommandLine(["backup"]), deps)).toBe(130);
  expect(deps.stderr.text).toContain("the backup is complete and has been kept: ");
});

test("backup --restore rejects the mirror itself as a backup, and changes nothing", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const before = readdirSync(dirname(brand.db));
  const { code, err } = await brand.run(["backup", "--restore", brand.db]);
  expect([code, err]).toEqual([2, expect.stringContaining("is the mirror itself")]);
  expect(err).toContain(dirname(path));
  expect(readdirSync(dirname(brand.db))).toEqual(before);
});

test("backup --restore replaces a damaged or empty mirror", async () => {
  const brand = await mirrored(500);
  const { path } = await backUp(brand);
  new Sqlite(brand.db).pragma("wal_checkpoint(TRUNCATE)");
  const file = openSync(brand.db, "r+");
  writeSync(file, Buffer.alloc(200, 7), 0, 200, 0);
  closeSync(file);
  const status = await brand.run("status");
  expect(status.code).toBe(3);
  expect((await brand.run(["backup", "--restore", path])).code).toBe(0);
  expect((await brand.run("status")).code).toBe(0);
  writeFileSync(brand.db, "");
  brand.pass(1);
  expect((await brand.run(["backup", "--restore", path])).code).toBe(0);
  expect(brand.mirrored("orders")).toHaveLength(500);
});

test("backup names its files after the mirror, so backups of two mirrors have different names", async () => {
  const brand = await mirrored();
  const other = { env: { BRANDAPI_DB: join(brand.home, "other.sqlite") } };
  await brand.run("sync orders", other);
  for (const options of [{}, other]) expect((await brand.run("backup", options)).code).toBe(0);
  expect(backups(brand)).toEqual([
    expect.stringMatching(/^brand-1-\d{8}T\d{9}Z\.sqlite$/),
    expect.stringMatching(/^other-\d{8}T\d{9}Z\.sqlite$/),
  ]);
});

test("backup --restore names the last backup if the file to restore does not exist", async () => {
  const brand = makeBrand({ history: 3 });
  await brand.run("sync roster");
  const missing = await brand.run("backup --restore latest");
  expect([missing.code, missing.err]).toEqual([3, expect.stringContaining("The backup does not exist: ")]);
  expect(missing.err).toContain("pass the path of a file that `brandapi backup` wrote");

  const { path } = JSON.parse((await brand.run("backup --json")).out);
  const { code, err } = await brand.run("backup --restore latest");
  expect([code, err]).toEqual([3, expect.stringContaining(`\`brandapi backup --restore ${path}\``)]);
});

test("backup --restore warns about a backup from a different mirror of the same brand", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  expect((await brand.run(["backup", "--restore", path])).err).not.toContain("different mirror");
  brand.pass(day);
  const other = { env: { BRANDAPI_DB: join(brand.home, "other.sqlite") } };
  await brand.run("sync orders", other);
  const restored = await brand.run(["backup", "--restore", path], other);
  expect([restored.code, restored.err]).toEqual([
    0,
    expect.stringContaining("from a different mirror of this brand"),
  ]);
});

test("backup uses different names for two backups in the same second", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  brand.pass(1);
  const second = await backUp(brand);
  expect(second.path.slice(0, -11)).toBe(path.slice(0, -11));
  expect(backups(brand)).toHaveLength(2);
});

test("backup removes the new copy if the backup cannot be recorded in the mirror", async () => {
  const brand = await mirrored();
  const mirror = new Sqlite(brand.db);
  mirror.exec("CREATE TRIGGER full BEFORE INSERT ON mirror_info BEGIN SELECT raise(ABORT, 'full'); END");
  mirror.close();
  const env = { BRANDAPI_DB: brand.db };
  const { code } = await spawnBrandapi(["backup"], { env, home: brand.home }).ended;
  expect([code, readdirSync(join(brand.home, "backups"))]).toEqual([1, []]);
});

test("backup --keep never removes the mirror itself, regardless of its name", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  brand.pass(day);
  const copied = await brand.run([
    "backup",
    join(brand.home, "backups"),
    "--keep",
    "1",
    "--db",
    path,
    "--json",
  ]);
  expect(JSON.parse(copied.out).removed).toEqual([]);
  expect(backups(brand)).toHaveLength(2);
});

test("backup --restore does not replace a mirror that is in use or read-only", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const other = new Sqlite(brand.db).exec("BEGIN IMMEDIATE");
  expect((await brand.run(["backup", "--restore", path])).code).toBe(9);
  other.close();
  chmodSync(brand.db, 0o400);
  const { code } = await brand.run(["backup", "--restore", path]);
  if (process.getuid?.() !== 0) expect(code).toBe(3);
});

test("backup --restore keeps the mirror if the backup is damaged or belongs to another brand", async () => {
  const brand = await mirrored(500);
  const other = makeBrand({ sameApiAs: brand, seed: 2, history: 20, listLimit: 10 });
  await other.run("sync roster");
  const foreign = JSON.parse((await other.run("backup --json")).out).path;
  const refused = await brand.run(["backup", "--restore", foreign]);
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("The backup belongs to ")]);
  brand.pass(day);
  const { path } = await backUp(brand);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(60_000, 7), 0, 60_000, 16_384 * 3);
  closeSync(file);
  expect((await brand.run(["backup", "--restore", path])).code).toBe(3);
  expect((await brand.run("backup --restore nowhere.sqlite")).code).toBe(3);
  expect(brand.mirrored("orders")).toHaveLength(500);
  const notes = join(brand.home, "notes.sqlite");
  new Sqlite(notes).exec("CREATE TABLE notes (text)").close();
  const sound = (await brand.run("backup --json")).out;
  const over = await brand.run(["backup", "--restore", JSON.parse(sound).path, "--db", notes]);
  expect([over.code, over.err]).toEqual([3, expect.stringContaining("Not a brandapi mirror: ")]);
  expect(readdirSync(brand.home).filter((name) => /before/.test(name))).toEqual([]);
});

test("backup --restore asks the user to run forget again if the IDs of forgotten hosts cannot be read from the damaged mirror", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  damage(brand.db, "mirror_info");
  const ran = await brand.run(["backup", "--restore", path, "--json"]);
  expect([ran.code, ran.err]).toEqual([
    0,
    expect.stringContaining("hosts that were forgotten after this backup"),
  ]);
  expect((await brand.run("status")).out).toContain(`Last backup: 2026-11-21 12:00, 0s ago, ${path}`);
  expect((await brand.run("sync orders")).code).toBe(0);
});

test("backup --restore creates a missing mirror, and asks the user to run forget again", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  rmSync(brand.db);
  const { out, err } = await brand.run(["backup", "--restore", path, "--json"]);
  expect(JSON.parse(out)).toEqual({ db: brand.db, restored: path, kept: null });
  expect(err).toContain("hosts that were forgotten after this backup");
  expect(err).not.toContain("To undo");
  expect(brand.mirrored("orders")).toHaveLength(50);
});

test("backup --restore keeps the redaction rules of a mirror whose `sync_runs` table is damaged", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  await brand.run("forget --host h1 --yes");
  damage(brand.db, "sync_runs");
  const { code, err } = await brand.run(["backup", "--restore", path]);
  expect([code, err]).toEqual([0, expect.not.stringContaining("warning")]);
  expect(brand.sql("SELECT DISTINCT host_id, host_username FROM orders")).toEqual([
    { host_id: "h1", host_username: null },
  ]);
});

test("forget and backup --restore warn about a user-defined unique index that the rewritten rows would violate", async () => {
  const brand = await mirrored(3);
  const db = new Sqlite(brand.db);
  db.exec("DELETE FROM orders WHERE id <> 'o1'; CREATE UNIQUE INDEX mine ON orders (currency)").close();
  const { path } = await backUp(brand);
  for (const command of ["forget --host h1 --yes", `backup --restore ${path}`]) {
    const { code, err } = await brand.run(command);
    expect([code, err]).toEqual([0, expect.stringMatching(/^warning: the index `mine` .* was dropped/m)]);
  }
});

test("if the mirror is missing, backup --restore rejects a backup of a brand other than the profile's", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const profile = { db: brand.db, brandId: "b2", brandName: "Basalt" };
  const folder = join(brand.home, "config");
  mkdirSync(folder);
  writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles: { default: profile } }), {
    mode: 0o600,
  });
  const restore = () =>
    brand.run(["backup", "--restore", path], { env: { BRANDAPI_DB: "", BRANDAPI_CONFIG_DIR: folder } });
  expect((await restore()).code).toBe(0);
  rmSync(brand.db);
  const refused = await restore();
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("belongs to another brand, ")]);
  expect(existsSync(brand.db)).toBe(false);
});

test("backup --restore exits with code 3 for a file that is not a backup", async () => {
  const brand = await mirrored();
  const file = join(brand.home, "file");
  const restored = async () => {
    const ran = await brand.run(["backup", "--restore", file]);
    expect(ran.err).toContain("hint: choose a different backup");
    return [ran.code, ran.err.split("\n")[0]];
  };
  writeFileSync(file, "");
  expect(await restored()).toEqual([3, expect.stringContaining("The backup cannot be copied (it is empty)")]);
  new Sqlite(file).exec("CREATE TABLE notes (text)").close();
  expect(await restored()).toEqual([3, expect.stringContaining("Not a brandapi mirror")]);
  writeFileSync(file, "notes".repeat(1_000));
  expect(await restored()).toEqual([3, expect.stringContaining("not an SQLite database")]);
  const { path } = await backUp(brand);
  damage(path, "sync_runs");
  renameSync(path, file);
  expect(await restored()).toEqual([3, expect.stringContaining("malformed")]);
  expect(brand.mirrored("orders")).toHaveLength(50);
});

test("after backup --restore, the mirror still lists the backups that are newer than the restored backup", async () => {
  const brand = await mirrored();
  const first = await backUp(brand);
  brand.pass(day);
  const second = await backUp(brand);
  await brand.run(["backup", "--restore", first.path]);
  expect((await brand.run("status")).out).toContain(second.path);
  brand.pass(day);
  expect((await backUp(brand, "--keep 2")).removed).toEqual([first.path]);
  await brand.run(["backup", "--restore", second.path]);
  brand.pass(day);
  expect((await backUp(brand, "--keep 1")).removed).toHaveLength(2);
});

test("backup --keep does not remove the backups of the mirror from which the current mirror was restored", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  brand.pass(day);
  await backUp(brand);
  const options = { env: { BRANDAPI_DB: join(brand.home, "other.sqlite"), BRANDAPI_PROFILE: "test" } };
  await brand.run("login --key-stdin --profile test", { stdin: brand.key });
  expect((await brand.run(["backup", "--restore", path], options)).code).toBe(0);
  const other = await brand.run(["backup", "backups", "--keep", "1"], options);
  expect([other.code, other.out]).toEqual([0, expect.stringMatching(/\/other-.*checked\n$/)]);
  expect(backups(brand)).toHaveLength(3);
});

test("status does not list a backup that has been deleted", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  rmSync(path);
  expect((await brand.run("status")).out).not.toContain("Last backup");
  brand.pass(15 * day);
  expect((await brand.run("doctor")).out).toContain(
    "!  backup: there is no backup, and the mirror's data goes back to 2026-11-21",
  );
});

test("backup --restore exits with code 3 for a missing file and for a folder", async () => {
  const brand = await mirrored();
  const gone = await brand.run("backup --restore nosuch");
  expect([gone.code, gone.err]).toEqual([3, expect.stringContaining("The backup does not exist")]);
  const folder = await brand.run("backup --restore .");
  expect([folder.code, folder.err]).toEqual([3, expect.stringContaining("`--restore`")]);
});

test("backup rejects an empty folder path", async () => {
  const brand = await mirrored();
  expect((await brand.run(["backup", ""])).code).toBe(2);
});

test("backup rejects --restore together with --keep or a folder", async () => {
  const brand = await mirrored();
  expect((await brand.run("backup here --restore file")).code).toBe(2);
  expect((await brand.run("backup --keep 3 --restore file")).code).toBe(2);
});

/** A preloaded module that kills the process at a given step, or makes hard links fail. */
const steps = `import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  let left = Number(process.env.KILL_AT);
  for (const name of ["linkSync", "copyFileSync", "renameSync"]) {
    const step = fs[name];
    fs[name] = (...files) => {
      if (left-- === 0) process.kill(process.pid, "SIGKILL");
      if (name === "linkSync" && process.env.NO_LINKS) throw new Error("EPERM");
      return step(...files);
    };
  }
  syncBuiltinESMExports();`;

async function restoreUpTo(step: number | "never", brand: TestBrand, path: string, env = {}) {
  const preload = join(brand.home, "steps.mjs");
  writeFileSync(preload, steps);
  const node = [process.execPath, "--import", preload] as const;
  return await spawnBrandapi(["backup", "--restore", path, "--json"], {
    env: { BRANDAPI_DB: brand.db, KILL_AT: String(step), ...env },
    home: brand.home,
    node,
  }).ended;
}

test("backup --restore leaves a complete mirror no matter when it is killed", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const note = "INSERT OR REPLACE INTO notices VALUES ('test', ?)";
  const noted = "SELECT first_at FROM notices WHERE subject = 'test'";
  let step = 0;
  for (let code: number | null = null; code === null; step += 1) {
    const other = new Sqlite(brand.db);
    other.prepare(note).run(String(step));
    other.close();
    ({ code } = await restoreUpTo(step, brand, path));
    expect([read(brand.db, noted), read(brand.db, "PRAGMA integrity_check")]).toEqual([
      code === 0 ? undefined : String(step),
      "ok",
    ]);
  }
  expect(step).toBe(3);
});

/** Restores a backup, and sends SIGINT when SQLite turns off WAL mode in a file whose path ends in `suffix`. */
async function restoreWithSignal(brand: TestBrand, path: string, suffix: string, time: number) {
  const preload = join(brand.home, "signal.cjs");
  writeFileSync(
    preload,
    `const { prototype } = require(${JSON.stringify(sqlitePath)});
    const { pragma } = prototype;
    let times = 0;
    prototype.pragma = function (text, ...rest) {
      if (text === "journal_mode = DELETE" && this.name.endsWith(${JSON.stringify(suffix)}) && ++times === ${time})
        process.kill(process.pid, "SIGINT");
      return pragma.call(this, text, ...rest);
    };`,
  );
  return await spawnBrandapi(["backup", "--restore", path], {
    env: { BRANDAPI_DB: brand.db },
    home: brand.home,
    node: [process.execPath, "--require", preload],
  }).ended;
}

test("backup --restore removes the copy if a signal arrives while the copy is being prepared", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  // The program turns off WAL mode twice: when it checks the copy, and when it prepares the copy. The signal is sent
  // the second time.
  expect((await restoreWithSignal(brand, path, ".part", 2)).code).toBe(130);
  expect(readdirSync(brand.home).filter((name) => /part|before/.test(name))).toEqual([]);
});

test("backup --restore finishes if a signal arrives while the mirror is being replaced", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const { code, err } = await restoreWithSignal(brand, path, brand.db, 1);
  expect([code, err]).toEqual([130, expect.stringContaining("has been restored")]);
  expect(readdirSync(brand.home).filter((name) => /part|before/.test(name))).toHaveLength(1);
});

test("backup --restore works on a file system that does not support hard links", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  brand.order();
  brand.pass(hour);
  await brand.run("sync orders");
  const { out } = await restoreUpTo("never", brand, path, { NO_LINKS: "1" });
  expect(read(JSON.parse(out).kept, "SELECT count(*) FROM orders")).toBe(51);
  expect(brand.mirrored("orders")).toHaveLength(50);
});

test("backup --restore ignores the write-ahead log of a deleted mirror", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const other = new Sqlite(brand.db);
  other.exec("UPDATE orders SET currency = 'XXX'");
  rmSync(brand.db);
  expect((await brand.run(["backup", "--restore", path])).code).toBe(0);
  other.close();
  expect(brand.sql("SELECT DISTINCT currency FROM orders")).not.toContainEqual({ currency: "XXX" });
  expect(read(brand.db, "PRAGMA integrity_check")).toBe("ok");
});

test("backup --restore exits with code 9 while another program has the mirror open", async () => {
  const brand = await mirrored();
  const { path } = await backUp(brand);
  const other = new Sqlite(brand.db);
  other.exec("SELECT 1 FROM orders");
  const ran = await restoreUpTo("never", brand, path);
  expect([ran.code, ran.err]).toEqual([9, expect.stringContaining("close the program")]);
  expect(readdirSync(brand.home).filter((name) => /part|before/.test(name))).toEqual([]);
  other.close();
  brand.pass(day);
  expect((await brand.run(["backup", "--restore", path])).code).toBe(0);
});

test("doctor warns if there has been no backup for two weeks", async () => {
  const brand = await mirrored();
  const check = async () => /^(..) backup: .*$/m.exec((await brand.run("doctor")).out)?.[1];
  expect(await check()).toBe("ok");
  brand.pass(15 * day);
  expect(await check()).toBe("! ");
  await backUp(brand);
  expect(await check()).toBe("ok");
});

test("backup copies a read-only mirror, and reports that it could not record the backup in the mirror", async () => {
  const brand = await mirrored();
  const folder = join(brand.home, "copies");
  mkdirSync(folder);
  chmodSync(brand.db, 0o444);
  for (const path of [brand.home, folder]) chmodSync(path, 0o777);
  const isRoot = process.getuid?.() === 0;
  const { code, out } = await spawnBrandapi(["backup", folder], {
    env: { BRANDAPI_DB: brand.db },
    home: brand.home,
    ...(isRoot && { uid: 65_534 }),
  }).ended;
  expect([code, out]).toEqual([0, expect.stringContaining("The mirror is read-only")]);
  expect(readdirSync(folder)).toHaveLength(1);
});

test("backup leaves no incomplete copy when it is interrupted", async () => {
  const brand = await mirrored(3_000);
  const folder = join(brand.home, "copies");
  mkdirSync(folder);
  const backup = spawnBrandapi(["backup", folder], { env: { BRANDAPI_DB: brand.db }, home: brand.home });
  await until(() => readdirSync(folder).length > 0);
  backup.child.kill("SIGINT");
  const { err } = await backup.ended;
  expect(err).not.toContain("read so far is kept");
  const names = readdirSync(folder);
  expect(names.filter((name) => name.endsWith(".part"))).toEqual([]);
  if (names.length === 0) expect(err).not.toContain("the backup is complete");
});

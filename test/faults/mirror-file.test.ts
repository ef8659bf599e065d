import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { makeBrand, readsOrders, type TestBrand } from "../support/brand.js";
import { hour, noon, ordersBefore } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

const orders = ordersBefore(noon - hour, 350, hour);

async function syncedBrand(): Promise<TestBrand> {
  const brand = makeBrand({ orders });
  expect((await brand.run("sync orders")).code).toBe(0);
  return brand;
}

/** Changes the mirror directly, as another program would while no command is running. */
function executeSql({ db }: TestBrand, sql: string): void {
  const mirror = new Sqlite(db);
  mirror.exec(sql);
  mirror.close();
}

function overwrite({ db }: TestBrand): void {
  writeFileSync(db, readFileSync(db).fill(0x5a, 100, 4_096));
}

function foreign(brand: TestBrand): void {
  rmSync(brand.db);
  executeSql(brand, "CREATE TABLE invoices (id TEXT)");
}

function folder({ db }: TestBrand): void {
  rmSync(db);
  mkdirSync(db);
}

test.each<[string, (brand: TestBrand) => void, RegExp]>([
  [
    "a file that is not a database",
    ({ db }) => writeFileSync(db, "order,amount\n1,2\n".repeat(500)),
    /is not a|damaged/,
  ],
  ["a mirror with an overwritten first page", overwrite, /damaged|not a/],
  ["another program's database", foreign, /not a|another/],
  ["a mirror from a newer version", (brand) => executeSql(brand, "PRAGMA user_version = 9999"), /newer/],
  ["a folder", folder, /folder|directory/],
])(
  "if the mirror's path refers to %s, commands exit with code 3 and change nothing",
  async (_, spoil, says) => {
    const brand = await syncedBrand();
    spoil(brand);
    const before = statSync(brand.db).isFile() ? readFileSync(brand.db) : null;
    for (const command of ["sync orders", "export orders --csv", "status", "query SELECT"]) {
      const { code, err } = await brand.run(command);
      expect([command, code], err).toEqual([command, 3]);
      expect(err).toMatch(says);
    }
    if (before) expect(readFileSync(brand.db).equals(before)).toBe(true);
  },
);

test("if the mirror's path is a folder, the error suggests the mirror in that folder", async () => {
  const brand = await syncedBrand();
  const { code, err } = await brand.run(["status", "--db", dirname(brand.db)]);
  expect([code, err]).toEqual([3, expect.stringContaining(`--db ${brand.db}`)]);
});

test("sync suggests `backup --restore` if the header of the mirror file is damaged", async () => {
  const brand = await syncedBrand();
  const { path } = JSON.parse((await brand.run("backup --json")).out);
  for (const [from, to] of [
    [0, 16],
    [0, 100],
    [0, 4_096],
  ] as const) {
    writeFileSync(brand.db, readFileSync(brand.db).fill(0x5a, from, to));
    for (const command of ["sync orders", "status", "doctor", "export orders --csv"]) {
      const { code, out, err } = await brand.run(command);
      expect([command, code], err).toEqual([command, 3]);
      expect(out + err).toMatch(/`brandapi backup --restore (FILE|\S+\.sqlite)/);
    }
    const restored = await brand.run(["backup", "--restore", path]);
    expect(restored.code, restored.err).toBe(0);
    expect(brand.mirrored()).toHaveLength(350);
  }
});

test("sync --db prints a notice when it creates a new mirror file", async () => {
  const brand = await syncedBrand();
  const created = await brand.run("sync orders --db typo.sqlite");
  expect([created.code, created.err]).toEqual([
    0,
    expect.stringMatching(/Creating a new mirror: \S+typo\.sqlite/),
  ]);
  expect((await brand.run("sync orders --db typo.sqlite")).err).not.toContain("new mirror");
  const rejected = await brand.run("sync orders --db other.sqlite", { env: { BRANDAPI_KEY: "unknown-key" } });
  expect([rejected.code, rejected.err]).toEqual([4, expect.not.stringContaining("new mirror")]);
});

test("if a folder exists at the lock file's path, sync reports the path, and status still works", async () => {
  const brand = await syncedBrand();
  rmSync(`${brand.db}-lock`, { force: true });
  mkdirSync(`${brand.db}-lock`);
  const { code, err } = await brand.run("sync orders");
  expect([code, err]).toEqual([3, expect.stringContaining(`${brand.db}-lock: it is a folder`)]);
  expect((await brand.run("status")).code).toBe(0);
});

test("the error for a mirror that is locked by another program names the mirror", async () => {
  const brand = await syncedBrand();
  const other = new Sqlite(brand.db);
  brand.once(readsOrders, () => void other.exec("BEGIN IMMEDIATE"));
  const { code, err } = await brand.run("sync orders");
  other.close();
  expect([code, err]).toEqual([9, expect.stringContaining(`locked by another program: ${brand.db}`)]);
});

test("sync rejects the mirror of a different brand before it writes anything", async () => {
  const brand = await syncedBrand();
  const other = makeBrand({ sameApiAs: brand, seed: 2 });
  other.data.id = "b0000000-0000-4000-8000-000000000002";
  const { code, err } = await other.run("sync orders", { env: { BRANDAPI_DB: brand.db } });
  expect(code, err).toBe(3);
  expect(err).toMatch(/another brand|belongs to/);
  expect(brand.mirrored()).toHaveLength(350);
  // The mirror does not record the failed sync, because it was a sync of a different brand.
  const status = JSON.parse((await brand.run("status --json")).out);
  expect(status).toMatchObject({ failed_run: null });
});

test.each(["replaced", "deleted"])(
  "sync exits with code 3 and does not report success if the mirror is %s during the sync",
  async (what) => {
    const brand = await syncedBrand();
    writeFileSync(`${brand.db}.new`, readFileSync(brand.db));
    brand.once(readsOrders, () => {
      if (what === "deleted") rmSync(brand.db);
      else renameSync(`${brand.db}.new`, brand.db);
      return undefined;
    });
    const { code, err } = await brand.run("sync orders --full");
    expect(code, err).toBe(3);
    expect(err).not.toContain("verified");
    for (const end of ["-wal", "-shm"]) rmSync(brand.db + end, { force: true });
    expect((await brand.run("sync orders")).code).toBe(0);
    expect(brand.mirrored()).toHaveLength(350);
  },
);

test("sync turns an empty file into a mirror", async () => {
  const brand = makeBrand({ orders });
  writeFileSync(brand.db, "");
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(brand.mirrored()).toHaveLength(350);
});

test("sync creates mirrors that only their owner can access", async () => {
  expect(statSync((await syncedBrand()).db).mode & 0o077).toBe(0);
});

test("sync exits with code 3 if the mirror's folder cannot be created", async () => {
  const { code, err } = await makeBrand({ orders }).run("sync orders --db /proc/none/x.sqlite");
  expect(code, err).toBe(3);
});

test("forget exits with code 3 and suggests backup --restore if a record's JSON was overwritten", async () => {
  const brand = await syncedBrand();
  executeSql(brand, "UPDATE records SET json = '{x' WHERE record_id = 7");
  const { code, err } = await brand.run("forget --host ada --yes");
  expect(code, err).toBe(3);
  expect(err).toContain("malformed JSON");
  expect(err).toContain("brandapi backup --restore FILE");
});

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { allResources } from "../../src/resources/registry.js";
import { backupName } from "../../src/store/backups.js";
import { openMirror, openMirrorForPlan, openMirrorForReading } from "../../src/store/open.js";
import { migrations } from "../../src/store/schema.js";
import { compareTables } from "../../src/store/table-check.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { anOrder } from "../support/mirror.js";
import { spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";
import { Sqlite } from "../support/sqlite.js";

const schema = readFileSync(new URL("./schema-0.1.0.sql", import.meta.url), "utf8");
const day = (n: number) => `2026-11-0${n}T00:00:00.000Z`;

/**
 * Creates a mirror from version 0.1.0 with a refunded order and a removed order.
 *
 * @param more additional SQL to run
 */
function releasedMirror(more = ""): string {
  const path = join(makeHome(), "default.sqlite");
  const db = new Sqlite(path);
  db.exec(schema);
  const record = db.prepare(
    `INSERT INTO records (record_id, resource, key, json, dated_at, since_at, removed_at)
     VALUES (@id, @resource, @key, @json, @dated, @since, @removed)`,
  );
  const base = { resource: "orders", dated: null, since: day(1), removed: null };
  const json = (n: number, fields = {}) => JSON.stringify(anOrder(n, fields));
  record.run({ ...base, id: 1, key: "order-1", json: json(1, { refund_amount: 5 }), since: day(2) });
  record.run({ ...base, id: 2, key: "order-2", json: json(2), since: day(3), removed: day(3) });
  record.run({ ...base, id: 3, key: "order-3", json: json(3) });
  const gift = JSON.stringify({ id: 7, color: "red" });
  record.run({ ...base, id: 4, resource: "gifts", key: "7", json: gift, since: day(3), removed: day(3) });
  db.prepare("INSERT INTO record_versions VALUES (1, 1, ?, ?, ?, 1, 2)").run(json(1), day(1), day(2));
  db.prepare("INSERT INTO record_versions VALUES (2, 2, ?, ?, ?, 1, 3)").run(json(2), day(1), day(3));
  db.exec(`
    INSERT INTO orders (id, synced_at, removed_at, record_id)
      SELECT key, since_at, removed_at, record_id FROM records WHERE resource = 'orders';
    INSERT INTO changes (resource, key, kind, field, old, new, last_seen_unchanged_at, seen_changed_at, run_id)
      VALUES ('orders', 'order-1', 'changed', 'refund_amount', '0', '5', '${day(1)}', '${day(2)}', 2);
    INSERT INTO sync_runs (resource, started_at, finished_at, rows_read, outcome, verified)
      VALUES ('orders', '${day(1)}', '${day(1)}', 3, 'done', 1), ('gifts', '${day(1)}', '${day(1)}', 1, 'done', 1);
    INSERT INTO mirror_info VALUES ('brand_id', 'b'), ('brand_name', 'Brand');
    ${more}`);
  db.close();
  return path;
}

function rowsIn(path: string, sql: string): unknown[] {
  const db = new Sqlite(path, { readonly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

function backupsOf(path: string): string[] {
  const folder = join(path, "..", "backups");
  return readdirSync(folder).map((name) => join(folder, name));
}

const history = ["record_versions", "changes", "sync_runs"].map(
  (table) =>
    `SELECT * FROM ${table === "record_versions" ? "(SELECT version_id, record_id, json, since_at, until_at, present, run_id FROM record_versions)" : table}`,
);

test.each([
  ["reads", openMirrorForReading],
  ["syncs", openMirror],
])(
  "a mirror from version 0.1.0 is migrated when a command %s it, and keeps its history and removed records",
  async (_, open) => {
    const path = releasedMirror();
    const before = history.map((sql) => rowsIn(path, sql));
    const mirror = await open(path);
    expect(await compareTables(mirror, allResources)).toEqual([]);
    mirror.db.close();
    expect(rowsIn(path, "PRAGMA user_version")).toEqual([{ user_version: migrations.length }]);
    expect(history.map((sql) => rowsIn(path, sql))).toEqual(before);
    expect(rowsIn(path, "SELECT id, refund_amount FROM orders ORDER BY id")).toEqual([
      { id: "order-1", refund_amount: 5 },
      { id: "order-3", refund_amount: 0 },
    ]);
    expect(rowsIn(path, "SELECT id, removed_at FROM orders_removed")).toEqual([
      { id: "order-2", removed_at: day(3) },
    ]);
    expect(rowsIn(path, "SELECT order_id FROM order_line_items_removed")).toEqual([{ order_id: "order-2" }]);
    expect(rowsIn(path, "SELECT color FROM gifts_removed")).toEqual([{ color: "red" }]);
    expect(rowsIn(path, "SELECT id, net_amount FROM orders_net")).toHaveLength(2);
  },
);

test("a dry run migrates only a copy of a mirror from version 0.1.0", async () => {
  const path = releasedMirror();
  const copy = await openMirrorForPlan(path);
  expect(copy.selectValues("SELECT id FROM orders ORDER BY id")).toEqual(["order-1", "order-3"]);
  copy.db.close();
  expect(rowsIn(path, "PRAGMA user_version")).toEqual([{ user_version: 1 }]);
});

test("a mirror from version 0.1.0 is backed up before its migration", async () => {
  const path = releasedMirror();
  const before = rowsIn(path, "SELECT * FROM orders ORDER BY record_id");
  const first = await brandapi(["query", "SELECT count(*) AS orders FROM orders", "--db", path]);
  expect(first).toMatchObject({ code: 0, out: expect.stringContaining("2") });
  const [backup = "", ...others] = backupsOf(path);
  expect(others).toEqual([]);
  expect(first.err).toContain(`Backup of the earlier version: ${backup}`);
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  expect(rowsIn(backup, "PRAGMA user_version")).toEqual([{ user_version: 1 }]);
  expect(rowsIn(backup, "SELECT * FROM orders ORDER BY record_id")).toEqual(before);
  expect(statSync(dirname(backup)).mode & 0o777).toBe(0o700);
  const at = statSync(backup).mtime.toISOString();
  expect(basename(backup)).toBe(backupName(path, at, "-before-migration"));
  expect(rowsIn(path, "SELECT value FROM mirror_info WHERE name = 'last_backup'")).toEqual([
    { value: JSON.stringify({ at, path: backup }) },
  ]);
  const again = await brandapi(["query", "SELECT 1", "--db", path]);
  expect(again).toMatchObject({ code: 0, err: "" });
  expect(backupsOf(path)).toEqual([backup]);
  const restored = await brandapi(["backup", "--restore", backup, "--db", path]);
  expect(restored.code).toBe(0);
  expect(backupsOf(path)).toEqual([backup]);
  expect(rowsIn(path, "SELECT id FROM orders_removed")).toEqual([{ id: "order-2" }]);
});

test("if several commands open a mirror from version 0.1.0 at the same time, the mirror is migrated only once", async () => {
  const path = releasedMirror();
  const env = { BRANDAPI_DB: path };
  const runs = await Promise.all(
    ["tables", "status", "tables", "status"].map((command) => spawnBrandapi([command], { env }).ended),
  );
  expect(runs.map(({ code }) => code)).not.toContain(9);
  expect(runs.filter(({ err }) => err.includes("The mirror was migrated"))).toHaveLength(1);
  expect(backupsOf(path)).toHaveLength(1);
  expect(rowsIn(path, "PRAGMA user_version")).toEqual([{ user_version: migrations.length }]);
});

test("a mirror from version 0.1.0 is not migrated if it cannot be backed up", async () => {
  const path = releasedMirror();
  writeFileSync(join(path, "..", "backups"), "");
  const run = await brandapi(["status", "--db", path]);
  expect([run.code, run.err]).toEqual([
    3,
    expect.stringMatching(/not migrated.*could not be backed up.*backups\n +hint: .*writable folder/),
  ]);
  expect(rowsIn(path, "PRAGMA user_version")).toEqual([{ user_version: 1 }]);
});

test("if a mirror from version 0.1.0 is damaged, the error suggests `brandapi doctor`", async () => {
  const path = releasedMirror("UPDATE records SET removed_at = NULL");
  const db = new Sqlite(path);
  db.unsafeMode().pragma("writable_schema = ON");
  db.exec(
    "UPDATE sqlite_master SET sql = replace(sql, 'resource, key', 'key, resource') WHERE name = 'records_key'",
  );
  db.close();
  await expect(openMirror(path)).rejects.toMatchObject({ hint: "run `brandapi doctor`" });
});

test("a failed migration leaves a mirror from version 0.1.0 unchanged", async () => {
  const path = releasedMirror("UPDATE records SET json = 'not json' WHERE record_id = 3");
  await expect(openMirror(path)).rejects.toThrow("record 3 is not JSON");
  expect(rowsIn(path, "PRAGMA user_version")).toEqual([{ user_version: 1 }]);
  expect(rowsIn(path, "SELECT id FROM orders WHERE removed_at IS NOT NULL")).toEqual([{ id: "order-2" }]);
});

test("a migration keeps user-defined indexes, triggers and views, and reports any that no longer work", async () => {
  const path = releasedMirror(`
    CREATE TABLE log (id);
    CREATE INDEX my_index ON orders (currency);
    CREATE TRIGGER my_trigger AFTER INSERT ON orders BEGIN INSERT INTO log VALUES (new.id); END;
    CREATE VIEW my_view AS SELECT id FROM orders;
    CREATE INDEX old_index ON orders (removed_at);
    CREATE TRIGGER old_trigger AFTER INSERT ON orders WHEN new.removed_at IS NULL BEGIN SELECT 1; END;
    CREATE VIEW old_view AS SELECT id FROM orders WHERE removed_at IS NULL;
    CREATE VIEW roster_removed AS SELECT * FROM roster;
    CREATE TABLE content_removed (mine);`);
  const warnings: string[] = [];
  const reporter = { note: () => {}, warn: (text: string) => void warnings.push(text) };
  (await openMirror(path, { reporter })).db.close();
  expect(warnings).toEqual([
    "the view `roster_removed` was dropped, because brandapi now uses its name for a table: CREATE VIEW roster_removed AS SELECT * FROM roster",
    "the table `content_removed` was renamed to `content_removed_renamed`, because brandapi now uses the old name for a table of its own",
    "the index `old_index` that was added to `orders` is no longer valid and was dropped (no such column: removed_at): CREATE INDEX old_index ON orders (removed_at)",
    "the trigger `old_trigger` that was added to `orders` is no longer valid and was dropped (no such column: new.removed_at): CREATE TRIGGER old_trigger AFTER INSERT ON orders WHEN new.removed_at IS NULL BEGIN SELECT 1; END",
    "the view `old_view` no longer works: no such column: removed_at",
  ]);
  expect(
    rowsIn(path, "SELECT name FROM sqlite_master WHERE name LIKE 'my!_%' ESCAPE '!' ORDER BY 1"),
  ).toEqual(["my_index", "my_trigger", "my_view"].map((name) => ({ name })));
  expect(rowsIn(path, "SELECT * FROM log")).toEqual([]);
  expect(rowsIn(path, "SELECT mine FROM content_removed_renamed")).toEqual([]);
});

/**
 * Converts a mirror to schema version 4, and records that the last command failed and that access to orders was denied.
 * @param more additional SQL to run
 */
function downgradeToVersion4({ db: path }: TestBrand, more = ""): void {
  const db = new Sqlite(path);
  db.exec(`
    DROP INDEX faulty_slices_resource;
    ALTER TABLE faulty_slices RENAME TO marked_slices;
    CREATE INDEX marked_slices_resource ON marked_slices (resource);
    ALTER TABLE stored_totals RENAME COLUMN totals TO figures;
    ALTER TABLE stored_totals RENAME TO day_figures;
    ALTER TABLE discovered_columns RENAME TO open_columns;
    ALTER TABLE sync_state RENAME COLUMN ignored_filters TO distrusted;
    ALTER TABLE records RENAME COLUMN parameters TO context;
    ALTER TABLE records RENAME COLUMN status_bits TO flags;
    ALTER TABLE records RENAME COLUMN details_outdated TO outdated;
    ALTER TABLE records RENAME COLUMN dated_ms TO dated_at;
    UPDATE sync_state SET distrusted = '["cancelled"]' WHERE resource = 'orders';
    UPDATE mirror_info SET name = 'under_way' WHERE name = 'running_command';
    INSERT INTO mirror_info VALUES ('failed_run', '{"command":"sync","error":"no network"}');
    INSERT INTO mirror_info VALUES ('refused:orders', '{"error":"no access"}');
    PRAGMA user_version = 4;
    ${more}`);
  db.close();
}

test("the migration of a mirror with schema version 4 keeps the contents of renamed tables and columns", async () => {
  const brand = makeBrand({ history: 30, listLimit: 10 });
  await brand.run("sync");
  downgradeToVersion4(
    brand,
    `INSERT INTO marked_slices
       SELECT resource, '${day(1)}', '${day(2)}', '${day(3)}', 1, json_array(min(record_id)), 'a fault'
       FROM records WHERE resource = 'orders'`,
  );
  const readAll = (...tables: string[]) => tables.map((name) => brand.sql(`SELECT * FROM ${name}`));
  const oldInfo = "SELECT value FROM mirror_info WHERE name IN ('under_way', 'failed_run', 'refused:orders')";
  const newInfo =
    "SELECT value FROM mirror_info WHERE name IN ('running_command', 'failed_command', 'denied:orders')";
  const [recordsBefore] = readAll("records");
  const before = readAll("marked_slices", "day_figures", "open_columns", `(${oldInfo} ORDER BY value)`);
  expect(before.every(({ length }) => length > 0)).toBe(true);

  const status = await brand.run("status --json");
  expect(status.err).not.toContain("no longer");
  expect(JSON.parse(status.out)).toMatchObject({
    failed_run: { error: "no network" },
    resources: expect.arrayContaining([
      expect.objectContaining({ resource: "orders", refused: { error: "no access" } }),
    ]),
  });
  const after = readAll(
    "faulty_slices",
    "stored_totals",
    "discovered_columns",
    `(${newInfo} ORDER BY value)`,
  );
  const totals = before[1]?.map(({ figures, ...row }) => ({ ...row, totals: figures }));
  expect(after).toEqual([before[0], totals, ...before.slice(2)]);
  expect(brand.sql(oldInfo)).toEqual([]);
  const records = recordsBefore?.map(({ context, dated_at, flags, outdated, ...row }) => ({
    ...row,
    parameters: context,
    dated_ms: dated_at,
    status_bits: flags,
    details_outdated: outdated,
  }));
  expect(brand.sql("SELECT * FROM records")).toEqual(records);
  const ignored = "SELECT ignored_filters FROM sync_state WHERE resource = 'orders'";
  expect(brand.sql(ignored)).toEqual([{ ignored_filters: '["cancelled"]' }]);

  expect((await brand.run("sync")).code).toBe(0);
  expect(brand.sql("SELECT * FROM faulty_slices")).toEqual([]);
  expect((await brand.run("verify")).code).toBe(0);
});

test("if a sync fails because of a rejected key before it migrates an older mirror, status reports the rejected key", async () => {
  const brand = makeBrand();
  await brand.run("sync");
  downgradeToVersion4(brand);
  brand.setKey({ expiresAt: 0 });
  expect((await brand.run("sync")).code).toBe(4);
  const status = await brand.run("status --json");
  expect(JSON.parse(status.out)).toMatchObject({ failed_run: { isRefused: true } });
});

test("a migration changes the outcome of `verify` runs from `verified` to `compared`, even for runs that found differences", async () => {
  const path = releasedMirror(`
    INSERT INTO sync_runs (resource, started_at, outcome, verified, error)
      VALUES ('orders', '${day(2)}', 'verified', 1, NULL), ('orders', '${day(3)}', 'verified', 0, '2 orders differ')`);
  (await openMirror(path)).db.close();
  expect(rowsIn(path, "SELECT outcome, verified, error FROM sync_runs WHERE resource = 'orders'")).toEqual([
    { outcome: "done", verified: 1, error: null },
    { outcome: "compared", verified: 1, error: null },
    { outcome: "compared", verified: 0, error: "2 orders differ" },
  ]);
});

test("if values are stored under both old and new names, a migration keeps the values with the new names", async () => {
  const names = {
    under_way: "running_command",
    failed_run: "failed_command",
    "refused:orders": "denied:orders",
  };
  const values = Object.entries(names).map(([before, after]) => `('${before}', 'old'), ('${after}', 'new')`);
  const path = releasedMirror(`INSERT INTO mirror_info VALUES ${values.join(", ")}`);
  (await openMirror(path)).db.close();
  expect(
    rowsIn(path, "SELECT name, value FROM mirror_info WHERE value IN ('old', 'new') ORDER BY name"),
  ).toEqual(
    Object.values(names)
      .sort()
      .map((name) => ({ name, value: "new" })),
  );
});

test("a migration updates user-defined indexes, views and triggers that use a renamed table or column, even if other views and triggers are invalid", async () => {
  const path = releasedMirror(`
    INSERT INTO day_figures VALUES ('orders', '2026-11-01', '[3]');
    CREATE TABLE log (day);
    CREATE TABLE Content_Removed (mine);
    CREATE VIEW my_view AS SELECT figures AS mine FROM day_figures;
    CREATE TRIGGER my_trigger AFTER INSERT ON log BEGIN DELETE FROM day_figures WHERE day = new.day; END;
    CREATE VIEW my_records AS SELECT key, flags AS bits FROM records WHERE outdated = 0;
    CREATE INDEX my_index ON records (context) WHERE dated_at > 0;
    CREATE VIEW invalid_view AS SELECT absent FROM day_figures;
    CREATE VIEW invalid_records AS SELECT absent, flags FROM records;
    CREATE VIEW ambiguous AS SELECT status_bits FROM records JOIN (SELECT 1 AS status_bits);
    CREATE TRIGGER invalid_trigger AFTER INSERT ON log BEGIN DELETE FROM absent; END;`);
  const invalid = "SELECT sql FROM sqlite_master WHERE name LIKE 'invalid!_%' ESCAPE '!'";
  const invalidBefore = rowsIn(path, invalid);
  const warnings: string[] = [];
  const reporter = { note: () => {}, warn: (text: string) => void warnings.push(text) };
  const { db } = await openMirror(path, { reporter });
  expect(warnings).toEqual([
    expect.stringContaining("`Content_Removed` was renamed"),
    "the view `ambiguous` no longer works: ambiguous column name: status_bits",
  ]);
  expect(rowsIn(path, "SELECT mine FROM content_removed_renamed")).toEqual([]);
  expect(rowsIn(path, "SELECT mine FROM my_view")).toEqual([{ mine: "[3]" }]);
  expect(rowsIn(path, "SELECT * FROM my_records WHERE key = 'order-3'")).toEqual([
    { key: "order-3", bits: 0 },
  ]);
  expect(rowsIn(path, "SELECT sql FROM sqlite_master WHERE name = 'my_index'")).toEqual([
    { sql: "CREATE INDEX my_index ON records (parameters) WHERE dated_ms > 0" },
  ]);
  expect(rowsIn(path, invalid)).toEqual(invalidBefore);
  db.exec("DROP TRIGGER invalid_trigger; INSERT INTO log VALUES ('2026-11-01')");
  expect(rowsIn(path, "SELECT mine FROM my_view")).toEqual([]);
  db.close();
});

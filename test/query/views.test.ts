import { expect, test } from "vitest";
import { resolveTable } from "../../src/query/readable-tables.js";
import { loadTableDescription } from "../../src/query/table-descriptions.js";
import type { Mirror } from "../../src/store/database.js";
import { openMirror, openMirrorForReading } from "../../src/store/open.js";
import { views } from "../../src/views/all-views.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { Sqlite } from "../support/sqlite.js";
import { unusualOrders } from "./unusual-orders.js";

/** The SQLite storage types that are allowed for each declared column type. */
const sqliteTypes = {
  any: [],
  text: ["TEXT"],
  timestamp: ["TEXT"],
  date: ["TEXT"],
  json: ["TEXT"],
  integer: ["INT", "INTEGER", "NUM"],
  boolean: ["INT", "INTEGER", "NUM"],
  number: ["REAL", "NUM"],
};

async function filled(): Promise<Mirror> {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", unusualOrders(40), { at: "2026-11-09T02:00:00.000Z", whole: true });
  return mirror;
}

test("each view's declared columns and types match those that SQLite reports", async () => {
  const mirror = await filled();
  for (const { name, columns } of views) {
    const info = mirror.db.pragma(`table_info(${name})`) as { name: string; type: string }[];
    const declared = info.filter((column) => column.name !== "record_id");
    expect([name, columns.map((column) => column.name)]).toEqual([
      name,
      declared.map((column) => column.name),
    ]);
    for (const [index, { type }] of columns.entries())
      expect([name, declared[index]?.name, sqliteTypes[type]]).toEqual([
        name,
        declared[index]?.name,
        expect.arrayContaining([declared[index]?.type]),
      ]);
  }
  mirror.db.close();
});

test("each view declares exactly the tables that SQLite reads for it", async () => {
  const { db } = await makeMirror();
  const pages = db.prepare("SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0").raw().all();
  const tableAt = new Map(pages as [number, string][]);
  for (const { name, reads } of views) {
    const listing = db.prepare(`EXPLAIN SELECT * FROM ${name}`).all() as { opcode: string; p2: number }[];
    const opened = listing.flatMap(({ opcode, p2 }) =>
      opcode === "OpenRead" ? (tableAt.get(p2) ?? []) : [],
    );
    expect([name, reads.toSorted()]).toEqual([name, [...new Set(opened)].sort()]);
  }
  db.close();
});

test("each view's example query selects from the view and runs in any SQLite client", async () => {
  const mirror = await filled();
  const plain = new Sqlite(mirror.path, { readonly: true });
  for (const { name, date } of views) {
    const { example } = loadTableDescription(mirror, name);
    expect(example).toMatch(new RegExp(`\\b${name}\\b`));
    expect(() => plain.prepare(example).all()).not.toThrow();
    if (date) expect(resolveTable(mirror, name).columns.map((column) => column.name)).toContain(date);
  }
  plain.close();
  mirror.db.close();
});

test("each view with a `host_username` column has a `host_label` column next to it", () => {
  const withHost = views.filter(({ columns }) =>
    columns.some(({ name }) => /^(host_)?(username|label|name)$/.test(name)),
  );
  expect(withHost.length).toBeGreaterThan(6);
  for (const { name, columns } of withHost) {
    const names = columns.map((column) => column.name);
    expect([name, names[names.indexOf("host_username") + 1]]).toEqual([name, "host_label"]);
  }
});

test("`order_figures` is the only helper view (a view that `tables` does not list)", () => {
  expect(views.filter(({ isHelper }) => isHelper).map(({ name }) => name)).toEqual(["order_figures"]);
});

test.each([
  ["sales_by_day", "day, currency"],
  ["sales_by_month", "month, currency"],
  ["refunds_by_month", "month, currency"],
  ["restatements", "month, currency"],
  ["hosts_by_month", "month, host_id, currency"],
  ["hosts", "id"],
  ["commission_by_host", "host_id, currency"],
])("the rows of %s are sorted by %s", async (view, columns) => {
  const { db } = await filled();
  const rows = db.prepare(`SELECT ${columns} FROM ${view}`).all();
  expect(rows.length).toBeGreaterThan(2);
  expect(rows).toEqual(db.prepare(`SELECT ${columns} FROM ${view} ORDER BY ${columns}`).all());
  db.close();
});

async function older(): Promise<string> {
  const mirror = await filled();
  mirror.db.exec(`
    DROP VIEW sales_by_month; DROP VIEW orders_net;
    CREATE VIEW orders_net AS SELECT id, 0 AS net_amount FROM orders;
    CREATE VIEW mine AS SELECT 1 AS one`);
  mirror.db.close();
  return mirror.path;
}

test.each([
  ["reads the mirror", openMirrorForReading],
  ["syncs", openMirror],
])("a command that %s replaces outdated views and keeps user-defined views", async (_, open) => {
  const path = await older();
  (await open(path)).db.close();
  const db = new Sqlite(path, { readonly: true });
  const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").pluck().all();
  expect(names).toEqual([...views.map(({ name }) => name), "mine"].sort());
  expect(db.prepare("SELECT count(*) FROM orders_net WHERE net_amount > 0").pluck().get()).not.toBe(0);
  db.close();
});

test("views in an up-to-date mirror are not rewritten", async () => {
  const mirror = await filled();
  mirror.db.close();
  const before = new Sqlite(mirror.path, { readonly: true });
  const version = () => before.pragma("data_version", { simple: true });
  const first = version();
  (await openMirrorForReading(mirror.path)).db.close();
  expect(version()).toBe(first);
  before.close();
});

test.each([
  ["sales_by_day --since 2026-10-02 --until 2026-10-03", ["2026-10-02", "2026-10-03"]],
  ["sales_by_month --since 2026-10-15 --until 2026-11-02", ["2026-10", "2026-11"]],
])("export --since and --until filter a view by its day or month: %s", async (words, wanted) => {
  const mirror = await makeMirror();
  const dates = [
    "2026-09-30",
    "2026-10-01",
    "2026-10-02",
    "2026-10-03",
    "2026-10-04",
    "2026-11-01",
    "2026-12-01",
  ];
  writeRead(
    mirror,
    "orders",
    dates.map((day, n) => ({
      id: `o${n}`,
      order_date: `${day}T23:59:59.999Z`,
      currency: "EUR",
      total_amount: 1,
    })),
  );
  mirror.db.close();
  const column = words.startsWith("sales_by_day") ? "day" : "month";
  const { out } = await brandapi(`export ${words} --csv --columns ${column} --db ${mirror.path}`);
  expect(out.trim().split("\n").slice(1)).toEqual(wanted);
});

import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { allResources, resources } from "../../src/resources/registry.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import { compareTables } from "../../src/store/table-check.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const item = (title: string) => ({ title, sku: null, quantity: 1, price: 1 });
const host = (id: string) => ({ id, username: id, first_name: null, last_name: null, profile_photo: null });
const member = (n: number) => ({ relationship_id: `r${n}`, host: host(`h${n}`), commission_rate: 10 });

async function withRemovals() {
  const mirror = await makeMirror();
  const orders = [1, 2, 3].map((n) => anOrder(n, { line_items: [item("a"), item("b")] }));
  writeRead(mirror, "orders", orders, { at: at(1) });
  writeRead(mirror, "roster", [member(1), member(2)], { at: at(1) });
  writeRead(mirror, "gifts", [{ id: "g1", color: "red" }], { at: at(1) });
  writeRead(mirror, "orders", [], { at: at(2), remove: ["order-2", "order-3"] });
  writeRead(mirror, "roster", [], { at: at(2), remove: ["r1"] });
  writeRead(mirror, "gifts", [], { at: at(2), remove: ["g1"] });
  writeRead(mirror, "orders", [anOrder(3, { line_items: [item("c")] })], { at: at(3) });
  writeRead(mirror, "gifts", [{ id: "g2", size: 4 }], { at: at(3) });
  const all = (sql: string) => mirror.db.prepare(sql).all();
  return { mirror, all };
}

async function exported(path: string, ...args: string[]) {
  const run = await brandapi(["export", ...args, "--csv", "--db", path]);
  expect(run).toMatchObject({ code: 0, err: "" });
  return (parse(run.out) as string[][]).map((row) => row.join(" "));
}

test("removed records and their child rows are stored in separate tables, which are the only tables with a `removed_at` column", async () => {
  const { all } = await withRemovals();
  expect(all("SELECT id FROM orders ORDER BY id")).toEqual([{ id: "order-1" }, { id: "order-3" }]);
  expect(all("SELECT id, removed_at FROM orders_removed")).toEqual([{ id: "order-2", removed_at: at(2) }]);
  expect(all("SELECT order_id, title FROM order_line_items ORDER BY 1, 2")).toEqual([
    { order_id: "order-1", title: "a" },
    { order_id: "order-1", title: "b" },
    { order_id: "order-3", title: "c" },
  ]);
  expect(all("SELECT order_id, title, removed_at FROM order_line_items_removed ORDER BY 1, 2")).toEqual([
    { order_id: "order-2", title: "a", removed_at: at(2) },
    { order_id: "order-2", title: "b", removed_at: at(2) },
  ]);
  expect(all("SELECT count(*) AS hosts FROM roster")).toEqual([{ hosts: 1 }]);
  expect(() => all("SELECT removed_at FROM orders")).toThrow("no such column: removed_at");
});

test("the table for removed records has all columns of the main table, including columns of undocumented fields", async () => {
  const { all } = await withRemovals();
  const columns = (table: string) =>
    (all(`SELECT name FROM pragma_table_info('${table}')`) as { name: string }[]).map(({ name }) => name);
  for (const table of ["orders", "order_line_items", "content", "gifts"])
    expect(columns(`${table}_removed`).sort(), table).toEqual([...columns(table), "removed_at"].sort());
  expect(all("SELECT id, color, size FROM gifts")).toEqual([{ id: "g2", color: null, size: 4 }]);
  expect(all("SELECT id, color, size FROM gifts_removed")).toEqual([{ id: "g1", color: "red", size: null }]);
});

test("the table check and the rebuild include the tables for removed records", async () => {
  const { mirror, all } = await withRemovals();
  const tables = ["orders_removed", "order_line_items_removed", "roster_removed", "gifts_removed"];
  const before = tables.map((table) => all(`SELECT * FROM ${table} ORDER BY 1`));
  expect(await compareTables(mirror, allResources)).toEqual([]);
  rebuildTables(mirror, resources);
  expect(tables.map((table) => all(`SELECT * FROM ${table} ORDER BY 1`))).toEqual(before);
});

test("export --include-removed also exports removed records, and sets `removed_at` to null for current records", async () => {
  const { mirror } = await withRemovals();
  const { path } = mirror;
  mirror.db.close();
  expect(await exported(path, "orders", "--columns", "id")).toEqual(["id", "order-1", "order-3"]);
  expect((await exported(path, "orders"))[0]).not.toContain("removed_at");
  expect(await exported(path, "orders", "--columns", "id,removed_at", "--include-removed")).toEqual([
    "id removed_at",
    "order-1 ",
    "order-3 ",
    `order-2 ${at(2)}`,
  ]);
  const items = ["order-line-items", "--columns", "order_id,removed_at", "--include-removed"];
  expect(await exported(path, ...items, "--where", "removed_at IS NOT NULL")).toEqual([
    "order_id removed_at",
    `order-2 ${at(2)}`,
    `order-2 ${at(2)}`,
  ]);
  expect(await exported(path, ...items, "--limit", "4")).toHaveLength(5);
  expect(await exported(path, ...items, "--since", "2026-01-01")).toHaveLength(6);
  const json = await brandapi(["export", "roster", "--ndjson", "--include-removed", "--db", path]);
  const lines = json.out.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { ...member(2), removed_at: null },
    { ...member(1), removed_at: at(2) },
  ]);
  const plain = await brandapi(["export", "roster", "--ndjson", "--db", path]);
  expect(JSON.parse(plain.out)).toEqual(member(2));
  expect(await exported(path, "orders-removed", "--columns", "id,removed_at")).toEqual([
    "id removed_at",
    `order-2 ${at(2)}`,
  ]);
  const refused = await brandapi(["export", "orders", "--csv", "--columns", "removed_at", "--db", path]);
  expect(refused.code).toBe(2);
});

test("export orders_removed --as-of returns the records that had been removed by that time", async () => {
  const { mirror } = await withRemovals();
  const { path } = mirror;
  mirror.db.close();
  const then = async (table: string, day: number) =>
    (await exported(path, table, "--columns", "id", "--as-of", `2026-11-0${day}T12:00:00Z`)).slice(1);
  expect(await then("orders", 1)).toEqual(["order-1", "order-2", "order-3"]);
  expect(await then("orders_removed", 1)).toEqual([]);
  expect(await then("orders_removed", 2)).toEqual(["order-2", "order-3"]);
  expect(await then("orders_removed", 3)).toEqual(["order-2"]);
  expect(await then("orders", 3)).toEqual(["order-1", "order-3"]);
});

test("`tables` lists the tables for removed records only with --all", async () => {
  const { mirror } = await withRemovals();
  const { path } = mirror;
  mirror.db.close();
  const names = async (...flags: string[]) =>
    (
      JSON.parse((await brandapi(["tables", ...flags, "--json", "--db", path])).out) as { name: string }[]
    ).map(({ name }) => name);
  expect((await names()).filter((name) => name.endsWith("_removed"))).toEqual([]);
  expect(await names("--all")).toContain("order_line_items_removed");
  const one = await brandapi(["tables", "roster-removed", "--db", path]);
  expect(one.out).toContain("removed_at");
});

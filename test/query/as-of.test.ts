import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { naturalPace, simulateActivity } from "../../src/sandbox/activity.js";
import { views } from "../../src/views/all-views.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { at, day, noon, orderAt } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";
import { syncOrders } from "./unusual-orders.js";

type Row = Record<string, unknown>;

/** The tables with a history. */
const tables = ["orders", "order_line_items", "roster", "recommendations", "opportunities", "content"];
/** Columns from monthly rankings, which have no history because every sync replaces the rankings. */
const ranked = ["clicks", "conversion_rate", "ranking_orders", "ranking_revenue"];

function addToMirror(path: string, sql: string): void {
  const db = new Sqlite(path);
  db.exec(sql);
  db.close();
}

function copyOf(path: string, to: string): string {
  const db = new Sqlite(path);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
  copyFileSync(path, to);
  return to;
}

test("for each table and view, export --as-of returns the same rows as an export made at the requested time", async () => {
  const brand = makeBrand({ history: 150, seed: 3, listLimit: 15 });
  const copies: { path: string; at: string }[] = [];
  for (const [month, days] of [30, 35].entries()) {
    expect((await brand.run("sync")).code).toBe(0);
    brand.pass(day);
    copies.push({
      path: copyOf(brand.db, join(brand.home, `month-${month}.sqlite`)),
      at: at(brand.now()),
    });
    const refunded = brand.data.orders.find((order) => !order.is_cancelled && Number(order.total_amount) > 1);
    brand.change("orders", String(refunded?.id), { refund_amount: 1 });
    brand.change("opportunities", String(brand.data.opportunities[0]?.id), { title: `Campaign ${month}` });
    simulateActivity(brand.data, brand.now(), brand.now() + (days - 1) * day, naturalPace(150));
    brand.pass((days - 1) * day);
  }
  const rowsOf = async (command: string) => {
    const { code, err, out } = await brand.run(command);
    expect([command, code, err]).toEqual([command, 0, expect.any(String)]);
    const rows = JSON.parse(out) as Row[];
    return command.startsWith("export hosts_by_month")
      ? rows.map((row) => ({ ...row, ...Object.fromEntries(ranked.map((name) => [name, null])) }))
      : rows;
  };
  const names = [...tables, ...views.map(({ name }) => name)];
  const empty = new Set(names);
  const contents = new Map<string, string[]>();
  for (const { path, at } of copies)
    for (const name of names) {
      const rows = await rowsOf(`export ${name} --json --as-of ${at}`);
      expect([name, at, rows]).toEqual([name, at, await rowsOf(`export ${name} --json --db ${path}`)]);
      if (rows.length > 0) empty.delete(name);
      contents.set(name, [...(contents.get(name) ?? []), JSON.stringify(rows)]);
    }
  expect([...empty]).toEqual([]);
  const changed = names.filter((name) => new Set(contents.get(name)).size > 1);
  expect(changed).toEqual(expect.arrayContaining(["orders", "order_line_items", "roster", "opportunities"]));
});

const readRankings = ({ path }: { path: string }) => path === "/analytics/hosts";

/** Creates a brand whose second sync finds a refund and a late order. `before` is a time between the two syncs. */
async function syncTwice(): Promise<{ brand: TestBrand; before: string }> {
  const brand = makeBrand({ orders: [orderAt("a", noon - day), orderAt("b", noon - day)] });
  const syncWithClicks = async (clicks: number) => {
    const rank = { host: { id: "h1", username: "ada" }, clicks, buy_now_clicks: 0, orders: 9, sales: 1.5 };
    brand.once(readRankings, () => ({ envelope: (answer: object) => ({ ...answer, data: [rank] }) }));
    expect((await brand.run("sync orders analytics-hosts analytics-clicks")).code).toBe(0);
  };
  await syncWithClicks(1);
  brand.pass(day);
  const before = at(brand.now());
  brand.pass(day);
  brand.change("orders", "a", { refund_amount: 4 });
  brand.add("orders", orderAt("c", brand.now() - 3 * day));
  await syncWithClicks(2);
  return { brand, before };
}

async function exportRows(brand: TestBrand, ...words: string[]) {
  const { code, err, out } = await brand.run(["export", ...words, "--json"]);
  return { code, err, rows: code === 0 ? (JSON.parse(out) as Row[]) : [] };
}

test("export --as-of ignores changes to an order that were found after the requested time", async () => {
  const brand = makeBrand({ orders: [orderAt("a", noon - day, { commission_amount: 5 })] });
  const times: string[] = [];
  for (const commission_amount of [5, 10, 2]) {
    brand.change("orders", "a", { commission_amount });
    await syncOrders(brand);
    brand.pass(day / 2);
    times.push(at(brand.now()));
    brand.pass(day / 2);
  }
  const taken = async (at: string) =>
    (await exportRows(brand, "commission_by_host", "--as-of", at)).rows[0]?.taken_back;
  expect(await Promise.all(times.map(taken))).toEqual([0, 0, 8]);
});

test("export --as-of also applies to tables and views in a --where condition", async () => {
  const { brand, before } = await syncTwice();
  const ids = async (...words: string[]) =>
    (await exportRows(brand, "orders_net", "--columns", "id", ...words)).rows.map(({ id }) => id);
  const where = (sql: string) => ["--where", sql];
  const refunded = where("id IN (SELECT key FROM changes WHERE field = 'refund_amount')");
  expect([await ids(...refunded), await ids(...refunded, "--as-of", before)]).toEqual([["a"], []]);
  const listed = where("3 = (SELECT count(*) FROM (SELECT 1), [orders])");
  expect([await ids(...listed), await ids(...listed, "--as-of", before)]).toEqual([["a", "b", "c"], []]);
  const late = where("3 = (SELECT orders FROM sales_by_month)");
  expect([await ids(...late), await ids(...late, "--as-of", before)]).toEqual([["a", "b", "c"], []]);
});

test("export --as-of uses the last ranking snapshot before the requested time, and warns about tables without a history", async () => {
  const { brand, before } = await syncTwice();
  const clicks = async (...words: string[]) =>
    (await exportRows(brand, "hosts", ...words)).rows.map((row) => row.clicks);
  expect([await clicks(), await clicks("--as-of", before)]).toEqual([[2], [1]]);
  const now = await exportRows(brand, "hosts_by_month");
  expect(now).toMatchObject({ err: "", rows: [{ orders: 3, clicks: 18, ranking_orders: 3 }] });
  const then = await exportRows(brand, "hosts_by_month", "--as-of", before);
  expect(then.rows).toMatchObject([{ orders: 2, clicks: null, ranking_orders: null }]);
  expect(then.err).toContain(
    `the mirror keeps no history of \`analytics_clicks_top_hosts\`, so rows read after ${before} are omitted`,
  );
});

test("export --as-of warns if the host ranking was first read after the requested time, or was replaced later on the same day", async () => {
  const { brand } = await syncTwice();
  const earlier = at(brand.now());
  brand.pass(60_000);
  expect((await brand.run("sync analytics-hosts")).code).toBe(0);
  const replaced = "re-read later on the same day";
  expect((await exportRows(brand, "hosts", "--as-of", earlier)).err).toContain(replaced);
  expect((await exportRows(brand, "hosts", "--as-of", at(brand.now()))).err).not.toContain("warning");
  expect((await exportRows(brand, "hosts_by_month", "--as-of", earlier)).err).not.toContain(replaced);

  const other = makeBrand({ orders: [orderAt("a", noon - day)] });
  expect((await other.run("sync orders")).code).toBe(0);
  const before = at(other.now());
  other.pass(60_000);
  expect((await other.run("sync analytics-hosts")).code).toBe(0);
  const { err } = await exportRows(other, "hosts", "--as-of", before);
  expect(err).toContain("analytics-hosts was first read at");
  expect(err).not.toContain(replaced);
});

test("export --as-of omits a host that had left the ranking by the requested time", async () => {
  const host = (id: string) => ({ id, username: id, first_name: null, last_name: null, profile_photo: null });
  const orders = ["h1", "h2"].map((id) => orderAt(id, noon - day, { host: host(id) }));
  const brand = makeBrand({ orders });
  const hostsAfterSync = async () => {
    expect((await brand.run("sync orders analytics-hosts --accept-removals")).code).toBe(0);
    brand.pass(day);
    return (await exportRows(brand, "hosts", "--as-of", at(brand.now()))).rows.map(({ id }) => id);
  };
  expect(await hostsAfterSync()).toEqual(["h1", "h2"]);
  brand.remove("orders", "h2");
  expect(await hostsAfterSync()).toEqual(["h1"]);
});

test("query --as-of applies to a table regardless of how the statement refers to it", async () => {
  const { brand, before } = await syncTwice();
  addToMirror(brand.db, "CREATE VIEW own AS SELECT id FROM orders");
  const count = async (sql: string, ...flags: string[]) => {
    const { code, err, out } = await brand.run(["query", sql, "--json", ...flags]);
    return code === 0 ? (JSON.parse(out) as { n: number }[])[0]?.n : err;
  };
  const single = "SELECT 1 AS one";
  for (const from of [
    "FROM orders",
    "FROM [orders]",
    'FROM "orders"',
    `FROM (${single}), orders`,
    `FROM (${single}) JOIN\n-- a comment\norders`,
    "FROM (SELECT id FROM orders_net)",
    "FROM (SELECT json_each.value FROM orders, json_each('[1]'))",
    "FROM own",
  ])
    expect([
      from,
      await count(`SELECT count(*) AS n ${from}`),
      await count(`SELECT count(*) AS n ${from}`, "--as-of", before),
    ]).toEqual([from, 3, 2]);
  const orders = await count(
    "SELECT orders AS n FROM sales_by_month WHERE orders >= :least",
    "-p",
    "least=1",
    "--as-of",
    before,
  );
  expect(orders).toBe(2);
  brand.remove("orders", "b");
  brand.pass(day);
  expect((await brand.run("sync orders --full")).code).toBe(0);
  const removed = "SELECT count(*) AS n FROM orders_removed";
  expect([await count(removed), await count(removed, "--as-of", before)]).toEqual([1, 0]);
  expect(await count("SELECT count(*) AS n FROM orders", "--as-of", before)).toBe(2);
  const refunds = "SELECT count(*) AS n FROM changes WHERE field = 'refund_amount'";
  expect([await count(refunds), await count(refunds, "--as-of", before)]).toEqual([1, 0]);
});

test("--as-of rejects SQL that reads a table without a history, or that refers to a current table such as `main.orders`", async () => {
  const { brand, before } = await syncTwice();
  addToMirror(brand.db, "CREATE VIEW own AS SELECT id FROM main.orders; CREATE TABLE notes (id)");
  const refused = async (...words: string[]) => {
    const { code, err } = await brand.run([...words, "--json", "--as-of", before]);
    return { code, err };
  };
  const noHistory = "keeps no history of";
  for (const [from, reason] of [
    ["main.orders", "`main.orders` is always the current table"],
    ["orders JOIN main.roster", "`main.roster` is always the current table"],
    ["own", "`main.orders` is always the current table"],
    ["orders INDEXED BY orders_by_id WHERE id = 'a'", "does not work with this statement"],
    ["records", `${noHistory} \`records\``],
    ["coverage", `${noHistory} \`coverage\``],
    ["sqlite_schema", `${noHistory} \`sqlite_schema\``],
    ["analytics_clicks", `${noHistory} \`analytics_clicks\``],
    ["notes", `${noHistory} \`notes\``],
  ] as const) {
    const query = await refused("query", `SELECT count(*) FROM ${from}`);
    expect([from, query]).toEqual([from, { code: 2, err: expect.stringContaining(reason) }]);
    const where = await refused("export", "orders", "--where", `0 < (SELECT count(*) FROM ${from})`);
    expect([from, where]).toEqual([from, { code: 2, err: expect.stringContaining(reason) }]);
  }
});

test("export and query reject an --as-of time before the first sync, and leave an existing output file unchanged", async () => {
  const { brand } = await syncTwice();
  const file = join(brand.home, "orders.csv");
  writeFileSync(file, "earlier export\n");
  for (const command of [
    `export orders -o ${file}`,
    `export sales_by_month -o ${file}`,
    `export changes -o ${file}`,
    `export orders --where 1=1 -o ${file}`,
  ]) {
    const { code, err } = await brand.run(`${command} --as-of 2026-10`);
    expect([command, code, err]).toEqual([
      command,
      2,
      expect.stringContaining("the first available time is"),
    ]);
  }
  expect(readFileSync(file, "utf8")).toBe("earlier export\n");

  const { code, err } = await brand.run(["query", "SELECT id FROM orders", "--as-of", "2026-10"]);
  expect(code).toBe(2);
  const [, first = ""] = /the first available time is (\S+Z)/.exec(err) ?? [];
  const { rows } = await exportRows(brand, "orders", "--as-of", first);
  expect(rows.map(({ id }) => id)).toEqual(["a", "b"]);
});

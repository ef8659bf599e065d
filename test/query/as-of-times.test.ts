import { expect, test } from "vitest";
import { checkHistory, createAsOfTables } from "../../src/query/as-of.js";
import { type Mirror, withMirror, withReadTransaction } from "../../src/store/database.js";
import { openMirrorForReading } from "../../src/store/open.js";
import { saveRanking } from "../../src/store/ranking-history.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const at = (day: number, milliseconds = 0) => new Date(Date.UTC(2026, 10, day) + milliseconds).toISOString();

/** Runs SQL on the data as of the given time. Returns the rows, and describes the data that cannot be reconstructed. */
async function readAsOf({ path }: Mirror, names: readonly string[], time: string, sql: string) {
  return await withMirror(openMirrorForReading(path), (mirror) =>
    withReadTransaction(mirror, async () => {
      const limits = createAsOfTables(mirror, names, Date.parse(time));
      return { rows: mirror.db.prepare(sql).raw().all(), limits };
    }),
  );
}

/** Writes the host ranking, sorted by clicks, as a sync would. */
function writeRanking(mirror: Mirror, time: string, clicks: Readonly<Record<string, number>>): void {
  const entries = Object.entries(clicks).map(([id, count]) => ({
    ...{
      host: id === "" ? null : { id, username: `@${id}`, first_name: `First ${id}`, last_name: `Last ${id}` },
    },
    ...{ clicks: count, buy_now_clicks: 2, orders: 3, sales: 4.5 },
  }));
  for (const [position, entry] of entries.entries())
    writeRead(mirror, "analytics-hosts", [entry], { at: time, position, parameters: { position } });
  mirror.transaction(() => saveRanking(mirror, Date.parse(time), entries));
}

test("--as-of with the exact time of a change returns the record's new values", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 1 })], { at: at(1) });
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 2 })], { at: at(2) });
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 3 })], { at: at(3) });
  const refunds = async (time: string) =>
    (await readAsOf(mirror, ["orders"], time, "SELECT refund_amount FROM orders")).rows;
  expect(await refunds(at(1))).toEqual([[1]]);
  expect(await refunds(at(2, -1))).toEqual([[1]]);
  expect(await refunds(at(2))).toEqual([[2]]);
  expect(await refunds(at(3, -1))).toEqual([[2]]);
  expect(await refunds(at(3))).toEqual([[3]]);
});

test("if --as-of is a time between a record's removal and return, only the tables for removed records contain the record", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2), anOrder(3)], { at: at(1) });
  writeRead(mirror, "orders", [], { at: at(2), remove: ["order-1", "order-2"] });
  writeRead(mirror, "orders", [anOrder(1), anOrder(4)], { at: at(3) });
  const tables = ["orders", "orders_removed", "order_line_items", "order_line_items_removed"];
  const sql = `SELECT (SELECT group_concat(id) FROM orders),
    (SELECT group_concat(id || ' ' || removed_at) FROM orders_removed),
    (SELECT group_concat(order_id) FROM order_line_items),
    (SELECT group_concat(order_id) FROM order_line_items_removed)`;
  const ids = (...numbers: number[]) => numbers.map((n) => `order-${n}`).join();
  const removed = [1, 2].map((n) => `order-${n} ${at(2)}`);
  expect((await readAsOf(mirror, tables, at(2, -1), sql)).rows).toEqual([
    [ids(1, 2, 3), null, ids(1, 2, 3), null],
  ]);
  expect((await readAsOf(mirror, tables, at(2), sql)).rows).toEqual([
    [ids(3), removed.join(), ids(3), ids(1, 2)],
  ]);
  expect((await readAsOf(mirror, tables, at(3), sql)).rows).toEqual([
    [ids(1, 3, 4), removed[1], ids(1, 3, 4), ids(2)],
  ]);
});

test("if versions overlap because the clock was set back, --as-of uses the version that was stored last", async () => {
  const mirror = await makeMirror();
  for (const [day, refund_amount] of [
    [1, 1],
    [5, 2],
    [2, 3],
    [3, 4],
  ] as const)
    writeRead(mirror, "orders", [anOrder(1, { refund_amount })], { at: at(day) });
  const refunds = async (time: string) =>
    (await readAsOf(mirror, ["orders"], time, "SELECT refund_amount FROM orders")).rows;
  expect(await refunds(at(2, 1))).toEqual([[3]]);
  expect(await refunds(at(4))).toEqual([[4]]);
});

test("with --as-of, each resource's tables contain only that resource's records", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: at(1) });
  writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "h" }, status: "active" }], { at: at(1) });
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 5 })], { at: at(3) });
  writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "h" }, status: "left" }], { at: at(3) });
  const sql =
    "SELECT (SELECT group_concat(refund_amount) FROM orders), (SELECT group_concat(status) FROM roster)";
  const { rows } = await readAsOf(mirror, ["orders", "roster"], at(2), sql);
  expect(rows).toEqual([["0.0", "active"]]);
});

test.each([
  ["changes", "sales_by_month late_refunds", "late_refunds", 0, 1],
  ["sync_runs", "restatements", "sync_runs", 1, 2],
  ["coverage", "sales_by_month", "coverage", 1, 1],
  ["record_versions", "restatements", "record_versions", 0, 1],
  ["host_names", "orders_net", "host_names", 1, 2],
] as const)("with --as-of, views read only the rows in `%s` that existed at that time", async (...row) => {
  const [, names, table, before, after] = row;
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 0 })], { at: at(1), whole: true });
  const host = { id: "host-1", username: "new", first_name: null, last_name: null };
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 5, host })], { at: at(3) });
  const rows = async (time: string) =>
    (await readAsOf(mirror, names.split(" "), time, `SELECT count(*) FROM ${table}`)).rows[0];
  expect(await rows(at(3, -1))).toEqual([before]);
  expect(await rows(at(3))).toEqual([after]);
});

test("with --as-of, `sync_runs` contains the runs that had ended by that time, and the killed runs that had started by that time", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: at(1) });
  writeRead(mirror, "orders", [], { at: at(2) });
  writeRead(mirror, "orders", [], { at: at(2) });
  mirror.db.exec(`UPDATE sync_runs SET finished_at = '${at(3)}' WHERE run_id = 2;
    UPDATE sync_runs SET finished_at = NULL WHERE run_id = 3`);
  const runs = async (time: string) =>
    (await readAsOf(mirror, ["sync_runs"], time, "SELECT run_id FROM sync_runs")).rows.flat();
  expect(await runs(at(2))).toEqual([1, 3]);
  expect(await runs(at(3))).toEqual([1, 2, 3]);
});

test("with --as-of, the host ranking contains the hosts and totals from the newest snapshot taken by that time", async () => {
  const mirror = await makeMirror();
  writeRanking(mirror, at(1), { a: 10, b: 20, "": 30 });
  writeRanking(mirror, at(2), { a: 11, "": 31 });
  writeRanking(mirror, at(3), { a: 12, b: 22, "": 32 });
  const columns =
    "host_id, host_username, host_first_name, host_last_name, clicks, buy_now_clicks, orders, sales";
  const sql = `SELECT ${columns} FROM analytics_hosts ORDER BY host_id`;
  const row = (id: string, clicks: number) => [id, `@${id}`, `First ${id}`, `Last ${id}`, clicks, 2, 3, 4.5];
  const none = [null, null, null, null];
  const ranking = async (time: string) => (await readAsOf(mirror, ["hosts"], time, sql)).rows;
  expect(await ranking(at(2, -1))).toEqual([[...none, 30, 2, 3, 4.5], row("a", 10), row("b", 20)]);
  expect(await ranking(at(2))).toEqual([[...none, 31, 2, 3, 4.5], row("a", 11)]);
  expect(await ranking(at(3))).toEqual([[...none, 32, 2, 3, 4.5], row("a", 12), row("b", 22)]);
});

test("--as-of warns if the host ranking that the mirror had at that time was replaced later on the same day", async () => {
  const hour = 3_600_000;
  const mirror = await makeMirror();
  writeRanking(mirror, at(1), { a: 1 });
  writeRead(mirror, "analytics-hosts", [], { at: at(2, 4 * hour) });
  writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "a" } }], { at: at(2, 4 * hour) });
  writeRanking(mirror, at(2, 6 * hour), { a: 2 });
  writeRanking(mirror, at(2, 9 * hour), { a: 3 });
  const isReplaced = async (time: string, name = "hosts") =>
    (await readAsOf(mirror, [name], time, "SELECT 1")).limits.isRankingReplaced;
  expect(await isReplaced(at(1, 6 * hour))).toBe(false);
  expect(await isReplaced(at(2, 5 * hour))).toBe(false);
  expect(await isReplaced(at(2, 6 * hour))).toBe(true);
  expect(await isReplaced(at(2, 8 * hour), "roster_changes")).toBe(false);
  expect(await isReplaced(at(2, 9 * hour))).toBe(false);
  expect(await isReplaced(at(3))).toBe(false);
});

test("--as-of warns about resources that were first read after that time, and about tables without a history", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: at(1) });
  writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "h" } }], { at: at(2) });
  writeRanking(mirror, at(2), { a: 1 });
  const summary = { host: { id: "h" }, total_clicks: 1, orders: 1, revenue: 1, conversion_rate: 1 };
  const clicks: JsonObject = { summary: {}, timeseries: [], top_hosts: [summary], top_products: [] };
  const parameters = { period_start: "2026-10-01", period_end: "2026-10-31", group_by: "day", host_id: null };
  for (const [day, position] of [
    [2, 0],
    [4, 1],
  ] as const)
    writeRead(mirror, "analytics-clicks", [clicks], { at: at(day), position, parameters });
  const limits = async (name: string, time: string) =>
    (await readAsOf(mirror, [name], time, "SELECT 1")).limits;
  const none = { notYetRead: [], withoutHistory: [], isRankingReplaced: false };
  const first = (resourceName: string) => ({ resourceName, firstReadAt: at(2) });
  const notYetRead = [first("roster"), first("analytics-hosts")];
  expect(await limits("hosts", at(2, -1))).toEqual({ ...none, notYetRead });
  expect(await limits("hosts", at(2))).toEqual(none);
  expect(await limits("sync_runs", at(2))).toEqual(none);
  const { withoutHistory, ...rest } = await limits("hosts_by_month", at(1));
  expect(rest).toEqual({ notYetRead: [], isRankingReplaced: false });
  expect(withoutHistory).toEqual(["analytics_clicks_periods", "analytics_clicks_top_hosts"]);
  const sql = "SELECT count(*) FROM analytics_clicks_periods";
  expect((await readAsOf(mirror, ["hosts_by_month"], at(3), sql)).rows).toEqual([[1]]);
});

test("for each table and view, --as-of rejects times before the end of the first run that read its records", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "surveys", [], { at: at(1) });
  writeRead(mirror, "surveys", [{ id: "s" }], { at: at(3) });
  writeRead(mirror, "orders", [anOrder(1)], { at: at(2) });
  const error = async (name: string, time: string) =>
    await readAsOf(mirror, [name], time, "SELECT 1").then(
      () => null,
      (cause) => cause.hint,
    );
  for (const [name, day] of [
    ["orders", 2],
    ["hosts", 2],
    ["changes", 2],
    ["surveys", 3],
    ["survey_results", 3],
  ] as const) {
    expect([name, await error(name, at(day, -1))]).toEqual([name, `the first available time is ${at(day)}`]);
    expect([name, await error(name, at(day))]).toEqual([name, null]);
  }
  expect(await error("roster", at(1))).toBeNull();
});

test.each(["orders", "orders_removed", "hosts", "order_figures", "changes", "sync_runs"])(
  "--as-of accepts `%s` because the mirror keeps its history",
  (name) => {
    expect(() => checkHistory([name])).not.toThrow();
  },
);

test.each(["analytics_hosts", "analytics_clicks_removed", "content_downloads", "coverage", "host_names"])(
  "--as-of rejects `%s` because the mirror keeps no history of it",
  (name) => {
    expect(() => checkHistory(["orders", name])).toThrow(`keeps no history of \`${name}\``);
  },
);

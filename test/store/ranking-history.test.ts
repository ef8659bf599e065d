import { expect, test } from "vitest";
import { analyticsHosts } from "../../src/resources/analytics-hosts.js";
import { saveJsonInfo } from "../../src/store/database.js";
import { saveRanking } from "../../src/store/ranking-history.js";
import type { Json } from "../../src/util/json-value.js";
import { makeMirror } from "../support/mirror.js";
import { rows, write } from "./record-mirror.js";

const row = (id: string | null, clicks: number): Json => ({
  host: id === null ? null : { id, username: `${id}!` },
  clicks,
  buy_now_clicks: 0,
  orders: 1,
  sales: 2.5,
});

test("each day of the ranking history has a row for each host whose totals changed, with null totals for a host that left", async () => {
  const mirror = await makeMirror();
  const keep = (day: string, ...ranking: Json[]) =>
    mirror.transaction(() => saveRanking(mirror, Date.parse(`${day}T04:00:00.000Z`), ranking));
  keep("2026-11-01", row("a", 5), row("b", 4), row(null, 1), row(null, 2));
  keep("2026-11-02", row("a", 5), row(null, 3));
  keep("2026-11-03", row("a", 6), row(null, 3));
  keep("2026-11-03", row("a", 7), row(null, 3));
  keep("2026-11-04", row("a", 7), row("b", 9), row(null, 3));
  expect(
    rows(mirror, "SELECT date, host_id, clicks, sales FROM analytics_hosts_snapshots ORDER BY date, host_id"),
  ).toEqual([
    { date: "2026-11-01", host_id: null, clicks: 3, sales: 5 },
    { date: "2026-11-01", host_id: "a", clicks: 5, sales: 2.5 },
    { date: "2026-11-01", host_id: "b", clicks: 4, sales: 2.5 },
    { date: "2026-11-02", host_id: null, clicks: 3, sales: 2.5 },
    { date: "2026-11-02", host_id: "b", clicks: null, sales: null },
    { date: "2026-11-03", host_id: "a", clicks: 7, sales: 2.5 },
    { date: "2026-11-04", host_id: "b", clicks: 9, sales: 2.5 },
  ]);
  expect(rows(mirror, "SELECT count(*) AS n FROM analytics_hosts_days")).toEqual([{ n: 4 }]);
  const others = "SELECT buy_now_clicks, orders FROM analytics_hosts_snapshots WHERE host_id IS NULL";
  expect(rows(mirror, others)).toEqual([
    { buy_now_clicks: 0, orders: 2 },
    { buy_now_clicks: 0, orders: 1 },
  ]);
});

test("the ranking history stores totals as numbers even if the API sends them as strings", async () => {
  const mirror = await makeMirror();
  const ranking = [{ ...(row("a", 5) as object), sales: "12.50", clicks: "n/a" }] as Json[];
  mirror.transaction(() => saveRanking(mirror, Date.parse("2026-11-01T04:00:00.000Z"), ranking));
  expect(rows(mirror, "SELECT clicks, sales FROM analytics_hosts_snapshots")).toEqual([
    { clicks: 0, sales: 12.5 },
  ]);
});

test("the `synced_at` of an unchanged host ranking row is the time of the latest read", async () => {
  const mirror = await makeMirror();
  for (const day of ["2026-11-01", "2026-11-02"])
    write(mirror, analyticsHosts, [row("a", 5)], { requestedAt: Date.parse(day) });
  expect(mirror.selectValues("SELECT synced_at FROM analytics_hosts")).toEqual(["2026-11-02T00:00:00.000Z"]);
});

test.each<[string, "forgotten" | "omit", string, (string | null)[]]>([
  ["keeps the ID and the totals of a forgotten host, but not the handle", "forgotten", "a", [null, "b!"]],
  [
    "omits all handles if the ranking's handles are omitted",
    "omit",
    "analytics-hosts:host.username",
    [null, null],
  ],
  [
    "keeps all handles if only the roster's handles are omitted",
    "omit",
    "roster:host.username",
    ["a!", "b!"],
  ],
])("the ranking history %s", async (_, list, item, names) => {
  const mirror = await makeMirror();
  mirror.transaction(() => {
    saveJsonInfo(mirror, list, [item]);
    saveRanking(mirror, Date.parse("2026-11-01T04:00:00.000Z"), [row("a", 5), row("b", 4)]);
  });
  const select = "SELECT host_id, host_username, clicks FROM analytics_hosts_snapshots ORDER BY host_id";
  expect(rows(mirror, select)).toEqual([
    { host_id: "a", host_username: names[0], clicks: 5 },
    { host_id: "b", host_username: names[1], clicks: 4 },
  ]);
});

test("the ranking history records that a host without clicks enters or leaves the ranking, but ignores rounding differences", async () => {
  const mirror = await makeMirror();
  const keep = (time: string, ...ranking: Json[]) =>
    mirror.transaction(() => saveRanking(mirror, Date.parse(time), ranking));
  const host = { id: "a", username: "ada" };
  const zero = { clicks: 0, buy_now_clicks: 0, orders: 0 };
  keep("2026-10-31T04:00:00.000Z", { host, ...zero, sales: 0 });
  keep("2026-11-01T04:00:00.000Z", { host, ...zero, sales: 0 });
  keep("2026-11-01T05:00:00.000Z", { host, ...zero, sales: 0.1 + 0.2 });
  keep("2026-11-02T04:00:00.000Z", { host, ...zero, sales: 0.3 });
  keep("2026-11-03T04:00:00.000Z", { host, ...zero, sales: 0 });
  keep("2026-11-04T04:00:00.000Z");
  const select = "SELECT date, host_username, sales FROM analytics_hosts_snapshots ORDER BY date";
  expect(rows(mirror, select)).toEqual([
    { date: "2026-10-31", host_username: "ada", sales: 0 },
    { date: "2026-11-01", host_username: "ada", sales: 0.1 + 0.2 },
    { date: "2026-11-03", host_username: "ada", sales: 0 },
    { date: "2026-11-04", host_username: "ada", sales: null },
  ]);
  expect(rows(mirror, "SELECT synced_at FROM analytics_hosts_days WHERE date = '2026-11-01'")).toEqual([
    { synced_at: "2026-11-01T05:00:00.000Z" },
  ]);
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import { fileName } from "../../src/download/file-name.js";
import { askDuckDb } from "../support/duckdb.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

/** Dates that the API may return, mapped to their UTC times with microsecond precision. */
const readable: Readonly<Record<string, string>> = {
  "2026-06-30T23:00:00-14:00": "2026-07-01T13:00:00.000000Z",
  "2026-07-01T00:30:00+02:00": "2026-06-30T22:30:00.000000Z",
  "2026-07-01 00:30:00+0200": "2026-06-30T22:30:00.000000Z",
  "2026-07-01T00:30:00+02": "2026-06-30T22:30:00.000000Z",
  "2026-06-30T23:59:59.9999999Z": "2026-06-30T23:59:59.999999Z",
  "2026-07-01t00:00:00z": "2026-07-01T00:00:00.000000Z",
  "2026-07-31T23:59Z": "2026-07-31T23:59:00.000000Z",
  "2026-07-31": "2026-07-31T00:00:00.000000Z",
  "1969-12-31T23:59:59.999Z": "1969-12-31T23:59:59.999000Z",
  "1969-12-31T23:59:59.999999Z": "1969-12-31T23:59:59.999999Z",
  "1901-02-03T04:05:06.000007Z": "1901-02-03T04:05:06.000007Z",
  "2262-04-12T00:00:00Z": "2262-04-12T00:00:00.000000Z",
  "9999-12-31T23:59:59.999999Z": "9999-12-31T23:59:59.999999Z",
};

const unreadable = [
  "2026-02-30T12:00:00Z",
  "2026-06-31T00:00:00Z",
  "2026-06-30T24:00:00Z",
  "2026-07-01T00:00:00+14:30",
  "2016-12-31T23:59:60Z",
  " 2026-07-01T00:00:00Z",
  "2026-07-01T00:00:00Z ",
  "2026-07",
  "soon",
];

const utcOf = (instant: string) => instant.replace("T", " ").replace(/\.?0*Z$/, "");

async function mirrorOf(dates: readonly string[]) {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    dates.map((order_date, n) => anOrder(n, { order_date, total_amount: 1 })),
    { whole: true },
  );
  return mirror;
}

test("exported orders have columns for the day, month and time in UTC", async () => {
  const mirror = await mirrorOf([...Object.keys(readable), ...unreadable]);
  const rows = mirror.db
    .prepare(
      "SELECT order_date, day, month, order_date_utc AS at, dated_ms FROM orders JOIN records USING (record_id)",
    )
    .all() as Record<string, string | number | null>[];
  mirror.db.close();
  for (const { order_date, day, month, at, dated_ms } of rows) {
    const instant = readable[String(order_date)];
    const text = instant === undefined ? null : utcOf(instant);
    expect({ day, month, at }).toEqual({
      day: text?.slice(0, 10) ?? null,
      month: text?.slice(0, 7) ?? null,
      at: text,
    });
    const ms = instant === undefined ? null : Date.parse(`${instant.slice(0, 23)}Z`);
    expect(dated_ms === null ? null : Math.floor(Number(dated_ms))).toBe(ms);
  }
  expect(rows).toHaveLength(Object.keys(readable).length + unreadable.length);
});

test("views, filters, Parquet files and Delta tables agree on the month of each order", async () => {
  const dates = Object.keys(readable);
  const mirror = await mirrorOf(dates);
  mirror.db.close();
  const folder = makeHome();
  const run = async (...args: string[]) => {
    const done = await brandapi([...args, "--db", mirror.path]);
    expect(done.code, done.err).toBe(0);
    return done.out;
  };
  const expected: Record<string, string[]> = {};
  for (const [date, instant] of Object.entries(readable)) {
    const month = instant.slice(0, 7);
    expected[month] = [...(expected[month] ?? []), date].sort();
  }
  const file = join(folder, "orders.parquet");
  await run("export", "orders", "-o", file);
  const typed = await askDuckDb(
    `SELECT strftime(order_date, '%Y-%m-%d %H:%M:%S.%f') AS at FROM '${file}' ORDER BY order_date`,
  );
  expect(typed.map(({ at }) => String(at).replace(/\.?0*$/, ""))).toEqual(
    Object.values(readable).map(utcOf).sort(),
  );
  await run("export", "orders", "--delta", folder);
  const totals = JSON.parse(await run("export", "sales_by_month", "--json")) as Record<string, unknown>[];
  expect(Object.fromEntries(totals.map(({ month, orders }) => [month, orders]))).toEqual(
    Object.fromEntries(Object.entries(expected).map(([month, inMonth]) => [month, inMonth.length])),
  );
  for (const [month, inMonth] of Object.entries(expected)) {
    expect(existsSync(join(folder, "orders", `month=${month}`))).toBe(true);
    if (month > "2026-11") continue;
    for (const table of ["orders", "orders_net"]) {
      const rows = JSON.parse(await run("export", table, "--json", "--since", month, "--until", month));
      expect(rows.map(({ order_date }: { order_date: string }) => order_date).sort()).toEqual(inMonth);
    }
  }
});

test("an unreadable date is exported as text and does not match any month or date range", async () => {
  const mirror = await mirrorOf(unreadable);
  mirror.db.close();
  const run = async (...args: string[]) => await brandapi([...args, "--db", mirror.path]);
  const all = JSON.parse((await run("export", "orders", "--json")).out) as { order_date: string }[];
  expect(all.map(({ order_date }) => order_date)).toEqual(unreadable);
  const ranged = await run("export", "orders", "--json", "--since", "0000-01-01", "--until", "2900-01-01");
  expect(JSON.parse(ranged.out)).toEqual([]);
  const months = JSON.parse((await run("export", "sales_by_month", "--json")).out);
  expect(months).toEqual([expect.objectContaining({ month: null, orders: unreadable.length })]);
});

test("a Delta export writes orders with unreadable dates to a file outside the month folders", async () => {
  const mirror = await mirrorOf(["2026-02-30T12:00:00Z", "soon", "2026-07-01T00:30:00+02:00"]);
  mirror.db.close();
  const home = makeHome();
  const run = async (...args: string[]) => await brandapi([...args, "--delta", home, "--db", mirror.path]);
  expect(await run("export", "orders")).toMatchObject({ code: 0 });
  const read = async (files: string) =>
    (await askDuckDb(`SELECT order_date FROM '${home}/orders/${files}' ORDER BY id`)).map(
      ({ order_date }) => order_date,
    );
  expect(await read("*.parquet")).toEqual(["2026-02-30T12:00:00Z", "soon"]);
  expect(await read("month=2026-06/*.parquet")).toEqual(["2026-07-01T00:30:00+02:00"]);
  expect((await run("verify")).code).toBe(0);
  expect((await run("export", "orders")).err).not.toContain("version 1");
});

test("the content_by_host view compares times in UTC to determine a host's newest file", async () => {
  const mirror = await makeMirror();
  const file = (id: string, created_at: string) => ({ id, source: "upload", host: { id: "h" }, created_at });
  writeRead(mirror, "content", [
    file("a", "2026-06-30T23:00:00Z"),
    file("b", "2026-07-01T00:30:00+02:00"),
    file("c", "2026-99-01T00:00:00Z"),
  ]);
  expect(mirror.db.prepare("SELECT last_added_at FROM content_by_host").pluck().all()).toEqual([
    "2026-06-30T23:00:00Z",
  ]);
  mirror.db.close();
});

test("Singer and XLSX exports never contain an impossible date as a timestamp", async () => {
  const mirror = await mirrorOf(["2026-02-30T12:00:00Z", "2026-07-01T00:30:00+02:00"]);
  mirror.db.close();
  const home = makeHome();
  const singer = await brandapi(["export", "orders", "--singer", "--db", mirror.path]);
  const records = singer.out.split("\n").filter((line) => line.includes('"RECORD"'));
  expect(records.map((line) => JSON.parse(line).record.order_date)).toEqual([
    null,
    "2026-07-01T00:30:00+02:00",
  ]);
  expect(singer.err).toContain("1 value");
  await brandapi(["export", "orders", "-o", "orders.xlsx", "--columns", "order_date", "--db", mirror.path], {
    home,
  });
  const parts = unzipSync(readFileSync(join(home, "orders.xlsx")));
  const sheet = strFromU8(parts["xl/worksheets/sheet1.xml"] ?? new Uint8Array());
  expect(sheet).toContain("2026-02-30T12:00:00Z");
  expect(sheet).toContain(`<v>${Date.parse("2026-06-30T22:30:00Z") / 86_400_000 + 25_569}</v>`);
});

test("--until 9999-12-31 includes all orders", async () => {
  const mirror = await mirrorOf(["2026-07-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]);
  mirror.db.close();
  const run = await brandapi(["export", "orders", "--ndjson", "--until", "9999-12-31", "--db", mirror.path]);
  expect(run.out.trim().split("\n")).toHaveLength(2);
});

test.each([
  ...Object.entries(readable).map(([text, instant]) => [text, instant.slice(0, 10)] as const),
  ...unreadable.map((text) => [text, "undated"] as const),
])("the name of a downloaded file with the date %j starts with '%s'", (createdAt, start) => {
  const file = { source: "upload", id: "f1", filename: "a.jpg", mimeType: null, createdAt };
  expect(fileName(file, new Set())).toMatch(new RegExp(`^${start}_`));
});

test("migrating a mirror recomputes the derived dates of all records and their earlier versions", async () => {
  const mirror = await mirrorOf(["2026-02-30T12:00:00Z", "2026-07-01T00:30:00+02:00"]);
  const changed = ["2026-02-30T12:00:00Z", "2026-07-01T00:30:00+02:00"].map((order_date, n) =>
    anOrder(n, { order_date, total_amount: 2 }),
  );
  writeRead(mirror, "orders", changed, { at: "2026-11-02T00:00:00.000Z" });
  mirror.db.exec(
    "UPDATE records SET dated_ms = 5; UPDATE record_versions SET month = NULL; DELETE FROM mirror_info WHERE name = 'shape:orders'",
  );
  mirror.db.close();
  await brandapi(["query", "SELECT 1", "--db", mirror.path]);
  const { out } = await brandapi([
    "query",
    "SELECT key, dated_ms, v.month FROM records JOIN record_versions AS v USING (record_id) ORDER BY key",
    "--json",
    "--db",
    mirror.path,
  ]);
  expect(JSON.parse(out)).toEqual([
    { key: "order-0", dated_ms: null, month: null },
    { key: "order-1", dated_ms: Date.parse("2026-06-30T22:30:00Z"), month: "2026-06" },
  ]);
});

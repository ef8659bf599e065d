import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, mirrorOfOrders, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { at, day, memberOf, noon, orderAt } from "../support/records.js";

test("export suggests the closest table name even if there is no mirror", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  for (const db of [mirror.path, `${mirror.path}-none`]) {
    const unknown = await brandapi(["export", "oders", "--db", db]);
    expect(unknown.err).toContain("did you mean `orders`?");
    expect(unknown.code).toBe(2);
  }
});

test("export requires a format", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const formatless = await brandapi(["export", "sales-by-month", "--db", mirror.path]);
  expect(formatless).toMatchObject({
    code: 2,
    err: expect.stringContaining("No output format was specified."),
  });
});

test("export rejects a range that ends before it begins", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const swapped = ["--since", "2026-02-01", "--until", "2026-01-01"];
  const { code, err, out } = await brandapi(["export", "orders", "--csv", ...swapped, "--db", mirror.path]);
  expect(err).toContain("`--since` is later than `--until`");
  expect(out).toBe("");
  expect(code).toBe(2);
});

test("export suggests --include-removed and the table of removed records if --columns names removed_at", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  const columns = ["--columns", "id,removed_at"];
  const refused = await brandapi(["export", "orders", "--csv", ...columns, "--db", mirror.path]);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("add `--include-removed`, or export `orders_removed`");
  const removed = await brandapi(["export", "orders-removed", "--csv", ...columns, "--db", mirror.path]);
  expect(removed).toMatchObject({ code: 0, out: "id,removed_at\n" });
  const view = await brandapi(["export", "hosts", "--csv", ...columns, "--db", mirror.path]);
  expect([view.code, view.err]).toEqual([2, expect.not.stringContaining("hosts_removed")]);
});

test("export rejects --include-removed if none of the exported tables can contain removed records", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const run = async (...tables: string[]) =>
    await brandapi(["export", ...tables, "--csv", "--include-removed", "--db", mirror.path]);
  const refused = { code: 2, err: expect.stringContaining("`--include-removed` has no effect on ") };
  for (const table of ["sales-by-month", "sync-runs"]) expect(await run(table)).toMatchObject(refused);
  const both = `export changes orders --csv -o out/ --include-removed --db ${await mirrorOfOrders(1)}`;
  expect((await brandapi(both)).code).toBe(0);
});

const selection = ["--columns id", "--where 1", "--since 7d", "--until 7d", "--limit 1"];
const otherSelection = ["--as-of 7d", "--include-removed"];
const formats = ["--csv", "--json", "--ndjson", "--xlsx", "--parquet"];
const fileFlags = ["-o x.csv", "--excel", "--decimal-comma", "--delimiter ;"];

test.each([
  ["--singer", [...selection, ...otherSelection]],
  ["--state state.json", [...selection, ...otherSelection, ...formats]],
  ["--delta lake", [...selection, ...otherSelection, ...formats, ...fileFlags, "--singer", "--state x"]],
])("export %s rejects options that conflict with it", async (flag, others) => {
  for (const other of others) {
    const { code, err } = await brandapi(`export orders ${flag} ${other}`);
    expect([code, err], other).toEqual([2, expect.stringContaining("cannot be used with option")]);
  }
});

test.each(["--retain 7d", "--all-profiles"])("export %s requires --delta", async (flag) => {
  const { code, err } = await brandapi(`export orders --csv ${flag}`);
  expect([code, err]).toEqual([2, expect.stringContaining("applies only to `--delta`")]);
});

test("export --until filters any dated table that is exported alone, but in an export of several tables only tables of events, such as orders", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [orderAt("old", noon - day), orderAt("new", noon)]);
  writeRead(mirror, "roster", [memberOf("old"), memberOf("new", { joined_at: at(noon) })]);
  mirror.db.close();
  const db = mirror.path;
  const run = (tables: string) => brandapi(`export ${tables} --until 2026-11-20 --db ${db}`);
  expect(await run("orders --csv --columns id")).toMatchObject({ code: 0, out: "id\nold\n" });
  expect(await run("roster --csv --columns relationship_id")).toMatchObject({
    code: 0,
    out: "relationship_id\nold\n",
  });
  expect(await run("orders roster -o out/")).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^orders: 1 row, roster: 2 rows, /),
  });
  expect(await run("hosts commission-by-host -o out/")).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      "no date column for `--since` and `--until` in `hosts`, `commission_by_host`",
    ),
  });
});

test("export --as-of also applies to subqueries in --where, and warns if no sync of a subquery's table has completed", async () => {
  const mirror = await makeMirror();
  const host = { id: "host-1" };
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)]);
  writeRead(mirror, "roster", [{ relationship_id: "r", host, commission_rate: 10 }]);
  writeRead(mirror, "roster", [{ relationship_id: "r", host, commission_rate: 12 }], {
    at: "2026-11-03T00:00:00.000Z",
  });
  mirror.db.exec("UPDATE sync_runs SET outcome = 'stopped' WHERE resource = 'roster'");
  mirror.db.close();
  const where = "host_id IN (SELECT host_id FROM roster WHERE commission_rate = 10)";
  const run = (...flags: string[]) =>
    brandapi([
      "export",
      "orders",
      "--csv",
      "--columns",
      "id",
      "--where",
      where,
      "--db",
      mirror.path,
      ...flags,
    ]);
  const now = await run();
  expect([now.out, now.err]).toEqual([
    "id\n",
    expect.stringContaining("warning: roster: no sync has completed"),
  ]);
  expect((await run("--as-of", "2026-11-02")).out).toBe("id\norder-1\n");
});

test("export rejects --as-of for a table without a history", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "analytics-hosts", []);
  mirror.db.close();
  expect(await brandapi(`export analytics-hosts --csv --as-of 2026-11-02 --db ${mirror.path}`)).toMatchObject(
    {
      code: 2,
      err: expect.stringContaining("keeps no history of"),
    },
  );
});

test("export resolves a relative --state path against the working directory", async () => {
  const home = makeHome();
  writeFileSync(join(home, "state.json"), "[]");
  const db = await mirrorOfOrders(1);
  expect(await brandapi(`export orders --state state.json --db ${db}`, { home })).toMatchObject({
    code: 3,
    err: expect.stringContaining(join(home, "state.json")),
  });
});

test("export writes a table only once, even if the table is named twice", async () => {
  const run = await brandapi(`export orders ORDERS --csv --columns id --db ${await mirrorOfOrders(1)}`);
  expect(run).toMatchObject({ code: 0, out: "id\norder-0\n" });
});

test("export --where warns about an unquoted date and about a table that has never been synced", async () => {
  const where = "order_date > 2026-10-01 OR id IN (SELECT host_id FROM roster)";
  const db = await mirrorOfOrders(1);
  const run = (condition: string, ...flags: string[]) =>
    brandapi(["export", "orders", "--csv", "--where", condition, "--db", db, ...flags]);
  const { code, err } = await run(where);
  expect(code).toBe(0);
  expect(err).toContain("`2026-10-01` without quotes");
  expect(err).toContain("`roster` is empty because it has never been read");
  expect(await run("id IN (SELECT host_id FROM content_downloads)", "--as-of", "2026-11-02")).toMatchObject({
    code: 2,
    err: expect.stringContaining("keeps no history of"),
  });
});

test("export warns about a view whose tables have never been synced", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "roster", []);
  mirror.db.close();
  const warning = "`sales_by_month` is empty because it has never been read; run `brandapi sync orders ";
  for (const flags of [[], ["--where", "1"]]) {
    const args = ["export", "sales_by_month", "--csv", ...flags, "--db", mirror.path];
    const { code, out, err } = await brandapi(args);
    expect([code, out.split("\n").length]).toEqual([0, 2]);
    expect(err.split(warning)).toHaveLength(2);
  }
});

test("export --delta refuses a view whose tables have never been synced, because an export would empty the Delta table", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "roster", []);
  mirror.db.close();
  const home = makeHome();
  const { code, err } = await brandapi(
    ["export", "roster", "sales_by_month", "--delta", "lake", "--db", mirror.path],
    { home },
  );
  expect([code, err]).toEqual([3, expect.stringContaining("run `brandapi sync orders --db")]);
  expect(existsSync(join(home, "lake"))).toBe(false);
});

test("export suggests commas if a column name is passed as a second table", async () => {
  const { code, err } = await brandapi("export orders --csv --columns id total_amount");
  expect([code, err]).toEqual([2, expect.stringContaining("`--columns id,total_amount`")]);
});

test("if --columns is invalid, export suggests `id` for `order_id`, `order_date` for `date`, and commas instead of spaces", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  for (const [typed, hint] of [
    ["order_id", "did you mean `id`?"],
    ["date", "did you mean `order_date`?"],
    ["id total_amount", "separate the columns with commas: `--columns id,total_amount`"],
  ] as const) {
    const { code, err } = await brandapi([
      "export",
      "orders",
      "--csv",
      "--columns",
      typed,
      "--db",
      mirror.path,
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining(`hint: ${hint}`)]);
  }
});

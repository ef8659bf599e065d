import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { resources } from "../../src/resources/registry.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

async function rows(path: string, ...args: string[]): Promise<string[]> {
  const run = await brandapi(["export", ...args, "--csv", "--db", path]);
  expect(run.err).toBe("");
  return (parse(run.out, { from_line: 2 }) as string[][]).map((row) => row.join(" "));
}

async function refusal(path: string, ...args: string[]): Promise<string> {
  const run = await brandapi(["export", ...args, "--db", path]);
  expect(run.code).toBe(2);
  expect(run.out).toBe("");
  return run.err;
}

test("removed records and their child rows are exported only with --include-removed", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2), anOrder(3)]);
  writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-2"] });
  mirror.db.close();
  expect(await rows(mirror.path, "orders", "--columns", "id")).toEqual(["order-1", "order-3"]);
  expect(await rows(mirror.path, "order-line-items", "--columns", "order_id")).toEqual([
    "order-1",
    "order-3",
  ]);
  expect(await rows(mirror.path, "orders", "--columns", "id,removed_at", "--include-removed")).toEqual([
    "order-1 ",
    "order-3 ",
    "order-2 2026-11-02T00:00:00.000Z",
  ]);
  expect(
    await rows(mirror.path, "order_line_items", "--columns", "order_id", "--include-removed"),
  ).toHaveLength(3);
  const json = await brandapi(["export", "orders", "--json", "--db", mirror.path]);
  expect(JSON.parse(json.out).map(({ id }: { id: string }) => id)).toEqual(["order-1", "order-3"]);
  const whole = await brandapi(["export", "orders", "--json", "--include-removed", "--db", mirror.path]);
  expect(JSON.parse(whole.out)).toHaveLength(3);
});

test("with the same date as --since and --until, export selects the rows from that day in UTC", async () => {
  const mirror = await makeMirror();
  const dates = [
    "2026-03-01T00:00:00Z",
    "2026-03-01T23:59:59.999Z",
    "2026-03-02T01:00:00+02:00",
    "2026-03-02T00:00:00.000Z",
    "2026-02-28T23:59:59Z",
  ];
  writeRead(
    mirror,
    "orders",
    dates.map((order_date, n) => anOrder(n, { order_date })),
  );
  writeRead(mirror, "recommendations", [], { whole: true });
  mirror.db.close();
  const day = ["--since", "2026-03-01", "--until", "2026-03-01"];
  expect(await rows(mirror.path, "orders", "--columns", "id", ...day)).toEqual([
    "order-0",
    "order-1",
    "order-2",
  ]);
  expect(await rows(mirror.path, "order-line-items", "--columns", "order_id", ...day)).toHaveLength(3);
  expect(await refusal(mirror.path, "recommendations", "--csv", "--since", "7d")).toContain("no date column");
});

test("each timestamp belongs to exactly one day and one month, even with microsecond precision", async () => {
  const mirror = await makeMirror();
  const last = "2026-10-31T23:59:59.999500Z";
  writeRead(mirror, "orders", [
    anOrder(1, { order_date: last }),
    anOrder(2, { order_date: "2026-11-01T00:00:00.000Z" }),
  ]);
  mirror.db.close();
  const within = (since: string, until: string) =>
    rows(mirror.path, "orders", "--columns", "id", "--since", since, "--until", until);
  expect(await within("2026-10", "2026-10")).toEqual(["order-1"]);
  expect(await within("2026-10-31", "2026-10-31")).toEqual(["order-1"]);
  expect(await within("2026-11", "2026-11")).toEqual(["order-2"]);
  expect(await within(last, last)).toEqual(["order-1"]);
});

test("--since and --until filter daily clicks by date, and changes by the time at which they were found", async () => {
  const mirror = await makeMirror();
  const timeseries = ["2026-10-01", "2026-10-02", "2026-10-03"].map((date) => ({ date }));
  writeRead(mirror, "analytics-clicks", [{ summary: {}, timeseries, top_hosts: [], top_products: [] }], {
    parameters: { period_start: "2026-10-01", period_end: "2026-10-31", group_by: "day", host_id: null },
  });
  writeRead(mirror, "orders", [anOrder(1)]);
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 5 })], { at: "2026-11-02T00:00:00.000Z" });
  mirror.db.close();
  const since = ["--since", "2026-10-02T12:00:00Z", "--until", "2026-10-03"];
  expect(await rows(mirror.path, "analytics_clicks", "--columns", "date", ...since)).toEqual([
    "2026-10-02",
    "2026-10-03",
  ]);
  expect(await rows(mirror.path, "changes", "--columns", "field,old,new", "--since", "2026-11-02")).toEqual([
    "refund_amount 0 5",
  ]);
  expect(await rows(mirror.path, "changes", "--until", "2026-11-01")).toEqual([]);
});

test("repeated exports are identical, with rows in the order in which they were first read", async () => {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    Array.from({ length: 700 }, (_, n) => anOrder(n)),
  );
  writeRead(mirror, "orders", [anOrder(3, { refund_amount: 1 })], { at: "2026-11-02T00:00:00.000Z" });
  mirror.db.close();
  for (const format of ["--csv", "--json", "--ndjson"]) {
    const [first, second] = [1, 2].map(() => brandapi(["export", "orders", format, "--db", mirror.path]));
    expect((await first)?.out).toBe((await second)?.out);
  }
  const ids = await rows(mirror.path, "orders", "--columns", "id");
  expect(ids.slice(0, 5)).toEqual(["order-0", "order-1", "order-2", "order-3", "order-4"]);
});

test("export --limit limits the number of rows in every format", async () => {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    Array.from({ length: 300 }, (_, n) => anOrder(n)),
  );
  mirror.db.close();
  for (const limit of [0, 1, 64, 65, 299, 300, 301]) {
    const there = Math.min(limit, 300);
    expect(
      await rows(mirror.path, "orders", "--columns", "id,currency", "--limit", String(limit)),
    ).toHaveLength(there);
    const json = await brandapi([
      "export",
      "orders",
      "--json",
      "--limit",
      String(limit),
      "--db",
      mirror.path,
    ]);
    expect(JSON.parse(json.out)).toHaveLength(there);
  }
});

test("--where accepts any SQL condition, including subqueries on other tables", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2, { currency: "USD" }), anOrder(3)]);
  writeRead(mirror, "orders", [anOrder(3, { refund_amount: 9 })], { at: "2026-11-02T00:00:00.000Z" });
  writeRead(mirror, "orders", [], { at: "2026-11-03T00:00:00.000Z", remove: ["order-1"] });
  mirror.db.close();
  const where = (condition: string) => rows(mirror.path, "orders", "--columns", "id", "--where", condition);
  expect(await where("currency = 'USD'")).toEqual(["order-2"]);
  expect(await where("id IN (SELECT key FROM changes WHERE field = 'refund_amount')")).toEqual(["order-3"]);
  expect(await where("1 OR 1")).toEqual(["order-2", "order-3"]);
  expect(await where("id = 'order-3' -- the third")).toEqual(["order-3"]);
  expect(await where("id <> ')' AND id <> ';' AND \"currency\" = 'EUR' /* ) ; */")).toEqual(["order-3"]);
});

const invalidConditions = [
  ["1; DROP TABLE orders", "syntax error"],
  ["1) OR (1", "syntax error"],
  ["1) UNION SELECT * FROM records WHERE (1", "do not have the same number"],
  ["(1", "The SQL is incomplete"],
  ["id = 'x", "add the closing quote"],
  ["1 /* open", "The SQL is incomplete"],
  ["color = 1", "no such column: color"],
  ['"color" = 1', "no such column"],
  ["id = ?", "parameter"],
  ["id = :x", "parameters"],
  ["", "syntax error"],
  ["1 ORDER BY id", "syntax error"],
] as const;

test.each(
  invalidConditions.map(([condition, why]) => {
    return [condition === "" ? "an empty string" : `\`${condition}\``, condition, why] as const;
  }),
)("export rejects %s as a --where condition", async (_, condition, why) => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  expect(await refusal(mirror.path, "orders", "--csv", "--where", condition)).toMatch(new RegExp(why));
});

test("an export explains why a --where condition fails while rows are being read", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  for (const condition of [
    "json(id) = 1",
    "id = load_extension('x')",
    "length(zeroblob(2000000000)) > 1",
    "(SELECT sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)) > 0",
    "abs(-9223372036854775807 - 1) > 0",
    "id GLOB hex(zeroblob(50000))",
  ])
    for (const format of ["--csv", "--json", "--ndjson"]) {
      const run = await brandapi(["export", "orders", format, "--where", condition, "--db", mirror.path]);
      expect({ condition, code: run.code }).toEqual({ condition, code: 2 });
      expect(run.err).toMatch(
        /^brandapi: SQLite stopped at `--where`: (malformed JSON|not authorized|string or blob too big|integer overflow|LIKE or GLOB pattern too complex)\.\n {2}hint: /,
      );
    }
});

test("export explains why a table, a column or a combination of flags is invalid", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [], { whole: true });
  mirror.db.close();
  expect(await refusal(mirror.path, "oders", "--csv")).toContain("did you mean `orders`?");
  expect(await refusal(mirror.path, "mirror_info", "--csv")).toContain("Unknown table");
  expect(await refusal(mirror.path, "records", "--csv")).toContain("only `brandapi query` can read");
  expect(await refusal(mirror.path, "orders", "--csv", "--columns", "id,curency")).toContain(
    "did you mean `currency`?",
  );
  expect(await refusal(mirror.path, "orders", "--csv", "--columns", "net_amount")).toContain(
    "`net_amount` is a column of `orders_net`",
  );
  expect(await refusal(mirror.path, "orders")).toContain("add `--csv`, `--json`, `--ndjson`");
  expect(await refusal(mirror.path, "orders", "--csv", "--columns", "id total_amount")).toContain(
    "`--columns id,total_amount`",
  );
  const both = "cannot be used with option";
  expect(await refusal(mirror.path, "orders", "--csv", "--ndjson")).toContain(both);
  for (const flags of ["--csv --json", "--delta lake --json", "--delta lake --csv"])
    expect((await brandapi(`export orders ${flags}`)).err).toContain(both);
  expect(await refusal(mirror.path, "orders", "--ndjson", "--excel")).toContain("`--excel` is for CSV");
  expect(await refusal(mirror.path, "orders", "--csv", "--since", "tomorrow")).toContain(
    "`--since` is not a time",
  );
});

test("if a table has never been synced, the export error gives the sync command to run", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  const run = await brandapi(["export", "survey-results", "--csv", "--db", mirror.path]);
  expect(run).toMatchObject({
    code: 3,
    out: "",
    err: expect.stringContaining("run `brandapi sync surveys --db "),
  });
});

test("every table and view can be exported", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  for (const { name } of resources) if (name !== "orders") writeRead(mirror, name, [], { whole: true });
  const names = mirror.db
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'view' OR name IN ('roster', 'changes', 'sync_runs')",
    )
    .pluck()
    .all() as string[];
  mirror.db.close();
  for (const name of names)
    for (const format of ["--csv", "--json", "--ndjson"]) {
      const run = await brandapi(["export", name.replaceAll("_", "-"), format, "--db", mirror.path]);
      expect({ name, code: run.code, err: run.err }).toEqual({ name, code: 0, err: "" });
      if (format === "--json") expect(Array.isArray(JSON.parse(run.out))).toBe(true);
    }
});

test("--as-of exports an earlier state of the records in every format", async () => {
  const mirror = await makeMirror();
  const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)], { at: at(1) });
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 10, line_items: [] }), anOrder(3)], {
    at: at(2),
  });
  writeRead(mirror, "orders", [], { at: at(3), remove: ["order-2"] });
  writeRead(mirror, "orders", [anOrder(2)], { at: at(4) });
  mirror.db.close();
  const columns = ["--columns", "id,refund_amount"];
  const then = (day: number) =>
    rows(mirror.path, "orders", ...columns, "--as-of", `2026-11-0${day}T12:00:00Z`);
  expect(await then(1)).toEqual(["order-1 0", "order-2 0"]);
  expect(await then(2)).toEqual(["order-1 10", "order-2 0", "order-3 0"]);
  expect(await then(3)).toEqual(["order-1 10", "order-3 0"]);
  expect(await then(4)).toEqual(["order-1 10", "order-2 0", "order-3 0"]);
  expect(await then(4)).toEqual(await rows(mirror.path, "orders", ...columns));
  const json = await brandapi(["export", "orders", "--json", "--as-of", "2026-11-01", "--db", mirror.path]);
  expect(JSON.parse(json.out)).toEqual([anOrder(1), anOrder(2)]);
  const items = ["order-line-items", "--columns", "order_id", "--as-of"];
  expect(await rows(mirror.path, ...items, "2026-11-01")).toEqual(["order-1", "order-2"]);
  expect(await rows(mirror.path, ...items, "2026-11-02")).toEqual(["order-2", "order-3"]);
  expect(
    await rows(mirror.path, "orders", ...columns, "--where", "refund_amount > 0", "--as-of", "2026-11-01"),
  ).toEqual([]);
  expect(
    await rows(mirror.path, "orders", ...columns, "--include-removed", "--as-of", "2026-11-03"),
  ).toHaveLength(3);
});

test("export --as-of TIME rejects a table without data at TIME, but only prints a warning if a view uses such a table", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  writeRead(mirror, "roster", [{ relationship_id: "r1", host: { id: "h1" } }], {
    at: "2026-11-03T00:00:00.000Z",
  });
  writeRead(mirror, "analytics-hosts", [], { whole: true });
  mirror.db.close();
  const asOf = ["--csv", "--as-of", "2026-11-02"];
  const hosts = await brandapi(["export", "hosts", ...asOf, "--db", mirror.path]);
  expect(hosts.code).toBe(0);
  expect(hosts.err).toContain("roster was first read at 2026-11-03T00:00:00.000Z");
  expect(await refusal(mirror.path, "roster", ...asOf)).toContain(
    "the first available time is 2026-11-03T00:00:00.000Z",
  );
  expect(await refusal(mirror.path, "analytics-hosts", ...asOf)).toContain("keeps no history");
  expect(await refusal(mirror.path, "content-downloads", ...asOf)).toContain("keeps no history of");
});

test("--as-of exports an earlier state of the change log", async () => {
  const mirror = await makeMirror();
  for (const [at, refund_amount] of [
    ["01", 0],
    ["02", 5],
    ["04", 9],
  ] as const)
    writeRead(mirror, "orders", [anOrder(1, { refund_amount })], {
      at: `2026-11-${at}T00:00:00.000Z`,
      whole: true,
    });
  mirror.db.close();
  const columns = ["--columns", "field,new"];
  expect(await rows(mirror.path, "changes", ...columns)).toEqual(["refund_amount 5", "refund_amount 9"]);
  expect(await rows(mirror.path, "changes", ...columns, "--as-of", "2026-11-03")).toEqual([
    "refund_amount 5",
  ]);
});

test("--as-of rejects a time in the future", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  expect(await refusal(mirror.path, "orders", "--csv", "--as-of", "2099-01-01")).toContain("in the future");
  const query = await brandapi(["query", "SELECT 1", "--as-of", "2099-01-01", "--db", mirror.path]);
  expect(query).toMatchObject({ code: 2, err: expect.stringContaining("in the future") });
  expect((await brandapi(["export", "orders", "--csv", "--as-of", "today", "--db", mirror.path])).code).toBe(
    0,
  );
});

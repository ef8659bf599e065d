import { exec, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { resources } from "../../src/resources/registry.js";
import type { ResourceSession } from "../../src/sync/session.js";
import { allTime } from "../../src/util/time-ranges.js";
import { createEvidence, type Evidence } from "../../src/verify/evidence.js";
import { counts, makeBrand, type TestBrand } from "../support/brand.js";
import { day, fileAt, noon, orderAt, ordersBefore } from "../support/records.js";

async function evidenceOf(brand: TestBrand, command: string): Promise<Evidence[]> {
  const { out } = await brand.run(`verify ${command} --json --evidence`);
  const lines = out.split("\n").filter((line) => line.startsWith('{"resource"'));
  return lines.flatMap((line) => (JSON.parse(line) as { evidence: Evidence[] }).evidence);
}

const installed = ["sqlite3", "jq"].filter((name) => spawnSync(name, ["--version"]).status === 0);
const shell = promisify(exec);

/** Runs a command printed by `verify --evidence`, and returns the number in the command's output. */
async function printed(brand: TestBrand, line: string, env: Record<string, string>): Promise<number> {
  if (line.startsWith("sqlite3") && !installed.includes("sqlite3")) {
    const sql = line.slice(line.indexOf('"') + 1, -1).replace(/\\(.)/g, "$1");
    return Number(Object.values(brand.sql(sql)[0] ?? {})[0]);
  }
  const [asking = "", filter = ""] = line.split(" | jq ");
  const command = installed.includes("jq") || filter === "" ? line : asking;
  const { stdout, stderr } = await shell(command, {
    env: { PATH: process.env.PATH, ...env },
    shell: "/bin/sh",
  });
  expect(stderr, line).toBe("");
  if (command !== line) return withoutJq(JSON.parse(stdout), filter);
  expect(stdout, line).toMatch(/^[\d.]+\n$/);
  return Number(stdout);
}

/** Evaluates a jq filter without jq, because not every machine has jq installed. */
function withoutJq({ data, pagination }: Answered, filter: string): number {
  const points = data.timeseries ?? [];
  const [, figure] = /\[\]\.(\w+)\] \| add/.exec(filter) ?? [];
  if (figure !== undefined) return points.reduce((sum, point) => sum + Number(point[figure]), 0);
  const isAny = ({ orders, revenue, subtotal_revenue }: Point) => orders || revenue || subtotal_revenue;
  return pagination?.total_items ?? (data.timeseries ? points.filter(isAny).length : [data].flat().length);
}

type Point = Record<string, unknown>;
interface Answered {
  data: { timeseries?: Point[] };
  pagination?: { total_items: number };
}

test.each([
  ["that has not changed since the sync", () => {}],
  [
    "that has changed since the sync",
    (brand: TestBrand) => {
      const [cancelled = "", withdrawn = "", refunded = ""] = brand.data.orders.slice(60).map(({ id }) => id);
      brand.cancel(cancelled);
      brand.withdraw(withdrawn);
      brand.refund(refunded, 0.5);
      brand.attributeLate(noon - 200 * day);
      brand.leave(brand.data.roster[0]?.host.id ?? "");
      brand.addGift();
    },
  ],
])(
  "for a brand %s, the commands that verify --evidence prints return the numbers printed next to them",
  async (_, happen) => {
    const brand = makeBrand({ history: 80, listLimit: 10 });
    expect((await brand.run("sync")).code).toBe(0);
    happen(brand);
    const rows = await evidenceOf(brand, "");
    const env = await brand.served();
    expect(new Set(rows.map(({ resource }) => resource))).toEqual(new Set(resources.map(({ name }) => name)));
    for (const { api, mirror, request, sql, note } of rows) {
      if (request !== null) expect(await printed(brand, request, env), request).toBe(api);
      if (sql !== null) expect(await printed(brand, sql, env), sql).toBe(mirror);
      expect(request === null && sql === null && note === null).toBe(false);
    }
    expect(rows.filter(({ request }) => request !== null).length).toBeGreaterThan(12);
    expect(JSON.stringify(rows)).not.toContain(brand.key);
    expect(rows.some(({ agrees }) => agrees === false)).toBe(happen.length > 0);
  },
);

test.each([
  ["/data/a b.sqlite", "/data/a%20b.sqlite"],
  ["/data/it's #1?.sqlite", "/data/it%27s%20%231%3f.sqlite"],
])(
  "the evidence command for the mirror %s contains the path as a URI, and SQL that is escaped for the shell",
  (path, uri) => {
    const session = { mirror: { path }, resource: orders } as unknown as ResourceSession;
    const sql = 'SELECT "a", \'$b\', `c`, "\\"';
    const printed = createEvidence(session, "check", allTime, { sql }).sql;
    expect(printed).toBe(`sqlite3 'file:${uri}?mode=ro' "SELECT \\"a\\", '\\$b', \\\`c\\\`, \\"\\\\\\""`);
    expect(createEvidence(session, "check", allTime, {})).toMatchObject({ sql: null, from: null, to: null });
  },
);

test("verify --evidence lists the days and counts that differ", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - 10 * day, 60, day) });
  await brand.run("sync orders --audit 0");
  brand.refund("o40", 1);
  brand.withdraw("o50");
  const rows = await evidenceOf(brand, "orders");
  const differing = rows.filter(({ agrees }) => agrees === false);
  const dayOf = (n: number) => new Date(noon - (10 + n) * day).toISOString().slice(0, 10);
  expect(differing.map(({ check, api, mirror, note }) => [check, api, mirror, note])).toEqual([
    ["all", 59, 60, null],
    ["all", 0, 1, null],
    ["days with totals", 59, 60, "2 differ"],
    ["single day", null, null, `${dayOf(50)}: totals have changed since the last read`],
    ["single day", null, null, `${dayOf(40)}: totals have changed since the last read`],
    ["all, without dates", 59, 60, null],
  ]);
  const [, part] = differing;
  expect(part?.request).toContain(`start_date=${part?.from}&`);
  expect(part?.sql).toContain(`datetime(order_date) >= '${part?.from?.slice(0, 19).replace("T", " ")}' AND`);
  expect(differing[3]).toMatchObject({
    from: `${dayOf(50)}T00:00:00.000Z`,
    to: `${dayOf(50)}T23:59:59.999Z`,
  });
});

test("verify --evidence does not count mirrored records that an interrupted sync found to be missing from the API", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - 10 * day, 60, day) });
  await brand.run("sync orders --audit 0");
  brand.withdraw("o1");
  brand.pass(day);
  await brand.stopped("sync orders", counts);
  const [all] = await evidenceOf(brand, "orders");
  expect(all).toMatchObject({
    mirror: 59,
    sql: expect.stringContaining("NOT IN (SELECT record_id FROM missing)"),
  });
});

test("verify sends the same requests with and without --evidence", async () => {
  const brand = makeBrand({ history: 70, listLimit: 10 });
  await brand.run("sync orders roster surveys");
  brand.cancel(brand.data.orders[50]?.id ?? "");
  const plain = await brand.run("verify orders roster surveys");
  const evidence = await brand.run("verify orders roster surveys --evidence");
  const paths = ({ requests }: typeof plain) => requests.map(({ path, query }) => [path, Object.keys(query)]);
  expect(paths(evidence)).toEqual(paths(plain));
  expect(plain.out).toContain("orders: different, 70 in the API and 70 in the mirror (");
  expect(plain.out).not.toContain("curl");
  expect((await brand.run("verify orders --json")).out).toMatch(
    /"api_total":70,"mirror_total":70,"differing":1,/,
  );
  expect(brand.lastRun()).toMatchObject({ api_total: 70, mirror_total: 70, differing: 1 });
});

test("verify --evidence prints the compared counts, and the dates by which orders will be re-read to find changes that affect no count", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - 10 * day, 600, day / 4) });
  await brand.run("sync orders --audit 2");
  const { out } = await brand.run("verify orders --evidence");
  const lines = out.split("\n");
  expect(lines.slice(0, 3)).toEqual([
    expect.stringContaining("curl, jq and sqlite3"),
    "    export BRANDAPI_BASE_URL=https://brand.test/api/brand/v1",
    expect.stringContaining("export BRANDAPI_KEY"),
  ]);
  expect(lines.filter((line) => /^ {2}\S/.test(line)).slice(1)).toEqual([
    "  check               from              to                API  mirror            asked at          note",
    "  all                                   2026-11-21 11:59  600     600  agrees    2026-11-21 12:00",
    "  cancelled                             2026-11-21 11:59    0       0  agrees    2026-11-21 12:00",
    "  refunded                              2026-11-21 11:59    0       0  agrees    2026-11-21 12:00",
    "  days with totals                      2026-11-20 23:59  151     151  agrees    2026-11-21 12:00  unchanged since each day was last read",
    "  all, without dates                                      600     600  agrees    2026-11-21 12:00",
    "  blind spot          2026-10-22 12:00  2026-11-21 11:59           81  unproven                    re-read by 2026-11-22",
    "  blind spot                            2026-10-22 11:59          519  unproven                    re-read by 2026-11-24",
  ]);
  expect(lines.slice(7, 9)).toEqual([
    `    echo "Authorization: Bearer $BRANDAPI_KEY" | curl -fsS -H @- "$BRANDAPI_BASE_URL/orders?end_date=2026-11-21T11:59:59.999999Z&page=1&per_page=1" | grep -o '"total_items": *[0-9]*' | grep -o '[0-9]*$'`,
    `    sqlite3 'file:${brand.db}?mode=ro' "SELECT count(*) FROM orders WHERE datetime(order_date) <= '2026-11-21 11:59:59'"`,
  ]);
});

test("verify --evidence prints when recent orders, orders not yet audited, and orders already audited will be re-read", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - day, 1_200, day / 4) });
  for (let run = 0; run < 3; run += 1) {
    await brand.run("sync orders --audit 1");
    brand.pass(day);
  }
  const blind = (await evidenceOf(brand, "orders")).filter(({ check }) => check === "blind spot");
  expect(blind.reduce((sum, { mirror }) => sum + Number(mirror), 0)).toBe(1_200);
  // Each run re-reads 98 records. The 885 orders not yet audited take ten runs, the 36 that leave the window in the
  // meantime take one, and the 206 already audited take three.
  expect(blind.map(({ mirror, note }) => [mirror, note])).toEqual([
    [109, "re-read by 2026-11-25"],
    [885, "re-read by 2026-12-04"],
    [206, "re-read by 2026-12-08"],
  ]);
});

test("verify --evidence compares a day's totals only if the entire day has been read", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - day, 40, day) });
  await brand.run("sync orders --since 2026-11-01 --until 2026-11-10 --audit 0");
  await brand.run("sync orders --since 2026-11-15T06:00:00Z --until 2026-11-15T18:00:00Z --audit 0");
  brand.refund("o15", 1);
  const [row, ...others] = (await evidenceOf(brand, "orders")).filter(
    ({ check }) => check === "days with totals",
  );
  expect(others).toEqual([]);
  expect(row).toMatchObject({ api: 10, mirror: 10, agrees: false, note: "1 differs" });
  expect(row?.request).toContain(
    "/analytics/clicks?group_by=day&limit=1&start_date=2026-11-01T00:00:00.000Z&end_date=2026-11-10T23:59:59.999Z",
  );
  brand.api.variants = { dailyTotals: "absent" };
  const checks = (await evidenceOf(brand, "orders")).map(({ check }) => check);
  expect([checks.includes("all"), checks.includes("days with totals")]).toEqual([true, false]);
});

test("if the amounts of most days have changed, verify --evidence reports daily totals as unproven, or as different if a count has also changed", async () => {
  const brand = makeBrand({
    orders: ordersBefore(noon - day, 40, day),
    variants: { dailyTotalsDrift: true },
  });
  await brand.run("sync orders");
  brand.pass(60 * 60 * 1_000);
  const dailyTotals = async () =>
    (await evidenceOf(brand, "orders")).find(({ check }) => check === "days with totals");
  expect(await dailyTotals()).toMatchObject({
    agrees: null,
    note: expect.stringContaining("amounts were not compared"),
  });
  brand.withdraw("o0");
  expect(await dailyTotals()).toMatchObject({ agrees: false, note: "1 differs" });
});

test("after `sync --window 0`, which re-reads no recent dates, verify --evidence still prints the dates by which orders will have been re-read", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - day, 300, day) });
  await brand.run("sync orders");
  brand.pass(3 * day);
  await brand.run("sync orders --window 0 --audit 1");
  const blind = (await evidenceOf(brand, "orders")).filter(({ check }) => check === "blind spot");
  expect(blind.length).toBeGreaterThan(0);
  for (const { note } of blind) expect(note).toMatch(/^re-read by 2026-/);
});

test("verify --evidence reports unread dates, filters with wrong counts and undated records as unproven", async () => {
  const brand = makeBrand({ orders: [orderAt("old", noon - 100 * day), orderAt("new", noon - day)] });
  await brand.run("sync orders --since 30d");
  const unproven = async () => (await evidenceOf(brand, "orders")).filter(({ agrees }) => agrees === null);
  expect(await unproven()).toMatchObject([
    { check: "all", from: null, to: "2026-10-22T11:59:59.999Z", api: 1, mirror: 0, note: "never read" },
    { check: "all, without dates", api: 2, mirror: 1, note: "not everything has been read" },
    { check: "blind spot", mirror: 1 },
  ]);
  brand.api.variants = { refundedFilter: "any" };
  brand.refund("old", 3);
  brand.add("orders", orderAt("undated", null));
  await brand.run("sync orders --full --audit 0");
  expect(await unproven()).toMatchObject([
    { check: "refunded", api: 1, mirror: 0, note: expect.stringContaining("filter") },
    { check: "all, without dates", api: 3, mirror: 2, note: "1 more than in all date ranges combined" },
    { check: "blind spot", mirror: 1, note: "re-read by 2026-11-22" },
    { check: "blind spot", mirror: 1, note: "never re-read (`--audit 0`)" },
  ]);
});

test.each(["orders", "content"] as const)(
  "before the first sync of %s, verify --evidence reports all dates as never read",
  async (name) => {
    const brand = makeBrand({ orders: [orderAt("one", noon - day)], content: [fileAt("one", noon - day)] });
    await brand.run("sync roster");
    const { code, out } = await brand.run(`verify ${name} --evidence`);
    expect([code, out]).toEqual([8, expect.stringContaining("never read")]);
    const [row] = await evidenceOf(brand, name);
    expect(row).toMatchObject({ from: null, to: null, api: 1, mirror: 0, agrees: null });
  },
);

test.skipIf(!installed.includes("jq"))(
  "the command that verify --evidence prints for a list counts the records in every form of response",
  async () => {
    const brand = makeBrand({ gifts: [{ id: "g1" } as never] });
    await brand.run("sync gifts");
    const [row] = await evidenceOf(brand, "gifts");
    const [, filter = ""] = row?.request?.split(" | jq ") ?? [];
    const [a, b] = [
      { id: "a", rate: 5 },
      { id: "b", rate: 6 },
    ];
    const responses = [{ data: a }, { data: [a, b] }, { data: [a], pagination: { total_items: 60 } }];
    const texts = responses.map((response) => JSON.stringify(response)).join("\n");
    expect((await shell(`echo '${texts}' | jq ${filter}`)).stdout).toBe("1\n2\n60\n");
  },
);

test("verify --repair reports the number of repaired records, and `changes --run` lists them", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - 40 * day, 50, day) });
  await brand.run("sync orders");
  brand.pass(day);
  const [cancelled = "", withdrawn = ""] = brand.data.orders.map(({ id }) => id);
  brand.cancel(cancelled);
  brand.withdraw(withdrawn);
  const late = brand.attributeLate(noon - 90 * day);
  const { out, code } = await brand.run("verify orders --repair");
  expect(code).toBe(0);
  const [, run] =
    /^ {2}repaired: 1 new, 1 changed, 1 removed: `brandapi changes orders --run (\d+)`$/m.exec(out) ?? [];
  const listed = JSON.parse((await brand.run(`changes orders --run ${run} --json`)).out) as { key: string }[];
  expect(new Set(listed.map(({ key }) => key))).toEqual(new Set([cancelled, withdrawn, late]));
  brand.cancel(brand.data.orders[2]?.id ?? "");
  const repair = await brand.run(["verify", "orders", "--repair", "--db", brand.db]);
  expect(repair.out).toContain(`--db ${brand.db}\``);
  expect((await brand.run("changes --run 1")).err).toContain("Run 1 found no changes");
  // Records that had never been read are not logged as changes.
  await brand.run("sync roster");
  brand.add("gifts", ...makeBrand({ history: 20, listLimit: 3 }).data.gifts);
  const read = await brand.run("verify gifts --repair");
  expect(read.out).toMatch(/^ {2}repaired: 3 new, 0 changed, 0 removed$/m);
});

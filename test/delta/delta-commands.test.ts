import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { saveInfo } from "../../src/store/database.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { hour } from "../support/records.js";

const start = Date.UTC(2026, 10, 21, 12);
const orderIn = (n: number, month: string) => anOrder(n, { order_date: `${month}-05T00:00:00Z` });
const orders = [
  orderIn(1, "2026-09"),
  orderIn(2, "2026-09"),
  orderIn(3, "2026-10"),
  anOrder(4, { order_date: "soon" }),
];

/** Creates a machine with a profile and a mirror for each brand. Commands use the first profile by default. */
async function makeMachine(...brands: string[]) {
  const home = makeHome();
  const profiles: Record<string, object> = {};
  const mirrors = [];
  for (const brand of brands) {
    const mirror = await makeMirror(home, `${brand}.sqlite`);
    mirror.transaction(() => saveInfo(mirror, "brand_id", brand));
    writeRead(mirror, "orders", orders, { whole: true });
    profiles[brand] = { key: `brk_${brand}`, db: mirror.path };
    mirrors.push(mirror);
  }
  mkdirSync(join(home, ".config/brandapi"), { recursive: true });
  writeFileSync(join(home, ".config/brandapi/config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  const env = { BRANDAPI_PROFILE: brands[0] ?? "" };
  const run = (command: string, hours = 0) =>
    brandapi(`${command} --delta lake`, { home, env, clock: { now: () => start + hours * hour } });
  const files = (table: string) =>
    readdirSync(join(home, "lake", table), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".parquet"))
      .sort();
  return { home, mirrors, run, files };
}

test("verify --delta compares each existing table with the mirror, and suggests a command that fixes the differences", async () => {
  const { home, run, files } = await makeMachine("fern");
  const exported = await run("export orders order_line_items");
  expect(exported.err).toMatch(/^orders: .*: \S*lake\/orders\norder_line_items: .*\/order_line_items\n$/);
  expect(await run("verify")).toMatchObject({
    code: 0,
    out: "orders: version 0 matches the mirror\norder_line_items: version 0 matches the mirror\n",
  });
  expect((await run("verify orders --full")).out).toBe(
    "orders: version 0 matches the mirror, 4 rows compared\n",
  );

  const [september = "", october = "", unknown = ""] = files("orders").map((name) =>
    join(home, "lake/orders", name),
  );
  const bytes = readFileSync(september);
  for (const position of [60, 70, 80]) bytes[position] = (bytes[position] ?? 0) ^ 0xff;
  writeFileSync(september, bytes);
  rmSync(october);
  expect(await run("verify orders")).toMatchObject({
    code: 8,
    out: expect.stringMatching(/mirror: 2026-10\n$/),
  });
  rmSync(unknown);
  const { code, out, err } = await run("verify orders --full");
  expect(code).toBe(8);
  expect(out).toMatch(
    /^orders: version 0 differs from the mirror: rows without a month, 2026-09, 2026-10, 0 rows compared\n/,
  );
  expect(out).toContain(`  damaged: ${september}: part of the file cannot be read\n`);
  expect(err).toContain(`\`rm ${september} && brandapi export orders --delta lake\``);
  const json = JSON.parse((await run("verify orders --json")).out.split("\n")[0] ?? "");
  expect(json).toEqual({ table: "orders", version: 0, differing: ["", "2026-10"] });
});

test("tables --delta prints the newest version of each table and brand, sorted by brand", async () => {
  const { run, mirrors } = await makeMachine("fern", "moss");
  expect(await run("export orders --all-profiles")).toMatchObject({ code: 0 });
  expect(await run("export roster")).toMatchObject({ code: 3 });
  const [fern] = mirrors;
  fern?.db.exec(
    "UPDATE sync_runs SET verified = 0, outcome = 'incomplete'; UPDATE orders SET currency = 'NOK'",
  );
  expect((await run("export orders")).err).toContain("no sync has completed yet");
  const { out } = await run("tables");
  expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["table", "brand", "version", "rows", "verified", "through (UTC)", "run"],
    ["orders", "fern", "2", "4", "no", "never", "1"],
    ["orders", "moss", "1", "4", "yes", "2026-11-01 00:00", "1"],
    [""],
  ]);
  const json = (await run("tables --json")).out.trim().split("\n");
  expect(json.map((line) => JSON.parse(line))).toMatchObject([
    { table: "orders", brand: "fern", version: 2, rows: 4, verified: false },
    { table: "orders", brand: "moss", version: 1, rows: 4, verified: true },
  ]);
  for (const profile of ["fern", "moss"])
    expect(await run(`verify --full --profile ${profile}`)).toMatchObject({
      code: 0,
      out: "orders: version 2 matches the mirror, 4 rows compared\n",
    });
});

test("tables --delta prints no brand for a table that is not partitioned by brand", async () => {
  const { run } = await makeMachine("fern");
  await run("export orders");
  expect((await run("tables")).out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["table", "version", "rows", "verified", "through (UTC)", "run"],
    ["orders", "0", "4", "yes", "2026-11-01 00:00", "1"],
    [""],
  ]);
});

test("Delta commands report a table or a folder that does not exist", async () => {
  const { home, run } = await makeMachine("fern");
  for (const command of ["tables", "verify", "verify orders"])
    expect(await run(command)).toMatchObject({ code: 3, err: expect.stringContaining("is missing") });
  await run("export orders");
  for (const command of ["tables", "verify"])
    expect(await run(`${command} order-line-items`)).toMatchObject({ code: 3 });
  expect(await brandapi("export orders --delta s3://bucket/lake", { home })).toMatchObject({
    code: 3,
    err: expect.stringContaining("is not a folder on this machine"),
  });
});

test.each([
  ["export", "168 hours", 167, 169],
  ["export --retain 2h", "2 hours", 1, 3],
  ["export --retain 0s", "the minimum of 1 hour", 0.5, 1.5],
])(
  "`%s --delta` keeps replaced files for %s, so they exist after %d h and are deleted after %d h",
  async (command, _period, kept, deleted) => {
    const { mirrors, run, files } = await makeMachine("fern");
    await run("export orders");
    for (const mirror of mirrors)
      writeRead(mirror, "orders", [{ ...orderIn(1, "2026-09"), refund_amount: 1 }], {
        at: "2026-11-02T00:00:00.000Z",
      });
    await run("export orders");
    expect(files("orders")).toHaveLength(4);
    await run(command.replace("export", "export orders"), kept);
    expect(files("orders")).toHaveLength(4);
    await run(command.replace("export", "export orders"), deleted);
    expect(files("orders")).toHaveLength(3);
  },
);

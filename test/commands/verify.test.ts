import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBrand, type TestBrand, testBaseUrl } from "../support/brand.js";
import { createEmptyMirror } from "../support/mirror.js";
import { day, hour, memberOf, noon, orderAt, ordersBefore } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

test.each(["verify", "verify orders", "verify --repair", "verify --json"])(
  "`%s` fails if there is no mirror, and does not create one",
  async (command) => {
    const brand = makeBrand({ history: 50, listLimit: 10 });
    const path = join(brand.home, "none.sqlite");
    const { code, err } = await brand.run([...command.split(" "), "--db", path]);
    const exported = await brand.run(["export", "orders", "--csv", "--db", path]);
    expect(err).toBe(exported.err);
    expect(err).toContain("No mirror yet:");
    expect(err).toContain("check the path, or run `brandapi sync");
    expect(code).toBe(3);
    expect(brand.requests).toEqual([]);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(brand.db)).toBe(false);
  },
);

test("verify adds --db to the sync command that it suggests for unread records", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon, 5, day) });
  await brand.run("sync orders --since 2d");
  const { out } = await brand.run(["verify", "orders", "--db", brand.db]);
  expect(out).toContain(`run \`brandapi sync orders --full --db ${brand.db}\``);
});

test("verify fails if nothing has been synced yet", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  await createEmptyMirror(brand.db);
  const { code, out, err } = await brand.run("verify");
  expect({ code, out, err }).toEqual({
    code: 8,
    out: "",
    err: expect.stringMatching(/never been synced\.\n.*`brandapi sync`/),
  });
});

test("verify reports a named resource that has never been synced, and verify --repair reads that resource", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync roster")).code).toBe(0);
  const { code, out, err } = await brand.run("verify orders roster --json");
  const [orders, roster, last] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(orders).toMatchObject({ resource: "orders", state: "unproven" });
  expect(roster).toMatchObject({ resource: "roster", state: "proven" });
  expect(last).toHaveProperty("error.code", "incomplete");
  expect(err).toMatch(/50 records .*not been read.*\n.*`brandapi verify orders --repair`/);
  expect(code).toBe(8);
  // A resource that has never been synced is verified only if it is named. Verifying it does not count as a sync.
  expect((await brand.run("verify")).code).toBe(0);
  expect((await brand.run("verify orders --repair")).code).toBe(0);
});

test("for a resource that has never been synced, verify prints how many records the API has or, for clicks and rankings, that nothing has been read", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync roster")).code).toBe(0);
  const { out } = await brand.run("verify orders analytics-hosts");
  expect(out).toMatch(/^orders: unproven, 50 in the API and 0 in the mirror \(\d requests\)\n/);
  expect(out).toContain("all: unproven: nothing has been read yet; run `brandapi sync analytics-hosts`\n");
  await brand.run("sync analytics-hosts");
  expect((await brand.run("verify analytics-hosts")).out).toContain("the values from the last read\n");
});

test("verify explains in a single line which changes it cannot detect, even if it checks several resources", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync orders content roster surveys opportunities")).code).toBe(0);
  const { out } = await brand.run("verify");
  const lines = out.split("\n").filter((line) => /^\w|cannot detect/.test(line));
  expect(lines.map((line) => line.split(/[:;]/)[0])).toEqual([
    ...["orders", "roster", "opportunities", "content", "surveys"],
    "`verify` cannot detect a change to orders or content that affects none of these numbers, or a change to the details of opportunities or surveys",
  ]);
  expect((await brand.run("verify orders")).out).toMatch(
    /detect a change to orders that affects none of these numbers; /,
  );
  expect((await brand.run("verify roster")).out).not.toContain("cannot detect");
});

test("verify reports click totals as unproven but exits with code 0, because the API can change past totals at any time", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync analytics-hosts")).code).toBe(0);
  for (const command of ["verify", "verify analytics-hosts analytics-clicks"]) {
    const { code, out, err } = await brand.run(command);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("analytics-hosts: unproven");
  }
});

test("verify reports an outage only once, with a hint", async () => {
  const brand = makeBrand({ history: 50, listLimit: 10 });
  expect((await brand.run("sync orders roster")).code).toBe(0);
  brand.before = ({ path }) => (path === "/me" ? undefined : { status: 503 });
  const { code, out, err } = await brand.run("verify");
  expect({ code, out }).toEqual({ code: 6, out: "" });
  expect(err.match(/unavailable/g)).toHaveLength(1);
  expect(err).toContain("\n  hint: check the network");
});

test("if a resource cannot be verified, the error of verify also names the differences in the others, and both next commands", async () => {
  const brand = await syncedBrand();
  await brand.run("sync gifts codes");
  brand.withdraw(brand.data.orders[50]?.id ?? "");
  brand.leave("r1");
  brand.before = ({ path }) => (path === "/gifts" ? { status: 503 } : undefined);
  const message =
    "Found: orders differs from the API (2026-10); roster differs from the API (all). 1 of 4 resources failed: gifts: The API is unavailable: HTTP 503 Service Unavailable (tried once in 0s).";
  const hint = "run `brandapi verify orders roster --repair`; run `brandapi verify gifts` again later";
  expect(await brand.run("verify --max-wait 0s")).toMatchObject({
    code: 8,
    err: `brandapi: ${message}\n  hint: ${hint}\n`,
  });
  const { out } = await brand.run("verify --max-wait 0s --json");
  expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toEqual({
    error: { code: "incomplete", message, hint },
  });
  const repaired = await brand.run("verify --max-wait 0s --repair");
  expect([repaired.code, repaired.err]).toEqual([
    8,
    expect.stringMatching(
      /^brandapi: 1 of 4 .*\n {2}hint: run `brandapi verify gifts --repair` again later\n$/m,
    ),
  ]);
});

test.each([
  ["--full", "`--full` applies only to `--delta`."],
  ["--accept-removals", "`--accept-removals` needs `--repair`."],
  ["--delta lake --repair", "cannot be used with"],
  ["--delta lake --evidence", "cannot be used with"],
  ["--delta lake --accept-removals", "cannot be used with"],
])("verify %s is rejected with exit code 2 before any request", async (flags, message) => {
  const { code, err, requests } = await makeBrand().run(`verify ${flags}`);
  expect([code, err, requests]).toEqual([2, expect.stringContaining(message), []]);
});

/** A synced brand with one order per day from August to November. August was read last. */
async function syncedBrand(): Promise<TestBrand> {
  const brand = makeBrand({
    orders: ordersBefore(noon - hour, 100, day),
    roster: Array.from({ length: 30 }, (_, n) => memberOf(`r${n}`)),
  });
  await brand.run("sync orders roster");
  brand.pass(hour);
  await brand.run("sync orders --since 2026-08-01 --until 2026-08-31");
  return brand;
}

test("verify prints adjacent months with the same result on one line, with the time of the oldest read", async () => {
  const brand = await syncedBrand();
  const agree = "daily totals and counts agree (all, cancelled, refunded); read since 2026-11-21";
  expect((await brand.run("verify orders")).out).toContain(
    `orders: proven, 100 in the API and 100 in the mirror (6 requests)\n  2026-08 to 2026-11: proven: ${agree} 12:00\n`,
  );
  brand.data.orders = brand.data.orders.map((order, n) =>
    n === 50 || n === 80 ? { ...order, total_amount: 99 } : order,
  );
  const { code, out, err } = await brand.run("verify orders");
  expect(out).toContain(
    `  2026-08: proven: ${agree} 13:00\n` +
      "  2026-09: different: 2026-09-02: totals have changed since the last read; read since 2026-11-21 12:00\n" +
      "  2026-10: different: 2026-10-02: totals have changed since the last read; read since 2026-11-21 12:00\n" +
      `  2026-11: proven: ${agree} 12:00\n`,
  );
  expect([code, err]).toEqual([
    8,
    "brandapi: Found: orders differs from the API (2026-09, 2026-10).\n  hint: run `brandapi verify orders --repair`\n",
  ]);
  const json = await brand.run("verify orders --json");
  expect(JSON.parse(json.out.split("\n")[0] ?? "")).toMatchObject({
    resource: "orders",
    state: "different",
    months: [{ month: "2026-08", kind: "month" }, {}, { month: "2026-10", state: "different" }, {}],
    api_total: 100,
    found: ["orders differs from the API (2026-09, 2026-10)"],
  });
  const repaired = await brand.run("verify --repair");
  expect([repaired.code, repaired.out]).toEqual([
    0,
    expect.stringMatching(
      /^orders: repaired, .*\n {2}repaired: 0 new, 2 changed, 0 removed: `brandapi changes orders --run \d+/,
    ),
  ]);
});

test("if most records are missing from the API, verify --repair removes them only with --accept-removals", async () => {
  const brand = await syncedBrand();
  brand.data.roster = brand.data.roster.slice(0, 2);
  const refused = await brand.run("verify roster --repair");
  expect([refused.code, brand.mirrored("roster").length]).toEqual([8, 30]);
  expect(refused.err).toContain("hint: run `brandapi verify roster` again later\n");
  brand.data.orders = [orderAt("new", brand.now()), ...brand.data.orders];
  brand.pass(hour);
  const unread = await brand.run("verify orders");
  expect([unread.code, unread.err]).toEqual([
    8,
    expect.stringMatching(/1 record that has not been read yet\.\n.*`brandapi verify orders --repair`/),
  ]);
  const applied = await brand.run("verify roster --repair --accept-removals");
  expect([applied.code, brand.mirrored("roster").length]).toEqual([0, 2]);
  expect(applied.out).toContain("  repaired: 0 new, 0 changed, 28 removed: ");
});

test("verify does not suggest --repair for records with unreadable dates, because only the API can correct them", async () => {
  const orders = [...ordersBefore(noon - hour, 10, day), orderAt("odd", "2026-11-10T24:00:00Z")];
  const roster = Array.from({ length: 30 }, (_, n) => memberOf(`r${n}`));
  const brand = makeBrand({ orders, roster, variants: { undated: "in every range" } });
  await brand.run("sync orders roster");
  const { code, err } = await brand.run("verify orders");
  expect([code, err]).toEqual([8, expect.stringContaining("hint: the data must be corrected in the API;")]);
  brand.data.roster = roster.slice(0, 2);
  const both = await brand.run("verify orders roster --repair");
  expect([both.code, both.err]).toEqual([8, expect.stringContaining("orders roster` again later\n")]);
});

test("if the key has lost the scope for orders, `verify` exits with code 8, and `verify orders` exits with code 5", async () => {
  const brand = await syncedBrand();
  brand.setKey({ scopes: ["roster:read"] });
  const all = await brand.run("verify");
  expect([all.code, all.err]).toEqual([
    8,
    expect.stringContaining(
      "1 of 2 resources failed: orders was read before, but access to it is now denied: ",
    ),
  ]);
  expect((await brand.run("verify orders")).code).toBe(5);
});

test("verify reports a table whose rows were modified in the mirror, even while the API is unavailable", async () => {
  const brand = await syncedBrand();
  const mirror = new Sqlite(brand.db);
  mirror.exec("UPDATE orders SET total_amount = 1 WHERE id = 'o3'");
  mirror.close();
  brand.before = ({ path }) => (path === "/me" ? undefined : { status: 503 });
  const outage = await brand.run("verify orders roster");
  expect(outage.out).toMatch(/^orders: different .*\n {2}all: .*\n {2}table orders: different: 1 /);
  expect(outage.out).not.toContain("roster");
  expect([outage.code, outage.err]).toEqual([
    6,
    expect.stringMatching(
      /^warning: Found: .*\(orders: 1 row .* run `brandapi verify orders --repair`\nbrandapi: The API is unavailable: /,
    ),
  ]);
  brand.before = undefined;
  const repaired = await brand.run("verify orders --repair");
  expect([repaired.code, repaired.out]).toEqual([0, expect.stringContaining("  table orders: repaired: 1 ")]);
});

test("verify checks the entire mirror file for damage, even if a sync has already checked it on the same day", async () => {
  const brand = makeBrand({ roster: [memberOf("r1")] });
  await brand.run("sync roster");
  const mirror = new Sqlite(brand.db);
  mirror.pragma("journal_mode = DELETE");
  const pageSize = Number(mirror.pragma("page_size", { simple: true }));
  const rootPage = mirror.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'gifts'").pluck().get();
  mirror.close();
  const file = readFileSync(brand.db);
  writeFileSync(brand.db, file.fill(7, (Number(rootPage) - 1) * pageSize, Number(rootPage) * pageSize));
  expect((await brand.run("sync roster")).code).toBe(0);
  expect(await brand.run("verify roster")).toMatchObject({
    code: 3,
    err: expect.stringContaining("The mirror is damaged"),
  });
});

test("verify --evidence prints each number with its request and its SQL query", async () => {
  const brand = await syncedBrand();
  brand.data.roster = brand.data.roster.slice(1);
  const { out } = await brand.run("verify orders roster --evidence");
  expect(out).toMatch(/^The commands below need curl, jq and sqlite3, and these variables:\n/);
  expect(out).toContain(
    `\n    export BRANDAPI_BASE_URL=${testBaseUrl}\n    read -rs BRANDAPI_KEY; export BRANDAPI_KEY `,
  );
  expect(out).toMatch(/^ {2}check +from +to +API +mirror +asked at +note$/m);
  expect(out).toMatch(
    /^ {2}all {2,}2026-11-21 11:59 +100 +100 +agrees +2026-11-21 13:00\n {4}echo .* curl .*\n {4}sqlite3 .*\n {2}cancelled/m,
  );
  expect(out).toMatch(/^ {2}every record +29 +30 +differs /m);
  expect(out).toMatch(/^ {2}blind spot .* unproven {2,}re-read by 2026-11-22\n {4}sqlite3 /m);
  const [json = ""] = (await brand.run("verify roster --evidence --json")).out.split("\n");
  expect(JSON.parse(json).evidence).toContainEqual(
    expect.objectContaining({ api: 29, mirror: 30, agrees: false }),
  );
  const [plain = ""] = (await brand.run("verify roster --json")).out.split("\n");
  expect(JSON.parse(plain)).not.toHaveProperty("evidence");
});

test.each(["verify", "verify orders", "verify orders --full"])(
  "%s --delta exits with code 3 if the Delta table is missing, and sends no requests",
  async (command) => {
    const brand = makeBrand();
    await brand.run("sync orders");
    const { code, err, requests } = await brand.run(`${command} --delta lake`);
    expect([code, err, requests]).toEqual([3, expect.stringContaining("The Delta table is missing: "), []]);
  },
);

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { resources } from "../../src/resources/registry.js";
import { type CoveredRange, saveCoverage, withCoveredRange } from "../../src/store/coverage.js";
import type { Mirror } from "../../src/store/database.js";
import { saveJsonInfo } from "../../src/store/database.js";
import {
  type FailedCommand,
  saveAccessDenial,
  saveFailedCommand,
  saveVerifyFinding,
} from "../../src/store/known-problems.js";
import { lockMirror } from "../../src/store/mirror-lock.js";
import { saveOwner } from "../../src/store/owner.js";
import { insertRun, updateRun } from "../../src/store/runs.js";
import { SyncState } from "../../src/store/sync-state.js";
import { makeBrand, readsOrders } from "../support/brand.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { hour } from "../support/records.js";

const now = Date.parse("2026-11-02T06:00:00.000Z");
const clock = { now: () => now };

function recordCoverage(mirror: Mirror, resource: string, added: CoveredRange): void {
  const dates = new SyncState(mirror, resource).loadDates();
  mirror.transaction(() => saveCoverage(mirror, resource, withCoveredRange(dates, added).coverage));
}

const covered = (from: string, to: string) => ({
  from: Date.parse(from),
  to: Date.parse(to),
  requestedAt: now,
  runId: 1,
});

const others = resources.map(({ name }) => name).filter((name) => name !== "orders");

test("status shows each synced resource's row count, covered range, last success and age", async () => {
  const mirror = await makeMirror();
  saveOwner(mirror, { id: "b", name: "Fjell & Fern\u001b[31m" });
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)], { at: "2026-11-01T06:00:00.000Z" });
  writeRead(mirror, "orders", [], { at: "2026-11-02T02:00:00.000Z", remove: ["order-1"] });
  recordCoverage(mirror, "orders", {
    ...covered("2026-01-01", "2026-03-01"),
    from: Number.NEGATIVE_INFINITY,
  });
  recordCoverage(mirror, "orders", { ...covered("2026-04-01", "2026-11-02"), runId: 2 });
  mirror.db.close();
  const run = await brandapi(["status", "--db", mirror.path], { clock });
  expect(run.code).toBe(0);
  expect(run.out).toBe(
    `Mirror of Fjell & Fern\\u001b[31m, ${mirror.path}\n\n` +
      "resource  rows  removed  read completely        last success      age\n" +
      "orders       1        1  from the start, 1 gap  2026-11-02 02:00  4h\n" +
      `Never read: ${others.join(", ")}\n\n` +
      `! orders: not read: 2026-03-01 00:00 to 2026-03-31 23:59; run \`brandapi sync orders --db ${mirror.path}\`\n`,
  );
});

test("status --json prints the state of each resource with stable field names", async () => {
  const mirror = await makeMirror();
  saveOwner(mirror, { id: "b", name: "Fjell" });
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T02:00:00.000Z" });
  recordCoverage(mirror, "orders", { ...covered("2026-04-01", "2026-11-02T02:00:00.000Z") });
  const state = new SyncState(mirror, "orders");
  mirror.transaction(() => {
    state.saveFloor(Date.parse("2026-04-01"));
    state.saveLastOptions({ windowMs: 30 * 86_400_000, auditRequests: 5 });
  });
  mirror.db.close();
  const run = await brandapi(["status", "--json", "--db", mirror.path], { clock });
  expect(JSON.parse(run.out)).toEqual({
    db: mirror.path,
    brand: { id: "b", name: "Fjell" },
    under_way: null,
    failed_run: null,
    checked_at: "2026-11-02T06:00:00.000Z",
    max_age_seconds: null,
    stale: [],
    never_read: others,
    denied: [],
    resources: [
      {
        resource: "orders",
        rows: 1,
        removed: 0,
        undated: 0,
        covered: [{ from: "2026-04-01T00:00:00.000Z", to: "2026-11-02T02:00:00.000Z" }],
        requested_from: "2026-04-01T00:00:00.000Z",
        gaps: [],
        last_success_at: "2026-11-02T02:00:00.000Z",
        last_done_at: "2026-11-02T02:00:00.000Z",
        age_seconds: 14_400,
        last_run: {
          run_id: 1,
          started_at: "2026-11-02T02:00:00.000Z",
          finished_at: "2026-11-02T02:00:00.000Z",
          outcome: "done",
          error: null,
        },
        last_error: null,
        found: null,
        refused: null,
        running: null,
        unexpected_columns: [],
        oldest_read_at: "2026-11-02T06:00:00.000Z",
        stale: false,
      },
    ],
    last_backup: null,
    omit: [],
    forgotten: [],
  });
});

test("status exits with code 10 and names only the resources whose data is older than --max-age", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T02:00:00.000Z" });
  writeRead(mirror, "roster", [], { at: "2026-11-01T02:00:00.000Z" });
  mirror.db.close();
  const fresh = await brandapi(["status", "--max-age", "28h", "--db", mirror.path], { clock });
  expect({ code: fresh.code, err: fresh.err }).toEqual({ code: 0, err: "" });
  const stale = await brandapi(["status", "--max-age", "26h", "--quiet", "--db", mirror.path], { clock });
  expect(stale.code).toBe(10);
  expect(stale.out).toBe("");
  expect(stale.err).toMatch(/Older than 26h: roster\.\n.*`brandapi sync roster --db /);
  const json = await brandapi(["status", "--max-age", "26h", "--json", "--db", mirror.path], { clock });
  const [health, error] = json.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(health.stale).toEqual(["roster"]);
  expect(error.error.code).toBe("stale");
});

test.each([
  ["2026-04-01", "2026-04-01"],
  ["2026-04-01T23:25:00.000Z", "2026-04-01 23:25"],
])(
  "if the syncs have requested only records from %s onward, status reports that older records have never been requested, and suggests `sync --full` with the same profile, mirror and key",
  async (from, start) => {
    const home = makeHome();
    const mirror = await makeMirror();
    writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T02:00:00.000Z" });
    recordCoverage(mirror, "orders", covered(from, "2026-11-02T02:00:00.000Z"));
    mirror.db.close();
    const given = `--profile acme --db ${mirror.path} --key-file key.txt`;
    writeFileSync(join(home, "key.txt"), "brk_secret", { mode: 0o600 });
    const { code, out } = await brandapi(`status ${given}`, { clock, home });
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^orders +1 +from ${start} `, "m"));
    expect(out).toContain(
      `orders: records before ${start} have never been requested; run \`brandapi sync orders --full ${given}\`\n`,
    );
  },
);

test("status reports that the first sync was stopped, but does not claim that older records have never been requested", async () => {
  const mirror = await makeMirror();
  insertRun(mirror, "orders", "2026-11-02T02:00:00.000Z");
  recordCoverage(mirror, "orders", covered("2026-04-01", "2026-11-02T02:00:00.000Z"));
  mirror.db.close();
  const { out } = await brandapi(["status", "--db", mirror.path], { clock });
  expect(out).toContain("! orders: the last run was stopped\n");
  expect(out).not.toContain("never been requested");
});

test("status --max-age exits with code 10 if the last sync left a gap, until a sync fills it", async () => {
  const brand = makeBrand();
  await brand.run("sync orders --since 2026-11-01");
  const floor = await brand.run("status orders --max-age 26h --quiet");
  expect([floor.code, floor.out, floor.err]).toEqual([0, "", ""]);
  await brand.run("sync orders --since 2026-03-01 --until 2026-04-01");
  const gap = await brand.run("status orders --max-age 26h --quiet");
  expect([gap.code, gap.out, gap.err]).toEqual([
    10,
    "",
    "warning: orders: not read: 2026-04-02 00:00 to 2026-10-31 23:59; run `brandapi sync orders`\n" +
      "brandapi: Not all dates have been read: orders.\n  hint: run `brandapi sync orders`\n",
  ]);
  await brand.run("sync orders");
  expect((await brand.run("status orders --max-age 26h --quiet")).code).toBe(0);
});

test("status --max-age does not report the older dates that an unfinished sync was to read, until a successful sync leaves them unread", async () => {
  const brand = makeBrand({ history: 20 });
  const check = async () => (await brand.run("status orders analytics-clicks --max-age 26h --quiet")).err;
  await brand.run("sync orders analytics-clicks --since 2026-11-01");
  await brand.stopped("sync orders --full", readsOrders);
  let months = 0;
  await brand.stopped("sync analytics-clicks --full", ({ query }) => "start_date" in query && ++months === 2);
  const status = JSON.parse((await brand.run("status orders analytics-clicks --json")).out);
  expect(status.resources.map(({ gaps }: { gaps: unknown[] }) => gaps.length)).toEqual([1, 1]);
  expect(await check()).toBe("");
  await brand.run("sync orders --since 2026-11-10");
  expect(await check()).toContain("Not all dates have been read: orders.");
});

test("if the first sync was interrupted, and the next one used --since, status lists the unread dates as a gap instead of suggesting --full", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [], { at: "2026-11-02T02:00:00.000Z" });
  recordCoverage(mirror, "orders", covered("2026-04-01", "2026-11-02T02:00:00.000Z"));
  mirror.transaction(() => new SyncState(mirror, "orders").saveFloor(Number.NEGATIVE_INFINITY));
  mirror.db.close();
  const { out } = await brandapi(["status", "orders", "--db", mirror.path], { clock });
  expect(out).toContain("from 2026-04-01, 1 gap");
  expect(out).toContain("! orders: not read: the start to 2026-03-31 23:59; run `brandapi sync orders --db ");
  expect(out).not.toContain("--full");
});

test("status --max-age lists the resources that have never been synced, and notes that they are checked only if their names are passed", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T02:00:00.000Z" });
  mirror.db.close();
  const { code, out } = await brandapi(["status", "--max-age", "26h", "--db", mirror.path], { clock });
  expect(code).toBe(0);
  expect(out).toContain(
    `Never read: ${others.join(", ")}\n\`--max-age\` checks these resources only if you pass their names.\n`,
  );
});

test("status with resource names checks only those resources", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T02:00:00.000Z" });
  writeRead(mirror, "gifts", [], { at: "2026-10-01T02:00:00.000Z" });
  mirror.db.close();
  const status = (words: string) =>
    brandapi(["status", ...words.split(" "), "--max-age", "26h", "--db", mirror.path], { clock });
  const fresh = await status("orders");
  expect([fresh.code, fresh.err]).toEqual([0, ""]);
  expect(fresh.out).not.toContain("gifts");
  expect((await status("gifts")).code).toBe(10);
  const both = await status("orders roster");
  expect([both.code, both.err]).toEqual([10, expect.stringContaining("Never synced: roster.")]);
  expect(both.err).toContain("`brandapi sync roster --db");
  expect((await status("oders")).err).toContain("did you mean `orders`?");
});

test("if this machine's clock was a year fast during the sync, status treats the data as stale and prints no negative age", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2027-11-02T02:00:00.000Z" });
  writeRead(mirror, "roster", [], { at: "2026-11-02T08:00:00.000Z" });
  mirror.db.close();
  const { out, code } = await brandapi(["status", "--max-age", "26h", "--db", mirror.path], { clock });
  expect(out).toMatch(/^orders .* 365d ahead !$/m);
  expect(out).toMatch(/^roster .* \dh ahead$/m);
  expect(out).not.toMatch(/\W-\d+[smhd]/);
  expect(code).toBe(10);
});

test("status shows the error from a resource's last sync until a sync of the resource succeeds", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-01T02:00:00.000Z" });
  const run = insertRun(mirror, "orders", "2026-11-02T02:00:00.000Z");
  updateRun(mirror, run, {
    finished_at: "2026-11-02T02:00:10.000Z",
    outcome: "failed",
    error: "The API is away.",
  });
  const text = await brandapi(["status", "--db", mirror.path], { clock });
  expect(text.out).toContain("! orders: the last run failed: The API is away.");
  const stale = await brandapi(["status", "--max-age", "26h", "--db", mirror.path], { clock });
  expect(stale.code).toBe(10);
  for (const [outcome, error, says] of [
    ["stopped", "killed", "was stopped"],
    ["incomplete", "A page is missing.", "was incomplete: A page is missing."],
  ] as const) {
    updateRun(mirror, run, { finished_at: "2026-11-02T02:00:10.000Z", outcome, error });
    expect((await brandapi(["status", "--db", mirror.path], { clock })).out).toContain(
      `! orders: the last run ${says}\n`,
    );
  }
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T03:00:00.000Z" });
  mirror.db.close();
  expect((await brandapi(["status", "--db", mirror.path], { clock })).out).not.toContain("failed");
});

test("status shows the findings of the last `verify` run until a later sync replaces them", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-01T02:00:00.000Z" });
  const end = (hour: number, outcome: "compared" | "incomplete", error: string) => {
    const at = `2026-11-02T0${hour}:00:00.000Z`;
    updateRun(mirror, insertRun(mirror, "orders", at), { finished_at: at, outcome, error });
  };
  const said = async () => (await brandapi(["status", "--db", mirror.path], { clock })).out;
  end(1, "compared", "orders has 15228 records that have not been read yet");
  expect(await said()).toContain("15228 records");
  end(2, "incomplete", "The list never settled.");
  expect(await said()).not.toContain("15228 records");
  expect(await said()).toContain("! orders: the last run was incomplete: The list never settled.");
  mirror.db.close();
});

test("the error from status --max-age groups inaccessible resources by reason, lists the stale resources, and suggests a command that syncs them", async () => {
  const mirror = await makeMirror();
  for (const name of ["orders", "roster", "content"])
    writeRead(mirror, name, [], { at: "2026-11-02T02:00:00.000Z" });
  writeRead(mirror, "gifts", [], { at: "2026-10-01T02:00:00.000Z" });
  const at = "2026-11-02T03:00:00.000Z";
  const deny = (name: string, error: string, hint: string) =>
    saveAccessDenial(mirror, name, { at, error, hint });
  deny("orders", "The plan is too small.", "check the plan");
  deny("roster", "The plan is too small.", "check the plan");
  deny("content", "The key lacks a scope.", "check the plan");
  const run = insertRun(mirror, "gifts", at);
  updateRun(mirror, run, { finished_at: at, outcome: "failed", error: "The API is away." });
  const status = async (...words: string[]) =>
    await brandapi(["status", ...words, "--db", mirror.path], { clock });
  const { code, out, err } = await status("--max-age", "26h", "--quiet");
  expect({ code, out }).toEqual({ code: 10, out: "" });
  const place = `--db ${mirror.path}`;
  expect(err).toBe(
    "warning: gifts: the last run failed: The API is away.\n" +
      "brandapi: Refused on 2026-11-02 03:00: orders, roster: The plan is too small. " +
      "Refused on 2026-11-02 03:00: content: The key lacks a scope. Older than 26h: gifts.\n" +
      `  hint: check the plan; run \`brandapi sync gifts ${place}\`\n`,
  );
  expect((await status()).out).toContain(
    "! orders: refused on 2026-11-02 03:00: The plan is too small.\n! roster: refused",
  );
  const denied = await status("orders", "--max-age", "26h");
  expect([denied.code, denied.err]).toEqual([
    10,
    expect.stringMatching(/^brandapi: Refused on .*: orders: [^:]*\n.*hint: check the plan\n$/),
  ]);
  expect((await status("gifts", "--max-age", "26h")).err).toMatch(/^brandapi: Older than 26h: gifts\./);
  expect(denied.out).toMatch(/^orders +0 +all +2026-11-02 02:00 +4h !$/m);
  mirror.db.close();
});

test("status --max-age reports a rejected key instead of the age of the data", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [], { at: "2026-11-02T02:00:00.000Z" });
  const at = "2026-11-02T03:00:00.000Z";
  const failed: FailedCommand = {
    command: "sync",
    at,
    error: "The key is wrong.",
    hint: "check it",
    isRefused: true,
  };
  const status = async (...words: string[]) =>
    await brandapi(["status", ...words, "--db", mirror.path], { clock });
  saveFailedCommand(mirror, failed);
  const refused = await status("--max-age", "26h", "--quiet");
  expect(refused).toMatchObject({
    code: 10,
    err: "brandapi: The last sync, 2026-11-02 03:00, failed: The key is wrong.\n  hint: check it\n",
  });
  saveFailedCommand(mirror, { ...failed, error: "No network.", isRefused: false });
  const fresh = await status("--max-age", "26h");
  expect([fresh.code, fresh.err]).toEqual([0, ""]);
  expect(fresh.out).toContain("! the last sync, 2026-11-02 03:00, failed: No network.\n");
  const stale = await status("--max-age", "1h", "--quiet");
  expect([stale.code, stale.err]).toEqual([
    10,
    expect.stringMatching(
      /^warning: the last sync, .* failed: No network\.\nbrandapi: Older than 60m: orders\.\n/,
    ),
  ]);
  mirror.db.close();
});

test("while a sync is reading orders, status does not suggest another sync for the unread dates", async () => {
  const mirror = await makeMirror();
  insertRun(mirror, "orders", "2026-11-02T05:00:00.000Z");
  recordCoverage(mirror, "orders", covered("2026-04-01", "2026-11-02T02:00:00.000Z"));
  mirror.transaction(() => new SyncState(mirror, "orders").saveFloor(Number.NEGATIVE_INFINITY));
  const lock = await lockMirror(mirror.path, {
    clock: { ...systemClock, now: () => now },
    signal: new AbortController().signal,
  });
  const { out } = await brandapi(["status", "--db", mirror.path], { clock });
  expect(out).toContain("! orders: not read: the start to 2026-03-31 23:59\n");
  lock.release();
  mirror.db.close();
});

test("status lists a run in progress before the resources' problems", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { order_date: "soon" }), anOrder(2, { total_amount: "12" })]);
  const status = async () => (await brandapi(["status", "--db", mirror.path], { clock })).out;
  const signal = new AbortController().signal;
  const lock = await lockMirror(mirror.path, { clock: { ...systemClock, now: () => now - 300_000 }, signal });
  const problems = (await status()).split("\n").filter((line) => line.startsWith("! "));
  expect(problems).toEqual([
    expect.stringMatching(/^! a run is in progress .*2026-11-02 05:55/),
    "! orders: 1 record without a readable date",
    expect.stringMatching(/^! orders: unexpected types: 1 number sent as text in orders\.total_amount /),
  ]);
  lock.release();
  expect(await status()).not.toContain("in progress");
  const at = "2026-11-02T05:00:00.000Z";
  const run = insertRun(mirror, "orders", at);
  updateRun(mirror, run, { finished_at: at, outcome: "compared", error: "1 order has a bad date" });
  expect(await status()).toContain("1 order has a bad date; run `brandapi verify orders --repair --db ");
  expect(await status()).not.toContain("the last run was");
  mirror.transaction(() => saveVerifyFinding(mirror, "unrepairable", "orders", run));
  expect(await status()).toContain("1 order has a bad date; the data must be corrected in the API");
  mirror.db.close();
});

test("status shows denied access together with the findings of an earlier `verify` run and the error from a later run", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-01T02:00:00.000Z" });
  const end = (hour: number, outcome: "compared" | "incomplete", error: string) => {
    const at = `2026-11-02T0${hour}:00:00.000Z`;
    updateRun(mirror, insertRun(mirror, "orders", at), { finished_at: at, outcome, error });
    return at;
  };
  end(1, "compared", "2 orders differ");
  const at = end(2, "incomplete", "The plan is too small.");
  saveAccessDenial(mirror, "orders", { at, error: "The plan is too small.", hint: null });
  const problems = async () =>
    (await brandapi(["status", "--db", mirror.path], { clock })).out.match(/^! .*$/gm);
  const found = `! orders: 2 orders differ; run \`brandapi verify orders --repair --db ${mirror.path}\``;
  const refused = "! orders: refused on 2026-11-02 02:00: The plan is too small.";
  expect(await problems()).toEqual([found, refused]);
  end(3, "incomplete", "The list never settled.");
  expect(await problems()).toEqual([
    found,
    refused,
    "! orders: the last run was incomplete: The list never settled.",
  ]);
  mirror.db.close();
});

test.each([
  [
    "today at 00:00, some of them last read a day ago",
    'the range "from the start", but not the age of the oldest rows',
    "2026-11-02",
    "2026-11-01T06:00:00.001Z",
    "from the start",
    undefined,
  ],
  [
    "yesterday at 12:00, some of them last read 2 days ago",
    'the range "from the start to 2026-11-01" and the age of the oldest rows',
    "2026-11-01T12:00:00.000Z",
    "2026-10-31T06:00:00.000Z",
    "from the start to 2026-11-01",
    "2 days",
  ],
  [
    "today at 05:00, some of them last read 2 days ago",
    'the range "from the start" and the age of the oldest rows',
    "2026-11-02T05:00:00.000Z",
    "2026-10-30T18:00:00.000Z",
    "from the start",
    "2 days",
  ],
])(
  "if the mirror contains all orders up to %s, status prints %s",
  async (_, _result, to, requestedAt, range, age) => {
    const mirror = await makeMirror();
    writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T02:00:00.000Z" });
    insertRun(mirror, "gifts", "2026-11-02T02:00:00.000Z");
    const start = {
      from: Number.NEGATIVE_INFINITY,
      to: Date.parse(to),
      requestedAt: Date.parse(requestedAt),
      runId: 1,
    };
    recordCoverage(mirror, "orders", start);
    mirror.db.close();
    const { out } = await brandapi(["status", "--db", mirror.path], { clock });
    expect(out).toMatch(new RegExp(`^orders +1 +${range}  +2026-11-02 02:00 `, "m"));
    expect(out).toMatch(/^gifts +0 +not yet +never$/m);
    expect(/: some rows were last read (.*) ago/.exec(out)?.[1]).toBe(age);
  },
);

test("status shows the last backup, the omitted fields and the number of forgotten hosts", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  const home = makeHome();
  const path = join(home, "copy.sqlite");
  writeFileSync(path, "");
  const status = async (omit: string) => {
    const profiles = { default: { db: mirror.path, keyExpiresAt: "2026-11-04T06:00:00.000Z", omit } };
    mkdirSync(join(home, ".config/brandapi"), { recursive: true });
    writeFileSync(join(home, ".config/brandapi/config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
    return await brandapi(["status"], { clock, home });
  };
  const plain = await status("");
  expect(plain.out).not.toMatch(/Last backup|Omitted|Forgotten/);
  expect(plain.err).toMatch(/^warning: The key expires at 2026-11-04T06:00:00.000Z \(2 days left\)/);
  mirror.transaction(() => {
    saveJsonInfo(mirror, "last_backup", { at: "2026-11-02T01:00:00.000Z", path });
    saveJsonInfo(mirror, "omit", ["title", "intro"]);
    saveJsonInfo(mirror, "forgotten", ["h1"]);
  });
  const kept = `\nLast backup: 2026-11-02 01:00, 5h ago, ${path}\n\nOmitted: title, intro\n\nForgotten: 1 host\n`;
  expect((await status("title,intro")).out).toContain(kept);
  expect((await status("title")).out).toContain("\nOmitted: title (from the next sync on)\n");
  mirror.db.close();
});

test("status reports a named resource that has never been read, even if other resources have been synced", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  const { code, out } = await brandapi(["status", "roster", "--db", mirror.path]);
  expect([code, out]).toEqual([0, expect.stringContaining("Never read: roster")]);
});

test("status reports that access was denied to a resource that has never been read", async () => {
  const brand = makeBrand();
  brand.setKey({ scopes: ["roster:read"] });
  await brand.run("sync orders");
  const error = "The key lacks the scope analytics:read, which /orders requires (403).";
  const { out } = await brand.run("status");
  expect(out).toContain("Nothing has been synced yet.");
  expect(out).toContain(`! orders: refused on 2026-11-21 12:00: ${error}\n`);
  const refusal = `brandapi: Refused on 2026-11-21 12:00: orders: ${error}`;
  for (const [words, reasons] of [
    ["", refusal],
    ["orders", `${refusal} Never synced: orders.`],
  ]) {
    const { code, err } = await brand.run(`status ${words} --max-age 26h --quiet`);
    expect([code, err.split("\n")[0]]).toEqual([10, reasons]);
    expect(err).toMatch(/\n {2}hint: create a key with that scope [^\n]*\n$/);
  }
  await brand.run("sync roster");
  expect((await brand.run("status --max-age 26h --quiet")).code).toBe(0);
  brand.pass(27 * hour);
  expect((await brand.run("status --max-age 26h --quiet")).err).toMatch(
    /^warning: orders: refused on [^\n]*\nbrandapi: Older than 26h: roster\./,
  );
  const [denial] = JSON.parse((await brand.run("status --json")).out).denied;
  expect(denial).toMatchObject({ resource: "orders", error });
});

test("status --max-age exits with code 10 if nothing has been synced yet, even without a mirror", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  expect((await brandapi(["status", "--db", mirror.path])).out).toContain("Nothing has been synced yet");
  expect((await brandapi(["status", "--max-age", "1d", "--db", mirror.path])).code).toBe(10);
  const nowhere = join(makeHome(), "none.sqlite");
  expect((await brandapi(["status", "--max-age", "1d", "--db", nowhere])).code).toBe(10);
  const plain = await brandapi(["status", "--db", nowhere]);
  expect(plain.code).toBe(3);
  expect(plain.err).toContain("No mirror yet");
});

test("in a narrow terminal, status omits its less important columns, starting with the last success", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)], { at: "2026-11-02T02:00:00.000Z" });
  writeRead(mirror, "orders", [], { at: "2026-11-02T03:00:00.000Z", remove: ["order-1"] });
  mirror.db.close();
  const titles = async (columns: number) =>
    /^resource.*$/m.exec(
      (await brandapi(["status", "--no-color", "--db", mirror.path], { clock, tty: true, columns })).out,
    )?.[0];
  expect(await titles(60)).toBe("resource  rows  removed  read completely  age");
  expect(await titles(40)).toBe("resource  rows  read completely  age");
  expect(await titles(30)).toBe("resource  rows  age");
});

test("status wraps its lines between words in a narrow terminal", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  const names = ["status", "roster", "gifts", "codes", "surveys", "content", "--db", mirror.path];
  const { out } = await brandapi(names, { tty: true, columns: 40 });
  expect(out).toContain("Never read: roster, content, gifts,\n  codes, surveys\n");
});

test("the error for a missing mirror suggests the demo's mirror, `login` or `sync`", async () => {
  const home = makeHome();
  expect((await brandapi(["tables"], { home })).err).toContain("run `brandapi login`, then `brandapi sync`");
  const env = { BRANDAPI_KEY: "test-key", BRANDAPI_BASE_URL: "https://platform.invalid/api/brand/v1" };
  expect((await brandapi(["tables"], { home, env })).err).toContain("hint: run `brandapi sync` first\n");
  mkdirSync(join(home, "brandapi-demo"));
  writeFileSync(join(home, "brandapi-demo", "demo.sqlite"), "");
  const afterDemo = await brandapi(["status"], { home });
  expect(afterDemo.code).toBe(3);
  expect(afterDemo.err).toContain("add `--db brandapi-demo/demo.sqlite`");
  const named = await brandapi(["status", "--db", join(home, "none.sqlite")], { home });
  expect(named.err).not.toContain("demo.sqlite");
  expect(named.err).toContain("check the path, or run");
  const stale = await brandapi(["status", "--max-age", "1d", "--db", join(home, "none.sqlite")], { home });
  expect([stale.code, stale.err]).toEqual([10, expect.stringContaining("check the path, or run")]);
  const variable = await brandapi(["status"], {
    home,
    env: { ...env, BRANDAPI_DB: join(home, "none.sqlite") },
  });
  expect(variable.err).toContain("check the path in BRANDAPI_DB, or run `brandapi sync` first");
});

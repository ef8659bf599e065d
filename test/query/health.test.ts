import { expect, test } from "vitest";
import { findOldestSuccess, loadHealth } from "../../src/query/health.js";
import { resources } from "../../src/resources/registry.js";
import {
  type CoveredRange,
  saveCoverage,
  saveFaultySlices,
  withCoveredRange,
} from "../../src/store/coverage.js";
import type { Mirror } from "../../src/store/database.js";
import { saveAccessDenial, saveFailedCommand, saveVerifyFinding } from "../../src/store/known-problems.js";
import { insertRun, type RunRow, updateRun } from "../../src/store/runs.js";
import { SyncState } from "../../src/store/sync-state.js";
import { saveTableCheck } from "../../src/store/table-check.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { at, hour } from "../support/records.js";

const now = Date.parse("2026-11-02T06:00:00.000Z");
const hoursAgo = (hours: number) => at(now - hours * hour);
const running = { started_at: hoursAgo(0), progress: null };
const denial = { at: hoursAgo(1), error: "402: The plan does not include this resource.", hint: null };

/** Returns the health of the given resources. */
function health(mirror: Mirror, names: string, options: { maxAge?: number; isLocked?: boolean } = {}) {
  const chosen = names.split(" ").flatMap((name) => resources.find((one) => one.name === name) ?? []);
  const maxAgeMs = options.maxAge === undefined ? null : options.maxAge * hour;
  return loadHealth(mirror, chosen, { now, maxAgeMs, runningCommand: options.isLocked ? running : null });
}

function healthOf(mirror: Mirror, name: string, options?: { maxAge?: number; isLocked?: boolean }) {
  return health(mirror, name, options).resources.find(({ resource }) => resource === name);
}

/** Adds a run that started the specified number of hours ago and read no records. */
function addRun(mirror: Mirror, name: string, hours: number, columns: Partial<RunRow>): number {
  const runId = insertRun(mirror, name, hoursAgo(hours));
  updateRun(mirror, runId, { finished_at: hoursAgo(hours), ...columns });
  return runId;
}

test("a resource is stale if its last successful sync is more than --max-age in the past or in the future", async () => {
  const mirror = await makeMirror();
  const lastReads = { orders: 26, roster: 26.1001, gifts: -26, codes: -26.1 };
  for (const [name, hours] of Object.entries(lastReads)) writeRead(mirror, name, [], { at: hoursAgo(hours) });
  const { max_age_seconds, resources, stale } = health(mirror, "orders roster gifts codes surveys", {
    maxAge: 26,
  });
  expect(max_age_seconds).toBe(26 * 3_600);
  expect(stale).toEqual(["roster", "codes"]);
  expect(resources.map(({ age_seconds }) => age_seconds)).toEqual([93_600, 93_960, 0, 0]);
  expect(health(mirror, "orders roster gifts codes surveys")).toMatchObject({
    max_age_seconds: null,
    stale: [],
    never_read: ["surveys"],
  });
});

test("a resource that has never been read successfully is stale and has no age", async () => {
  const mirror = await makeMirror();
  addRun(mirror, "orders", 1, { outcome: "failed", error: "The API is away." });
  expect(healthOf(mirror, "orders", { maxAge: 26 })).toMatchObject({
    stale: true,
    last_success_at: null,
    age_seconds: null,
    last_error: "The API is away.",
  });
  expect(findOldestSuccess(mirror)).toBeNull();
});

test("an unverified sync counts as successful for orders, but not for surveys, because survey results may have been skipped", async () => {
  const mirror = await makeMirror();
  for (const name of ["orders", "surveys"]) {
    writeRead(mirror, name, [], { at: hoursAgo(9) });
    addRun(mirror, name, 1, { outcome: "done", verified: false });
  }
  expect(healthOf(mirror, "orders")?.last_success_at).toBe(hoursAgo(1));
  expect(healthOf(mirror, "surveys")?.last_success_at).toBe(hoursAgo(9));
  writeRead(mirror, "roster", [], { at: hoursAgo(3) });
  expect(findOldestSuccess(mirror)).toBe(hoursAgo(9));
});

test("the status of surveys includes a row for survey results", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "surveys", [{ id: "s" }]);
  writeRead(mirror, "survey-results", [{ id: "r" }, { id: "q" }], { parameters: { survey_id: "s" } });
  const { resources } = health(mirror, "surveys");
  expect(resources.map(({ resource, rows }) => [resource, rows])).toEqual([
    ["surveys", 1],
    ["survey-results", 2],
  ]);
});

test("a resource to which the API denies access is reported as stale, or as never read if access was denied from the start", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [], { at: hoursAgo(9) });
  for (const name of ["orders", "roster"]) {
    addRun(mirror, name, 1, { outcome: "skipped" });
    saveAccessDenial(mirror, name, denial);
  }
  addRun(mirror, "gifts", 1, { outcome: "skipped" });
  expect(health(mirror, "orders roster gifts", { maxAge: 26 })).toMatchObject({
    resources: [{ resource: "orders", access_denial: denial }],
    stale: ["orders"],
    never_read: ["roster", "gifts"],
  });
});

test.each([
  ["all resources are stale if the API rejected the key", true],
  ["resources stay up to date if the API did not reject the key", false],
])("after a failed command, %s", async (_, isRefused) => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [], { at: hoursAgo(1) });
  const failed = { command: "sync", at: hoursAgo(0), error: "failed", hint: null, isRefused };
  saveFailedCommand(mirror, failed);
  const found = health(mirror, "orders", { maxAge: 26 });
  expect(found).toMatchObject({ failed_command: failed, stale: isRefused ? ["orders"] : [] });
});

test("a run without an end time is reported as running if it is the newest run and the mirror is locked, and as killed otherwise", async () => {
  const mirror = await makeMirror();
  addRun(mirror, "orders", 1, { outcome: "done" });
  insertRun(mirror, "orders", hoursAgo(0.5));
  const killed = { running: null, last_run: { outcome: "stopped", error: "killed" }, last_error: "killed" };
  expect(health(mirror, "orders", { isLocked: true })).toMatchObject({
    running_command: running,
    resources: [{ running: { started_at: hoursAgo(0.5) }, last_run: { outcome: "running", error: null } }],
  });
  expect(healthOf(mirror, "orders")).toMatchObject(killed);
  insertRun(mirror, "roster", hoursAgo(0.1));
  expect(healthOf(mirror, "orders", { isLocked: true })).toMatchObject(killed);
});

test("status reports unread dates as a gap, but not dates with faulty records or the boundary between adjacent ranges", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2, { order_date: "soon" })], { at: hoursAgo(1) });
  writeRead(mirror, "orders", [], { at: hoursAgo(1), remove: ["order-1"] });
  const range = (from: string, to: string, hours: number, runId = hours) => ({
    ...{ from: Date.parse(from), to: Date.parse(to) - 1, requestedAt: now - hours * hour, runId },
  });
  const ranges = [
    { ...range("2026-01-01", "2026-02-01", 3), from: Number.NEGATIVE_INFINITY },
    range("2026-03-01", "2026-04-01", 9),
    range("2026-04-01", "2026-05-01", 4),
    range("2026-06-01", "2026-07-01", 5),
  ];
  const start = { coverage: [], faultySlices: [] };
  const { coverage } = ranges.reduce<Parameters<typeof withCoveredRange>[0]>(withCoveredRange, start);
  mirror.transaction(() => {
    saveCoverage(mirror, "orders", coverage);
    const faulty = { ...range("2026-05-01", "2026-06-01", 1), recordIds: [2], fault: "an unreadable date" };
    saveFaultySlices(mirror, "orders", [faulty]);
  });
  expect(healthOf(mirror, "orders")).toMatchObject({
    rows: 1,
    removed: 1,
    undated: 1,
    covered: [
      { from: null, to: "2026-01-31T23:59:59.999Z" },
      { from: "2026-03-01T00:00:00.000Z", to: "2026-04-30T23:59:59.999Z" },
      { from: "2026-06-01T00:00:00.000Z", to: "2026-06-30T23:59:59.999Z" },
    ],
    gaps: [{ from: "2026-02-01T00:00:00.000Z", to: "2026-02-28T23:59:59.999Z" }],
    oldest_read_at: hoursAgo(9),
  });
});

test("a resource is stale if the last successful sync left a gap, but not if a later sync is unfinished", async () => {
  const mirror = await makeMirror();
  const range = (from: number, to: number) => ({ from, to, requestedAt: to, runId: 1 });
  const lastRead = now - 3 * hour;
  const cover = (...ranges: CoveredRange[]) =>
    mirror.transaction(() => saveCoverage(mirror, "orders", ranges));
  writeRead(mirror, "orders", [], { at: at(lastRead) });
  const isStale = () => healthOf(mirror, "orders", { maxAge: 26 })?.stale;

  cover(range(now - 90 * hour, lastRead));
  expect([isStale(), healthOf(mirror, "orders")?.gaps]).toEqual([false, []]);
  cover(range(now - 90 * hour, lastRead), range(now - hour, now));
  expect([isStale(), healthOf(mirror, "orders")?.gaps.length]).toEqual([false, 1]);
  cover(range(now - 90 * hour, now - 60 * hour), range(now - 50 * hour, lastRead));
  expect([isStale(), healthOf(mirror, "orders")?.stale]).toEqual([true, false]);

  cover(range(now - 90 * hour, lastRead));
  const floor = now - 99 * hour;
  mirror.transaction(() => new SyncState(mirror, "orders").saveFloor(floor));
  const gap = { from: at(floor), to: at(now - 90 * hour - 1) };
  expect([isStale(), healthOf(mirror, "orders")?.gaps]).toEqual([true, [gap]]);
});

test("after a stopped sync, status shows the roster as read, but not the surveys, because their results may not have been read", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "h" } }], { whole: true });
  expect(healthOf(mirror, "roster")).toMatchObject({ rows: 1, undated: 0, oldest_read_at: null });
  writeRead(mirror, "surveys", [{ id: "s" }], { whole: true });
  expect(healthOf(mirror, "surveys")?.covered).toHaveLength(1);
  mirror.db.exec("UPDATE sync_runs SET verified = 0, outcome = 'stopped'");
  expect(healthOf(mirror, "surveys")?.covered).toEqual([]);
  expect(healthOf(mirror, "roster")).toMatchObject({ last_success_at: null, covered: [{ from: null }] });
});

test("status describes a problem that `verify` found as repairable unless only the API can correct the problem", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: hoursAgo(9) });
  expect(healthOf(mirror, "orders")?.verify_problem).toBeNull();
  const error = "1 record has an unreadable date";
  const runId = addRun(mirror, "orders", 2, { outcome: "compared", error });
  expect(healthOf(mirror, "orders")?.verify_problem).toEqual({ at: hoursAgo(2), error, repairable: true });
  mirror.transaction(() => saveVerifyFinding(mirror, "unrepairable", "orders", runId));
  expect(healthOf(mirror, "orders")?.verify_problem).toEqual({ at: hoursAgo(2), error, repairable: false });

  const differences = [{ table: "orders", missing: 1, changed: 0, extra: 0 }];
  const tables = "tables differ from the records (orders: 1 row missing)";
  saveTableCheck(mirror, "orders", differences, hoursAgo(1));
  const both = { at: hoursAgo(2), error: `${tables}; ${error}`, repairable: true };
  expect(healthOf(mirror, "orders")?.verify_problem).toEqual(both);
  updateRun(mirror, runId, { error: `${error}; ${tables}` });
  expect(healthOf(mirror, "orders")?.verify_problem).toEqual({ ...both, error: `${error}; ${tables}` });
  addRun(mirror, "orders", 0.5, { outcome: "done", verified: true });
  expect(healthOf(mirror, "orders")?.verify_problem).toEqual({
    at: hoursAgo(1),
    error: tables,
    repairable: true,
  });
});

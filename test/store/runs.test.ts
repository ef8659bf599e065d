import { expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { orders } from "../../src/resources/orders.js";
import { surveyResults } from "../../src/resources/undocumented.js";
import type { Mirror } from "../../src/store/database.js";
import {
  describeRunningCommand,
  findRunningCommand,
  lockMirror,
  saveProgress,
} from "../../src/store/mirror-lock.js";
import {
  addReadRows,
  addWrittenRows,
  countInterruptedRows,
  createRunRow,
  findLastFinishedSync,
  findLastRun,
  findLastUpToDateSync,
  findLastVerifiedRun,
  findLastVerifiedUpToDateSync,
  findUnresolvedVerify,
  hasBeenRead,
  hasDoneSync,
  insertRun,
  loadFinishedUntil,
  loadFirstReadAt,
  loadFirstReadEnd,
  loadNewestRunId,
  loadRun,
  type RunOutcome,
  type RunRow,
  updateRun,
} from "../../src/store/runs.js";
import { makeMirror } from "../support/mirror.js";

const at = (hour: number) => `2026-11-20T0${hour}:00:00.000Z`;

function run(
  mirror: Mirror,
  hour: number,
  fields: Partial<Omit<RunRow, "run_id" | "resource" | "started_at">> & { outcome: RunOutcome },
  resource = "orders",
): number {
  const runId = insertRun(mirror, resource, at(hour));
  updateRun(mirror, runId, { finished_at: at(hour), ...fields });
  return runId;
}

test("the next run of a resource marks a killed run as stopped, and keeps the killed run's row count", async () => {
  const mirror = await makeMirror();
  const done = run(mirror, 1, { outcome: "done" });
  updateRun(mirror, insertRun(mirror, "orders", at(1)), { rows_read: 100 });
  insertRun(mirror, "roster", at(2));
  expect(findLastRun(mirror, "orders")?.outcome).toBe("running");
  const killed = findLastRun(mirror, "orders")?.run_id;
  insertRun(mirror, "orders", at(3));
  const row = mirror.db.prepare("SELECT * FROM sync_runs WHERE run_id = ?").get(killed);
  expect(row).toMatchObject({ outcome: "stopped", error: "killed", rows_read: 100 });
  expect(loadRun(mirror, done)).toMatchObject({ outcome: "done", error: null });
});

test("a run's row counts are added up over its responses, but its request counts are totals, which replace the previous ones", async () => {
  const mirror = await makeMirror();
  expect(loadNewestRunId(mirror)).toBe(0);
  const [runId, other] = [insertRun(mirror, "orders", at(1)), insertRun(mirror, "roster", at(1))];
  expect(loadRun(mirror, runId)).toEqual({ ...createRunRow("orders", at(1)), run_id: runId });
  mirror.transaction(() => {
    addReadRows(mirror, runId, { rows: 2, requests: 3, retries: 1 });
    addReadRows(mirror, runId, { rows: 5, requests: 7, retries: 2 });
    addWrittenRows(mirror, runId, { added: 1, changed: 2, removed: 3 });
    addWrittenRows(mirror, runId, { removed: 4 });
    addWrittenRows(mirror, runId, { added: 10, changed: 20 });
    updateRun(mirror, runId, { api_total: 9 });
  });
  const written = { rows_new: 11, rows_changed: 22, rows_removed: 7 };
  expect(loadRun(mirror, runId)).toMatchObject({ rows_read: 7, requests: 7, retries: 2, ...written });
  expect(loadRun(mirror, other)).toEqual({ ...createRunRow("roster", at(1)), run_id: other });
  expect(loadNewestRunId(mirror)).toBe(other);
  expect(() => loadRun(mirror, 99)).toThrow("no run 99");
});

test("findLastRun returns the latest sync, or a later verify run that found differences", async () => {
  const mirror = await makeMirror();
  const failed = run(mirror, 1, { outcome: "failed", error: "no network" });
  run(mirror, 2, { outcome: "compared", verified: true });
  expect(findLastRun(mirror, "orders")?.run_id).toBe(failed);
  const differing = run(mirror, 3, { outcome: "compared", error: "orders differ" });
  expect(findLastRun(mirror, "orders")?.run_id).toBe(differing);
});

test("findLastRun ignores verify runs that found no differences, unless there are no other runs", async () => {
  const mirror = await makeMirror();
  expect(findLastRun(mirror, "orders")).toBeNull();
  const agreeing = run(mirror, 1, { outcome: "compared", verified: true });
  expect(findLastRun(mirror, "orders")?.run_id).toBe(agreeing);
});

test.each<[string, "counts" | "does not count", Parameters<typeof run>[2]]>([
  ["a sync of a resource without dates", "counts", { outcome: "done" }],
  ["a sync up to its start time", "counts", { outcome: "done", until: at(4) }],
  [
    "a sync up to the second before it started",
    "counts",
    { outcome: "done", until: "2026-11-20T03:59:59.000Z" },
  ],
  ["a sync up to an earlier time", "does not count", { outcome: "done", until: "2026-11-20T03:59:58.999Z" }],
  ["an incomplete sync", "does not count", { outcome: "incomplete", until: at(4) }],
  ["a verify run", "does not count", { outcome: "compared", until: at(4) }],
])("%s %s as an up-to-date sync", async (_, expected, fields) => {
  const mirror = await makeMirror();
  run(mirror, 4, fields);
  expect(findLastUpToDateSync(mirror, "orders") !== null).toBe(expected === "counts");
});

test("findLastFinishedSync returns the last sync that completed all reads, and countInterruptedRows counts the rows read since that sync", async () => {
  const mirror = await makeMirror();
  run(mirror, 1, { outcome: "stopped", until: at(9), rows_read: 4 }, "roster");
  run(mirror, 1, { outcome: "done", until: at(3), rows_read: 10 });
  const incomplete = run(mirror, 2, { outcome: "incomplete", differing: 1, until: at(2), rows_read: 20 });
  run(mirror, 5, { outcome: "incomplete", error: "no access", until: at(5), rows_read: 5 });
  run(mirror, 6, { outcome: "stopped", until: at(6), rows_read: 7 });
  expect(findLastFinishedSync(mirror, "orders")?.run_id).toBe(incomplete);
  expect([loadFinishedUntil(mirror, "orders"), loadFinishedUntil(mirror, "roster")]).toEqual([
    Date.parse(at(3)),
    null,
  ]);
  expect(["orders", "roster", "gifts"].map((name) => countInterruptedRows(mirror, name))).toEqual([12, 4, 0]);
  run(mirror, 7, { outcome: "done", until: at(7), rows_read: 1 });
  expect(loadFinishedUntil(mirror, "orders")).toBe(Date.parse(at(7)));
});

test("loadFirstReadAt ignores runs that read no records, and loadFirstReadEnd uses a killed run's start as its end", async () => {
  const mirror = await makeMirror();
  expect([loadFirstReadAt(mirror), loadFirstReadEnd(mirror, null)]).toEqual([null, null]);
  run(mirror, 1, { outcome: "done", rows_read: 0 });
  run(mirror, 3, { outcome: "done", rows_read: 3, finished_at: at(5) });
  run(mirror, 4, { outcome: "stopped", rows_read: 3, finished_at: null }, "roster");
  expect(loadFirstReadAt(mirror)).toBe(at(3));
  expect([null, "orders", "gifts"].map((name) => loadFirstReadEnd(mirror, name))).toEqual([
    at(4),
    at(5),
    null,
  ]);
});

const insertRunSql = (resource: string, outcome: string) =>
  `INSERT INTO sync_runs (resource, started_at, outcome) VALUES ('${resource}', '', '${outcome}')`;
const insertCoverage = (resource: string) => `INSERT INTO coverage VALUES ('${resource}', NULL, '', '', 1)`;

test.each([
  [
    "orders with a stored record",
    "partially read",
    orders,
    "INSERT INTO records (resource, key, json, since_at) VALUES ('orders', 'o', '{}', '')",
  ],
  ["orders with dates that were read", "partially read", orders, insertCoverage("orders")],
  ["orders with a completed sync", "fully synced", orders, insertRunSql("orders", "done")],
  ["orders with only a failed sync", "unread", orders, insertRunSql("orders", "failed")],
  ["orders in a mirror with only a sync of the roster", "unread", orders, insertRunSql("roster", "done")],
  [
    "survey results in a mirror whose surveys were read for some dates",
    "partially read",
    surveyResults,
    insertCoverage("surveys"),
  ],
  [
    "survey results in a mirror with a completed sync of surveys",
    "fully synced",
    surveyResults,
    insertRunSql("surveys", "done"),
  ],
])("%s are considered %s", async (_, expected, resource, sql) => {
  const mirror = await makeMirror();
  mirror.db.exec(sql);
  expect(hasBeenRead(mirror, resource)).toBe(expected !== "unread");
  expect(hasDoneSync(mirror, resource)).toBe(expected === "fully synced");
});

test("a difference that verify found stays unresolved until a later run verifies all dates", async () => {
  const mirror = await makeMirror();
  const differing = run(mirror, 1, { outcome: "compared", error: "orders differ" });
  run(mirror, 2, { outcome: "done", verified: false });
  run(mirror, 2, { outcome: "compared", verified: false });
  run(mirror, 3, { outcome: "done", verified: true, until: at(1) });
  expect(findUnresolvedVerify(mirror, "orders")?.run_id).toBe(differing);
  expect(findLastVerifiedUpToDateSync(mirror, "orders")).toBeNull();
  const partial = findLastVerifiedRun(mirror, "orders")?.run_id;
  const verified = run(mirror, 4, { outcome: "done", verified: true, until: at(4) });
  expect(partial).toBe(verified - 1);
  expect(findUnresolvedVerify(mirror, "orders")).toBeNull();
  expect(findLastVerifiedUpToDateSync(mirror, "orders")?.run_id).toBe(verified);
  const agreeing = run(mirror, 5, { outcome: "compared", verified: true });
  expect(findLastVerifiedRun(mirror, "orders")?.run_id).toBe(agreeing);
  expect(findLastVerifiedUpToDateSync(mirror, "orders")?.run_id).toBe(verified);
});

test("another process can read the current run's progress, but not an earlier run's", async () => {
  const mirror = await makeMirror();
  const now = Date.parse(at(5));
  const progress = {
    command: "sync",
    resource: "orders",
    position: 2,
    of: 3,
    requests: 4,
    requests_left: 5,
    at: at(4),
  };
  saveProgress(mirror, progress);
  expect(await findRunningCommand(mirror.path)).toBeNull();
  const signal = new AbortController().signal;
  const lock = await lockMirror(mirror.path, {
    wait: false,
    clock: { ...systemClock, now: () => now },
    signal,
  });
  expect(await findRunningCommand(mirror.path)).toEqual({ started_at: at(5), progress: null });
  saveProgress(mirror, { ...progress, at: at(5) });
  const current = await findRunningCommand(mirror.path);
  expect(current && describeRunningCommand(current, now + 120_000)).toMatch(
    /^since 2026-11-20 05:00.*2m.*orders, 2 of 3, 4 requests, about 5/,
  );
  lock.release();
  expect(await findRunningCommand(mirror.path)).toBeNull();
});

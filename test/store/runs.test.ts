import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import type { Mirror } from "../../src/store/database.js";
import { findCurrentRun, lockMirror } from "../../src/store/lock.js";
import { currentRunText, noteFailedRun, noteProgress, readFailedRun } from "../../src/store/run-progress.js";
import {
  beginRun,
  blankRun,
  lastFinding,
  lastGood,
  lastProven,
  lastRun,
  type Outcome,
  type Run,
  recordRun,
  saveRun,
} from "../../src/store/runs.js";
import { runLine } from "../../src/sync/run-line.js";
import { mirrorForTest } from "./record-mirror.js";

const at = (hour: number) => `2026-11-20T0${hour}:00:00.000Z`;

function run(mirror: Mirror, hour: number, fields: Partial<Run> & { outcome: Outcome }): number {
  const row = { ...beginRun(mirror, "orders", at(hour)), finished_at: at(hour), ...fields };
  saveRun(mirror, row);
  return row.run_id;
}

describe("a run is recorded however it ends", () => {
  const clock = { now: () => Date.parse(at(3)) };

  test("with what it counted, and only its own requests", async () => {
    const mirror = await mirrorForTest();
    const stats = { requests: 7, retries: 1 };
    const { run, error } = await recordRun({ mirror, clock, api: { stats }, keys: new Set() }, "orders", {
      async work(row) {
        stats.requests += 3;
        Object.assign(row, { rows_read: 5, rows_new: 2, verified: true, api_total: 5, mirror_total: 5 });
        return "done";
      },
      outcomeOf: () => "failed",
    });
    expect(error).toBeNull();
    expect(run).toMatchObject({ requests: 3, retries: 0, rows_read: 5, outcome: "done", finished_at: at(3) });
    expect(lastRun(mirror, "orders")).toEqual(run);
  });

  test("with what ended it, but never with a key", async () => {
    const mirror = await mirrorForTest();
    const thrown = new Error(`refused for grk_${"a1B2".repeat(8)}`);
    const api = { stats: { requests: 0, retries: 0 } };
    const { error, run } = await recordRun({ mirror, clock, api, keys: new Set() }, "orders", {
      work: () => Promise.reject(thrown),
      outcomeOf: () => "failed",
    });
    expect(error).toBe(thrown);
    expect(run.error).toMatch(/^refused for /);
    expect(lastRun(mirror, "orders")).toEqual(run);
  });

  test("one that was killed is marked when the next begins, with what it had saved", async () => {
    const mirror = await mirrorForTest();
    saveRun(mirror, { ...beginRun(mirror, "orders", at(1)), rows_read: 100 });
    beginRun(mirror, "roster", at(2));
    expect(lastRun(mirror, "orders")?.outcome).toBe("running");
    const killed = lastRun(mirror, "orders")?.run_id;
    beginRun(mirror, "orders", at(3));
    const row = mirror.db.prepare("SELECT * FROM sync_runs WHERE run_id = ?").get(killed);
    expect(row).toMatchObject({ outcome: "stopped", error: "killed", rows_read: 100 });
  });
});

describe("of the runs before", () => {
  test("a `verify` that found nothing does not hide how the last sync ended; one that found something does", async () => {
    const mirror = await mirrorForTest();
    const failed = run(mirror, 1, { outcome: "failed", error: "no network" });
    run(mirror, 2, { outcome: "verified", verified: true });
    expect(lastRun(mirror, "orders")?.run_id).toBe(failed);
    const finding = run(mirror, 3, { outcome: "verified", error: "orders differ" });
    expect(lastRun(mirror, "orders")?.run_id).toBe(finding);
  });

  test("a finding stands until a later run proves otherwise, up to its own time", async () => {
    const mirror = await mirrorForTest();
    const finding = run(mirror, 1, { outcome: "verified", error: "orders differ" });
    run(mirror, 2, { outcome: "done", verified: false });
    run(mirror, 3, { outcome: "done", verified: true, until: at(1) });
    expect(lastFinding(mirror, "orders")?.run_id).toBe(finding);
    expect(lastGood(mirror, "orders")).toBeNull();
    const partial = lastProven(mirror, "orders")?.run_id;
    const good = run(mirror, 4, { outcome: "done", verified: true, until: at(4) });
    expect(partial).toBe(good - 1);
    expect(lastFinding(mirror, "orders")).toBeNull();
    expect(lastGood(mirror, "orders")?.run_id).toBe(good);
  });
});

test.each([
  [{ outcome: "done", verified: true }, null, "verified"],
  [
    { outcome: "done", verified: true, covered_from: "2026-10-01T00:00:00.000Z" },
    "2026-10-01T00:00:00.000Z",
    "verified from 2026-10-01 (older orders were never asked for; `--full` reads them)",
  ],
  [
    { outcome: "done", verified: true, covered_from: "2026-10-01T00:00:00.000Z" },
    null,
    "verified from 2026-10-01 (older orders were never read)",
  ],
  [{ outcome: "done", verified: false }, null, "not verified"],
  [{ outcome: "failed", error: "no network" }, null, "failed: no network"],
  [{ outcome: "stopped", error: "Stopped." }, null, "stopped"],
] as const)("the line of a run: %o", (fields, floor, end) => {
  const run = {
    ...blankRun("orders", at(1)),
    finished_at: "2026-11-20T01:02:00.000Z",
    requests: 1,
    ...fields,
  };
  expect(runLine(run, { floor, comparesTotals: true })).toBe(
    `0 read, 0 new, 0 changed, 0 removed, 1 request in 2m, ${end}`,
  );
});

test.each([
  [null, "verified by counts"],
  ["2026-10-01T00:00:00.000Z", "verified by counts from 2026-10-01 (older orders were never read)"],
])("the line of a run that compared no daily totals, from %s", (covered_from, end) => {
  const done = { outcome: "done", verified: true, finished_at: at(1), covered_from } as const;
  const line = runLine({ ...blankRun("orders", at(1)), ...done }, { floor: null, comparesTotals: false });
  expect(line).toMatch(new RegExp(`, ${end.replace(/[()]/g, "\\$&")}$`));
});

test("the line of surveys says that results are among what was read", () => {
  const run = { ...blankRun("surveys", at(1)), finished_at: at(1), rows_read: 18, outcome: "done" as const };
  expect(runLine(run, { floor: null, comparesTotals: true })).toMatch(/^18 surveys and results read, 0 new/);
});

test("another process sees a run, how far it is, and nothing that an earlier run noted", async () => {
  const mirror = await mirrorForTest();
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
  noteProgress(mirror, progress);
  expect(await findCurrentRun(mirror.path)).toBeNull();
  const signal = new AbortController().signal;
  const lock = await lockMirror(mirror.path, {
    wait: false,
    clock: { ...systemClock, now: () => now },
    signal,
  });
  expect(await findCurrentRun(mirror.path)).toEqual({ started_at: at(5), progress: null });
  noteProgress(mirror, { ...progress, at: at(5) });
  const seen = await findCurrentRun(mirror.path);
  expect(seen && currentRunText(seen, now + 120_000)).toBe(
    "since 2026-11-20 05:00 UTC, 2m ago (sync of orders, 2 of 3, 4 requests, about 5 to go)",
  );
  lock.release();
  expect(await findCurrentRun(mirror.path)).toBeNull();
});

test("a run that failed before it read anything is noted until one gets further", async () => {
  const mirror = await mirrorForTest();
  const failed = { command: "sync", at: at(1), error: "no network", hint: null, isRefused: false };
  noteFailedRun(mirror, failed);
  expect(readFailedRun(mirror)).toEqual(failed);
  noteFailedRun(mirror, null);
  expect(readFailedRun(mirror)).toBeNull();
});

import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import type { Mirror } from "../../src/store/database.js";
import { findCurrentRun, lockMirror } from "../../src/store/lock.js";
import { currentRunText, noteFailedRun, noteProgress, readFailedRun } from "../../src/store/run-progress.js";
import {
  beginRun,
  lastDifferingVerify,
  lastRun,
  lastVerifiedRun,
  lastVerifiedSync,
  type Outcome,
  type Run,
  updateRun,
} from "../../src/store/runs.js";
import { mirrorForTest } from "./record-mirror.js";

const at = (hour: number) => `2026-11-20T0${hour}:00:00.000Z`;

function run(
  mirror: Mirror,
  hour: number,
  fields: Partial<Omit<Run, "run_id" | "resource" | "started_at">> & { outcome: Outcome },
): number {
  const runId = beginRun(mirror, "orders", at(hour));
  updateRun(mirror, runId, { finished_at: at(hour), ...fields });
  return runId;
}

describe("a run is recorded however it ends", () => {
  test("one that was killed is marked when the next begins, with what it had saved", async () => {
    const mirror = await mirrorForTest();
    updateRun(mirror, beginRun(mirror, "orders", at(1)), { rows_read: 100 });
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
    expect(lastDifferingVerify(mirror, "orders")?.run_id).toBe(finding);
    expect(lastVerifiedSync(mirror, "orders")).toBeNull();
    const partial = lastVerifiedRun(mirror, "orders")?.run_id;
    const good = run(mirror, 4, { outcome: "done", verified: true, until: at(4) });
    expect(partial).toBe(good - 1);
    expect(lastDifferingVerify(mirror, "orders")).toBeNull();
    expect(lastVerifiedSync(mirror, "orders")?.run_id).toBe(good);
  });
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

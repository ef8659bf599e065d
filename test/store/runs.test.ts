import { expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import type { Mirror } from "../../src/store/database.js";
import {
  describeRunningCommand,
  findRunningCommand,
  lockMirror,
  writeProgress,
} from "../../src/store/mirror-lock.js";
import {
  beginRun,
  findLastRun,
  findLastVerifiedRun,
  findLastVerifiedSync,
  findUnresolvedVerify,
  type RunOutcome,
  type RunRow,
  readFailedCommand,
  updateRun,
  writeFailedCommand,
} from "../../src/store/runs.js";
import { makeMirror } from "../support/mirror.js";

const at = (hour: number) => `2026-11-20T0${hour}:00:00.000Z`;

function run(
  mirror: Mirror,
  hour: number,
  fields: Partial<Omit<RunRow, "run_id" | "resource" | "started_at">> & { outcome: RunOutcome },
): number {
  const runId = beginRun(mirror, "orders", at(hour));
  updateRun(mirror, runId, { finished_at: at(hour), ...fields });
  return runId;
}

test("the next run marks a killed run as stopped, and keeps its row count", async () => {
  const mirror = await makeMirror();
  updateRun(mirror, beginRun(mirror, "orders", at(1)), { rows_read: 100 });
  beginRun(mirror, "roster", at(2));
  expect(findLastRun(mirror, "orders")?.outcome).toBe("running");
  const killed = findLastRun(mirror, "orders")?.run_id;
  beginRun(mirror, "orders", at(3));
  const row = mirror.db.prepare("SELECT * FROM sync_runs WHERE run_id = ?").get(killed);
  expect(row).toMatchObject({ outcome: "stopped", error: "killed", rows_read: 100 });
});

test("findLastRun returns the latest sync, or a later verify that found a difference", async () => {
  const mirror = await makeMirror();
  const failed = run(mirror, 1, { outcome: "failed", error: "no network" });
  run(mirror, 2, { outcome: "verified", verified: true });
  expect(findLastRun(mirror, "orders")?.run_id).toBe(failed);
  const differing = run(mirror, 3, { outcome: "verified", error: "orders differ" });
  expect(findLastRun(mirror, "orders")?.run_id).toBe(differing);
});

test("a difference that verify found stays unresolved until a later run verifies all dates", async () => {
  const mirror = await makeMirror();
  const differing = run(mirror, 1, { outcome: "verified", error: "orders differ" });
  run(mirror, 2, { outcome: "done", verified: false });
  run(mirror, 3, { outcome: "done", verified: true, until: at(1) });
  expect(findUnresolvedVerify(mirror, "orders")?.run_id).toBe(differing);
  expect(findLastVerifiedSync(mirror, "orders")).toBeNull();
  const partial = findLastVerifiedRun(mirror, "orders")?.run_id;
  const verified = run(mirror, 4, { outcome: "done", verified: true, until: at(4) });
  expect(partial).toBe(verified - 1);
  expect(findUnresolvedVerify(mirror, "orders")).toBeNull();
  expect(findLastVerifiedSync(mirror, "orders")?.run_id).toBe(verified);
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
  writeProgress(mirror, progress);
  expect(await findRunningCommand(mirror.path)).toBeNull();
  const signal = new AbortController().signal;
  const lock = await lockMirror(mirror.path, {
    wait: false,
    clock: { ...systemClock, now: () => now },
    signal,
  });
  expect(await findRunningCommand(mirror.path)).toEqual({ started_at: at(5), progress: null });
  writeProgress(mirror, { ...progress, at: at(5) });
  const current = await findRunningCommand(mirror.path);
  expect(current && describeRunningCommand(current, now + 120_000)).toMatch(
    /^since 2026-11-20 05:00.*2m.*orders, 2 of 3, 4 requests, about 5/,
  );
  lock.release();
  expect(await findRunningCommand(mirror.path)).toBeNull();
});

test("a failed command that read nothing is recorded until the next command starts", async () => {
  const mirror = await makeMirror();
  const failed = { command: "sync", at: at(1), error: "no network", hint: null, isRefused: false };
  writeFailedCommand(mirror, failed);
  expect(readFailedCommand(mirror)).toEqual(failed);
  writeFailedCommand(mirror, null);
  expect(readFailedCommand(mirror)).toBeNull();
});

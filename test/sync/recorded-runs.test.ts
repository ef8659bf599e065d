import { describe, expect, test } from "vitest";
import type { ApiClient } from "../../src/api/client.js";
import { systemClock } from "../../src/deps.js";
import { type FailureScope, Forbidden } from "../../src/errors.js";
import { orders } from "../../src/resources/orders.js";
import type { Mirror } from "../../src/store/database.js";
import { loadAccessDenial } from "../../src/store/known-problems.js";
import { createRunRow, findLastRun, loadRun } from "../../src/store/runs.js";
import { formatRunLine } from "../../src/sync/run-line.js";
import { defaultOptions, endRun, type SyncSession, startRun } from "../../src/sync/session.js";
import { silentReporter } from "../../src/util/reporter.js";
import { startOfSecond } from "../../src/util/time-ranges.js";
import { makeMirror } from "../support/mirror.js";

const at = (hour: number) => `2026-11-20T0${hour}:00:00.000Z`;

describe("recording the result of a run in `sync_runs`", () => {
  const clock = { ...systemClock, now: () => Date.parse(at(3)) };
  const stats = { requests: 7, retries: 1 };
  const api = { stats } as ApiClient;
  const task = silentReporter.begin({ name: "orders" });

  function sessionOf(mirror: Mirror, ...apiKeys: string[]): SyncSession {
    const reporter = silentReporter;
    return {
      mirror,
      clock,
      signal: new AbortController().signal,
      api,
      reporter,
      apiKeys: new Set(apiKeys),
      options: defaultOptions,
      cachedTotals: new Map(),
    };
  }

  test("endRun stores a run's outcome and request count", async () => {
    const mirror = await makeMirror();
    const run = startRun(sessionOf(mirror), orders, task);
    stats.requests += 3;
    const columns = { verified: true, api_total: 5, mirror_total: 5 };
    const row = endRun(run, { outcome: "done", error: null, columns });
    expect(row).toMatchObject({ ...columns, requests: 3, retries: 0, outcome: "done", finished_at: at(3) });
    expect(findLastRun(mirror, "orders")).toEqual(row);
  });

  test("a run that starts just before a new second reads all dates up to the second in which it starts", async () => {
    let now = Date.parse(at(3)) - 1;
    const tickingClock = { ...systemClock, now: () => now++ };
    const mirror = await makeMirror();
    const run = startRun({ ...sessionOf(mirror), clock: tickingClock }, orders, task);
    const startedAt = Date.parse(loadRun(mirror, run.runId).started_at);
    expect(run.readableUntil).toBe(startOfSecond(startedAt) - 1);
  });

  test("endRun stores a denial of access to a resource, but not the rejection of an API key or IP address", async () => {
    const mirror = await makeMirror();
    const end = (failureScope: FailureScope) => {
      const error = new Forbidden("denied", { failureScope });
      endRun(startRun(sessionOf(mirror), orders, task), { outcome: "failed", error });
      return loadAccessDenial(mirror, "orders")?.error;
    };
    expect([end("command"), end("resource")]).toEqual([undefined, "denied"]);
  });

  test("if writing to the mirror fails, endRun throws the run's error or, if the run succeeded, the write error", async () => {
    const mirror = await makeMirror();
    const run = startRun(sessionOf(mirror), orders, task);
    mirror.db.exec("CREATE TRIGGER full BEFORE UPDATE ON sync_runs BEGIN SELECT RAISE(ABORT, 'full'); END");
    const thrownBy = (end: Parameters<typeof endRun>[1]) => {
      try {
        return endRun(run, end);
      } catch (error) {
        return error;
      }
    };
    expect(thrownBy({ outcome: "done", error: null })).toMatchObject({ message: "full" });
    const own = new Error("own");
    expect(thrownBy({ outcome: "failed", error: own })).toBe(own);
  });

  test("endRun removes API keys from the error that it stores", async () => {
    const mirror = await makeMirror();
    const key = `grk_${"a1B2".repeat(8)}`;
    const error = new Error(`refused for ${key}`);
    const run = endRun(startRun(sessionOf(mirror, key), orders, task), { outcome: "failed", error });
    expect(run.error).toMatch(/^refused for /);
    expect(run.error).not.toContain("a1B2");
    expect(findLastRun(mirror, "orders")).toEqual(run);
  });
});

describe("the numbers and the result in the output line of a sync", () => {
  test.each([
    ["that verified all orders", "verified", { outcome: "done", verified: true }, false],
    [
      "that never requested older orders",
      "verified from 2026-10-01 (older records were never requested; `--full` reads them)",
      { outcome: "done", verified: true, covered_from: "2026-10-01T00:00:00.000Z" },
      false,
    ],
    [
      "that never requested orders from before 23:25",
      "verified from 2026-10-01 23:25 (older records were never requested; `--full` reads them)",
      { outcome: "done", verified: true, covered_from: "2026-10-01T23:25:00.000Z" },
      false,
    ],
    [
      "that ended before the current time",
      "verified through 2026-10-31",
      { outcome: "done", verified: true, until: "2026-10-31T23:59:59.999Z" },
      false,
    ],
    [
      "that did not read all older orders",
      "verified from 2026-10-01 (not all older records were read)",
      { outcome: "done", verified: true, covered_from: "2026-10-01T00:00:00.000Z" },
      true,
    ],
    ["that could not verify the orders", "not verified", { outcome: "done", verified: false }, false],
    [
      "that failed because of the network",
      "failed: no network",
      { outcome: "failed", error: "no network" },
      false,
    ],
    ["that Ctrl-C stopped", "stopped", { outcome: "stopped", error: "Stopped." }, false],
  ] as const)("the output line of a sync %s ends with: %s", (_, end, fields, hasGaps) => {
    const run = {
      ...createRunRow("orders", at(1)),
      finished_at: "2026-11-20T01:02:00.000Z",
      requests: 1,
      ...fields,
    };
    expect(formatRunLine(run, { hasGaps, isLimitedToCounts: false })).toBe(
      `0 read, 0 new, 0 changed, 0 removed, 1 request in 2m, ${end}`,
    );
  });

  test.each([
    ["verified by counts", null],
    ["verified by counts from 2026-10-01 (not all older records were read)", "2026-10-01T00:00:00.000Z"],
  ])("the output line of a sync that compared only counts ends with: %s", (end, covered_from) => {
    const done = { outcome: "done", verified: true, finished_at: at(1), covered_from } as const;
    const line = formatRunLine(
      { ...createRunRow("orders", at(1)), ...done },
      { hasGaps: true, isLimitedToCounts: true },
    );
    expect(line).toMatch(new RegExp(`, ${end.replace(/[()]/g, "\\$&")}$`));
  });

  test("the output line of `sync surveys` contains separate counts for surveys and survey results", () => {
    const run = {
      ...createRunRow("surveys", at(1)),
      finished_at: at(1),
      rows_read: 18,
      outcome: "done" as const,
    };
    const facts = { hasGaps: false, isLimitedToCounts: false };
    expect(formatRunLine(run, { ...facts, listedRecords: 9 })).toMatch(
      /^9 surveys and 9 results read, 0 new/,
    );
    expect(formatRunLine(run, { ...facts, listedRecords: 17 })).toMatch(
      /^17 surveys and 1 result read, 0 new/,
    );
    expect(
      formatRunLine({ ...run, rows_read: 12_000, rows_new: 1_500 }, { ...facts, listedRecords: 2_000 }),
    ).toMatch(/^2000 surveys and 10000 results read, 1500 new/);
    // A failed run has a single row count for surveys and results.
    expect(formatRunLine(run, facts)).toMatch(/^18 surveys and results read, 0 new/);
  });
});

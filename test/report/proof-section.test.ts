import { expect, test } from "vitest";
import { createProofSection, describeProof, isProven, loadProof } from "../../src/report/proof-section.js";
import { saveCoverage, withCoveredRange } from "../../src/store/coverage.js";
import type { Mirror } from "../../src/store/database.js";
import { saveVerifyFinding } from "../../src/store/known-problems.js";
import { insertRun, type RunOutcome, updateRun } from "../../src/store/runs.js";
import { SyncState } from "../../src/store/sync-state.js";
import { saveTableCheck } from "../../src/store/table-check.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

type Proof = Parameters<typeof describeProof>[0];

const verified = {
  at: "2026-11-24T08:00:00.000Z",
  by: "sync",
  through: "2026-11-24T07:59:59.999Z",
  from: null,
} as const;
const proven: Proof = { verified, unread_found_at: null, error: null, oldest_read_at: null, gaps: [] };

test.each<[string, string, Partial<Proof>, string]>([
  [
    "orders whose counts matched the API in the last sync",
    "proven through the day of the sync",
    {},
    "Orders through 24 Nov 2026 are proven: their counts matched the API in the sync of 24 Nov 2026, 08:00 UTC.",
  ],
  [
    "orders that `verify` compared with the API from a certain day onward",
    "proven from that day",
    { verified: { ...verified, by: "verify", from: "2026-10-15T00:00:00.000Z" } },
    "Orders from 15 Oct 2026 through 24 Nov 2026 are proven: their counts matched the API in the `verify` run of 24 Nov 2026, 08:00 UTC.",
  ],
  [
    "orders that a sync compared with the API from a certain time onward",
    "proven from that time",
    { verified: { ...verified, from: "2026-10-15T00:00:01.000Z" } },
    "Orders from 15 Oct 2026, 00:00 UTC through 24 Nov 2026, 07:59 UTC are proven: their counts matched the API in the sync of 24 Nov 2026, 08:00 UTC.",
  ],
  [
    "orders whose counts matched the API before `verify` found unread orders",
    "proven, and mentions the unread orders",
    { unread_found_at: "2026-11-24T10:00:00.000Z" },
    "Orders through 24 Nov 2026, 07:59 UTC are proven: their counts matched the API in the sync of 24 Nov 2026, 08:00 UTC. In the `verify` run of 24 Nov 2026, 10:00 UTC, the API also had orders on dates that have not been read yet.",
  ],
  [
    "orders whose last sync was stopped",
    "not proven",
    { error: "the last run was stopped" },
    "Not proven: the last run was stopped",
  ],
  [
    "orders that have never been compared with the API",
    "not proven",
    { verified: null },
    "Not proven: the orders have never been compared with the API's counts.",
  ],
])("the report describes %s as %s", (_orders, _description, fields, sentence) => {
  const proof = { ...proven, ...fields };
  expect(describeProof(proof)).toBe(sentence);
  expect(isProven(proof)).toBe(!sentence.startsWith("Not proven"));
});

test("the report's proof section states the time up to which orders have been read, the age of the oldest read, and the gaps", () => {
  const readUntil = "2026-11-24T07:59:59.999Z";
  const ageOf = (oldest: string | null, gaps: Proof["gaps"] = []) => {
    const section = createProofSection({ ...proven, oldest_read_at: oldest, gaps }, readUntil, readUntil);
    return section.blocks[0];
  };
  const read = "Orders have been read up to 24 Nov 2026, 07:59 UTC.";
  const text = (words: string) => ({ kind: "text", text: read + words });
  expect(ageOf(null)).toEqual(text(""));
  expect(ageOf("2026-11-23T08:00:00.000Z")).toEqual(text(""));
  expect(ageOf("2026-11-23T07:59:59.999Z")).toEqual(text(" Some of them were last read 1 day earlier."));
  expect(ageOf("2026-11-26T08:00:00.000Z")).toEqual(text(""));
  expect(ageOf(null, [{ from: null, to: readUntil }])).toEqual(
    text(" Some days in between were never read: see `brandapi status`."),
  );
  const { blocks, lead } = createProofSection(proven, null, "2026-11-24T00:00:00.000Z");
  expect(lead).toBe(describeProof(proven));
  expect(blocks).toHaveLength(4);
  expect(blocks[0]).toMatchObject({ text: expect.stringContaining("The newest order is from 24 Nov 2026.") });
});

/** Inserts a row for a run of `orders` that reads no orders, and returns the `run_id`. */
function addRun(
  mirror: Mirror,
  outcome: RunOutcome,
  columns: { error?: string; verified?: boolean; until?: string } = {},
) {
  const at = "2026-11-02T08:00:00.000Z";
  const run = insertRun(mirror, "orders", at);
  updateRun(mirror, run, { outcome, finished_at: "2026-11-02T08:05:00.000Z", ...columns });
  return run;
}

async function syncedMirror(): Promise<Mirror> {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T06:00:00.000Z", whole: true });
  return mirror;
}

const outcomes: [outcome: RunOutcome, error: string | undefined, reported: string | null][] = [
  ["failed", "The API is away.", "The API is away."],
  ["incomplete", "A page is missing.", "A page is missing."],
  ["incomplete", undefined, "the last run was incomplete"],
  ["stopped", "killed", "the last run was stopped"],
  ["running", undefined, "the last run was stopped"],
  ["skipped", undefined, null],
  ["done", undefined, null],
  ["compared", undefined, null],
  ["compared", "2 orders differ", "2 orders differ"],
];

test.each(
  outcomes.map(([outcome, error, reported]) => {
    const reason = error === undefined ? "no error" : `the error "${error}"`;
    const state = reported === error ? "not proven because of that error" : `not proven: ${reported}`;
    return [outcome, reason, reported === null ? "still proven" : state, error, reported] as const;
  }),
)(
  "after a run with the outcome `%s` and %s, the report describes orders as %s",
  async (outcome, _error, _description, error, reported) => {
    const mirror = await syncedMirror();
    addRun(mirror, outcome, error === undefined ? {} : { error });
    expect(loadProof(mirror, null).error).toBe(reported);
    addRun(mirror, "compared", { verified: true });
    expect(loadProof(mirror, null).error).toBeNull();
  },
);

test("a sync that is still running does not make the report's orders unproven", async () => {
  const mirror = await syncedMirror();
  addRun(mirror, "running");
  expect(loadProof(mirror, { started_at: "2026-11-02T08:00:00.000Z", progress: null }).error).toBeNull();
});

test("if some dates have never been read, the report marks as proven only the orders between the last gap and the end of the last verified run", async () => {
  const mirror = await makeMirror();
  expect(loadProof(mirror, null).verified).toBeNull();
  const cover = (from: string, to: string) => {
    const range = { from: Date.parse(from), to: Date.parse(to), requestedAt: Date.parse(to), runId: 1 };
    const dates = new SyncState(mirror, "orders").loadDates();
    mirror.transaction(() => saveCoverage(mirror, "orders", withCoveredRange(dates, range).coverage));
  };
  cover("2026-05-01", "2026-11-02T06:00:00.000Z");
  writeRead(mirror, "orders", [], { at: "2026-11-02T05:00:00.000Z" });
  cover("2026-01-01", "2026-03-01");
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T06:00:00.000Z" });
  const proof = loadProof(mirror, null);
  expect(proof).toMatchObject({
    verified: {
      at: "2026-11-02T06:00:00.000Z",
      by: "sync",
      through: "2026-11-02T06:00:00.000Z",
      from: "2026-05-01T00:00:00.000Z",
    },
    oldest_read_at: "2026-03-01T00:00:00.000Z",
    gaps: [{ from: "2026-03-01T00:00:00.001Z", to: "2026-04-30T23:59:59.999Z" }],
  });
  writeRead(mirror, "content", [], { at: "2026-11-02T07:00:00.000Z", whole: true });
  addRun(mirror, "compared", { verified: true, until: "2026-02-01T00:00:00.000Z" });
  writeRead(mirror, "orders", [], { at: "2026-11-02T09:00:00.000Z", whole: true });
  const last = insertRun(mirror, "orders", "2026-11-02T09:00:00.000Z") - 1;
  updateRun(mirror, last, { verified: false });
  expect(loadProof(mirror, null).verified).toEqual({
    at: "2026-11-02T08:05:00.000Z",
    by: "verify",
    through: "2026-02-01T00:00:00.000Z",
    from: "2026-01-01T00:00:00.000Z",
  });
});

test("if all dates have been read, the report describes all orders up to the last verified run as proven", async () => {
  const through = "2026-11-02T06:00:00.000Z";
  expect(loadProof(await syncedMirror(), null).verified).toEqual({
    at: through,
    by: "sync",
    through,
    from: null,
  });
});

test("after `verify` finds unread orders, the orders in the report are proven only if an earlier run verified them", async () => {
  const findUnread = (mirror: Mirror) => {
    const run = addRun(mirror, "compared", { error: "1 order has not been read" });
    mirror.transaction(() => saveVerifyFinding(mirror, "unread_only", "orders", run));
    return mirror;
  };
  const unverified = loadProof(findUnread(await makeMirror()), null);
  expect(unverified).toMatchObject({ verified: null, error: "1 order has not been read" });
  const mirror = findUnread(await syncedMirror());
  expect(loadProof(mirror, null)).toMatchObject({ error: null, unread_found_at: "2026-11-02T08:00:00.000Z" });
  saveTableCheck(mirror, "orders", [{ table: "orders", missing: 1, changed: 0, extra: 0 }], "2026-11-02");
  expect(loadProof(mirror, null).error).toContain("tables differ");
  saveTableCheck(mirror, "orders", [], "2026-11-02");
  addRun(mirror, "failed", { error: "The API is away." });
  expect(loadProof(mirror, null)).toMatchObject({ error: "The API is away." });
});

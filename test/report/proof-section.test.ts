import { expect, test } from "vitest";
import { createProofSection, judgeProof, loadProof } from "../../src/report/proof-section.js";
import { saveCoverage, saveFaultySlices, withCoveredRange } from "../../src/store/coverage.js";
import type { Mirror } from "../../src/store/database.js";
import { saveVerifyFinding } from "../../src/store/known-problems.js";
import { insertRun, type RunOutcome, updateRun } from "../../src/store/runs.js";
import { SyncState } from "../../src/store/sync-state.js";
import { saveTableCheck } from "../../src/store/table-check.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

type Proof = Parameters<typeof judgeProof>[0];
type VerifiedRun = NonNullable<Proof["verified"]>;

const reached = "2026-11-24T07:59:59.999Z";
const verified: VerifiedRun = {
  by: "sync",
  started_at: "2026-11-24T08:00:00.300Z",
  finished_at: "2026-11-24T08:00:40.000Z",
  ranges: [readSince(null)],
};
const proven: Proof = { verified, unread_found_at: null, error: null, oldest_read_at: null, gaps: [] };

function readSince(from: string | null, to = reached) {
  return { from: from === null ? Number.NEGATIVE_INFINITY : Date.parse(from), to: Date.parse(to) };
}

/** Returns whether the days from `since` to `until` are proven, and the sentence about them. */
function judge(fields: Partial<Proof>, since = "2026-11-01", until = "2026-11-30") {
  return judgeProof({ ...proven, ...fields }, { since, until }, reached);
}

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
    { verified: { ...verified, by: "verify", ranges: [readSince("2026-10-15T00:00:00.000Z")] } },
    "Orders from 15 Oct 2026 through 24 Nov 2026 are proven: their counts matched the API in the `verify` run of 24 Nov 2026, 08:00 UTC.",
  ],
  [
    "orders that a sync compared with the API from a certain time onward",
    "proven from that time",
    { verified: { ...verified, ranges: [readSince("2026-10-15T00:00:01.000Z")] } },
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
  expect(judge(fields)).toEqual({ is_proven: !sentence.startsWith("Not proven"), proof: sentence });
});

const matched = "their counts matched the API in the sync of 24 Nov 2026, 08:00 UTC.";

test.each([
  [
    "lies within one of several verified ranges",
    "2026-08-01",
    "2026-08-31",
    `Orders through 31 Aug 2026 are proven: ${matched}`,
  ],
  [
    "starts with unread days",
    "2026-10-01",
    "2026-10-31",
    `Not proven: in this period, only the orders from 10 Oct 2026 through 31 Oct 2026 were verified: ${matched}`,
  ],
  [
    "contains unread days",
    "2026-08-01",
    "2026-10-31",
    `Not proven: in this period, only the orders from 1 Aug 2026 through 31 Aug 2026 and from 10 Oct 2026 through 31 Oct 2026 were verified: ${matched}`,
  ],
  [
    "consists of unread days",
    "2026-09-01",
    "2026-09-30",
    "Not proven: the orders in this period have never been compared with the API's counts.",
  ],
  [
    "is not over",
    "2026-11-01",
    "2026-11-30",
    `Orders from 10 Oct 2026 through 24 Nov 2026 are proven: ${matched}`,
  ],
])(
  "if a period %s, the report describes it as proven only if all its orders were verified",
  (_, since, until, sentence) => {
    const ranges = [readSince(null, "2026-08-31T23:59:59.999Z"), readSince("2026-10-10T00:00:00.000Z")];
    const judgement = judge({ verified: { ...verified, ranges } }, since, until);
    expect(judgement).toEqual({ is_proven: !sentence.startsWith("Not proven"), proof: sentence });
  },
);

test("the report describes a period as not proven if orders were read only up to a time before the last verified run", () => {
  const ranges = [readSince(null, "2026-11-15T10:59:59.999Z")];
  const limited = { verified: { ...verified, ranges } };
  expect(judge(limited)).toEqual({
    is_proven: false,
    proof: `Not proven: in this period, only the orders from 1 Nov 2026, 00:00 UTC through 15 Nov 2026, 10:59 UTC were verified: ${matched}`,
  });
  expect(judge(limited, "2026-11-01", "2026-11-14").is_proven).toBe(true);
});

test("the report's proof section states the time up to which orders have been read, the age of the oldest read, and the gaps", () => {
  const readUntil = "2026-11-24T07:59:59.999Z";
  const ageOf = (oldest: string | null, gaps: Proof["gaps"] = []) => {
    const proof = { ...proven, oldest_read_at: oldest, gaps };
    const section = createProofSection(proof, "", readUntil, readUntil);
    return section.blocks[0];
  };
  const read = "Orders have been read up to 24 Nov 2026, 07:59 UTC.";
  const text = (words: string) => ({ kind: "text", text: read + words });
  expect(ageOf(null)).toEqual(text(""));
  expect(ageOf("2026-11-23T08:00:00.000Z")).toEqual(text(""));
  expect(ageOf("2026-11-23T07:59:59.999Z")).toEqual(text(" Some of them were last read 1 day earlier."));
  expect(ageOf("2026-11-26T08:00:00.000Z")).toEqual(text(""));
  expect(ageOf(null, [{ from: null, to: readUntil }])).toEqual(
    text(" Some older days were never read: see `brandapi status`."),
  );
  const { blocks, lead } = createProofSection(proven, "Orders are proven.", null, "2026-11-24T00:00:00.000Z");
  expect(lead).toBe("Orders are proven.");
  expect(blocks).toHaveLength(4);
  expect(blocks[0]).toMatchObject({ text: expect.stringContaining("The newest order is from 24 Nov 2026.") });
});

/** Inserts a row for a run of `orders` that reads no orders, and returns the `run_id`. */
function addRun(mirror: Mirror, outcome: RunOutcome, columns: { error?: string; verified?: boolean } = {}) {
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

test("in the report, a run has verified all dates that had been read by then, except those in faulty slices", async () => {
  const mirror = await makeMirror();
  expect(loadProof(mirror, null).verified).toBeNull();
  const cover = (from: string, to: string) => {
    const range = { from: Date.parse(from), to: Date.parse(to), requestedAt: Date.parse(to), runId: 1 };
    const dates = new SyncState(mirror, "orders").loadDates();
    mirror.transaction(() => saveCoverage(mirror, "orders", withCoveredRange(dates, range).coverage));
  };
  const older = { from: Date.parse("2026-01-01"), to: Date.parse("2026-03-01") };
  const newer = { from: Date.parse("2026-05-01"), to: Date.parse("2026-11-02T06:00:00.000Z") };
  cover("2026-05-01", "2026-11-02T06:00:00.000Z");
  writeRead(mirror, "orders", [], { at: "2026-11-02T05:00:00.000Z" });
  expect(loadProof(mirror, null).verified?.ranges).toEqual([newer]);
  cover("2026-01-01", "2026-03-01");
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-02T06:00:00.000Z" });
  expect(loadProof(mirror, null)).toMatchObject({
    verified: { by: "sync", finished_at: "2026-11-02T06:00:00.000Z", ranges: [older, newer] },
    oldest_read_at: "2026-03-01T00:00:00.000Z",
    gaps: [{ from: "2026-03-01T00:00:00.001Z", to: "2026-04-30T23:59:59.999Z" }],
  });

  writeRead(mirror, "content", [], { at: "2026-11-02T07:00:00.000Z", whole: true });
  addRun(mirror, "compared", { verified: true });
  writeRead(mirror, "orders", [], { at: "2026-11-02T09:00:00.000Z", whole: true });
  const last = insertRun(mirror, "orders", "2026-11-02T09:00:00.000Z") - 1;
  updateRun(mirror, last, { verified: false });
  const throughVerify = { ...newer, to: Date.parse("2026-11-02T08:00:00.000Z") };
  expect(loadProof(mirror, null).verified).toEqual({
    by: "verify",
    started_at: "2026-11-02T08:00:00.000Z",
    finished_at: "2026-11-02T08:05:00.000Z",
    ranges: [older, throughVerify],
  });

  const slice = { ...older, to: Date.parse("2026-02-01") - 1, requestedAt: 0, runId: last };
  const faulty = { ...slice, recordIds: [], fault: "an unreadable date" };
  mirror.transaction(() => saveFaultySlices(mirror, "orders", [faulty]));
  const rest = { ...older, from: Date.parse("2026-02-01") };
  expect(loadProof(mirror, null).verified?.ranges).toEqual([rest, throughVerify]);
});

test("if all dates have been read, the report describes all orders up to the last verified run as verified", async () => {
  expect(loadProof(await syncedMirror(), null).verified?.ranges).toEqual([
    readSince(null, "2026-11-02T06:00:00.000Z"),
  ]);
});

test("if `verify` finds nothing but unread orders, the report still describes the orders verified by an earlier run as proven", async () => {
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

test("if a later `verify` run finds unread orders, the report no longer describes the dates after the last sync as proven", async () => {
  const mirror = await syncedMirror();
  const lastRead = "2026-11-02T06:00:00.000Z";
  const judgeDay = () =>
    judgeProof(loadProof(mirror, null), { since: "2026-11-02", until: "2026-11-02" }, lastRead);
  addRun(mirror, "compared", { verified: true });
  expect(judgeDay().is_proven).toBe(true);
  const run = addRun(mirror, "compared", { error: "1 order has not been read" });
  mirror.transaction(() => saveVerifyFinding(mirror, "unread_only", "orders", run));
  expect(judgeDay()).toEqual({
    is_proven: false,
    proof: expect.stringContaining(
      "only the orders from 2 Nov 2026, 00:00 UTC through 2 Nov 2026, 06:00 UTC",
    ),
  });
});

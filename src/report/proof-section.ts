import { loadResourceHealth, type ResourceHealth } from "../query/health.js";
import { orders } from "../resources/orders.js";
import type { Mirror } from "../store/database.js";
import { hasVerifyFinding } from "../store/known-problems.js";
import type { RunningCommand } from "../store/mirror-lock.js";
import { findLastVerifiedRun, findUnresolvedVerify, type RunOutcome, type RunRow } from "../store/runs.js";
import { pluralize } from "../util/format-text.js";
import { dayMs } from "../util/timestamps.js";
import { paragraph, type Section } from "./document.js";
import { formatDay, formatTime } from "./formatting.js";

/** The verification state of the mirrored orders. Times are ISO 8601 strings. */
interface Proof extends Pick<ResourceHealth, "oldest_read_at" | "gaps"> {
  /** The most recently verified range, and the command that verified it. Null if no range has been verified. */
  verified: { at: string; by: "sync" | "verify"; through: string; from: string | null } | null;
  /**
   * The time of the last `verify` run if the only differences it found are orders with dates that have not been read
   * yet; otherwise, null. These orders do not affect the verified range.
   */
  unread_found_at: string | null;
  /** An error that has occurred since the verification, or null. */
  error: string | null;
}

/**
 * Returns the verification state of the mirrored orders.
 * @param runningCommand the run that has locked the mirror; unlike a killed run, it does not count as an error
 */
export function loadProof(mirror: Mirror, runningCommand: RunningCommand | null): Proof {
  const health = loadResourceHealth(mirror, orders, { now: 0, maxAgeMs: null, runningCommand });
  const run = findLastVerifiedRun(mirror, "orders");
  const verify = findUnresolvedVerify(mirror, "orders");
  const isUnreadOnly = run !== null && verify !== null && hasVerifyFinding(mirror, "unread_only", verify);
  // `health.found` may describe a later table check instead of the `verify` run's error, so compare the two errors.
  const foundUnread = isUnreadOnly && health?.found?.error === verify.error ? verify : null;
  const found = foundUnread ? null : (health?.found?.error ?? null);
  return {
    verified: run ? loadVerifiedRange(mirror, run) : null,
    error: found ?? findLaterError(foundUnread?.run_id ?? run?.run_id ?? 0, health?.last_run ?? null),
    unread_found_at: foundUnread?.started_at ?? null,
    oldest_read_at: health?.oldest_read_at ?? null,
    gaps: health?.gaps ?? [],
  };
}

/**
 * The outcomes that do not count as errors. The differences that a run with the outcome `compared` found are in
 * `health.found`.
 */
const harmlessOutcomes: readonly RunOutcome[] = ["done", "running", "skipped", "compared"];

function findLaterError(verifiedRunId: number, last: ResourceHealth["last_run"]): string | null {
  if (!last || last.run_id < verifiedRunId || harmlessOutcomes.includes(last.outcome)) return null;
  const { error, outcome } = last;
  return outcome === "stopped" || error === null ? `the last run was ${outcome}` : error;
}

/**
 * Returns the contiguous range that a run verified. For a `verify` run, this is the range that earlier runs had read.
 */
function loadVerifiedRange(mirror: Mirror, run: RunRow): Proof["verified"] {
  const { run_id, started_at, finished_at, until } = run;
  const through = until !== null && until < started_at ? until : started_at;
  const range = mirror.selectRow<{ from_at: string | null }>(
    `SELECT from_at FROM run_coverage WHERE coalesce(from_at, '') <= @through AND run_id = (
         SELECT max(run_id) FROM run_coverage JOIN sync_runs USING (run_id) WHERE resource = 'orders' AND run_id <= @run_id)
       ORDER BY from_at DESC LIMIT 1`,
    { run_id, through },
  );
  const by = run.outcome === "compared" ? "verify" : "sync";
  return range && { at: finished_at ?? started_at, by, through, from: range.from_at };
}

/** True if a run has verified the orders in some date range and no run has failed since then. */
export function isProven({ error, verified }: Proof): boolean {
  return error === null && verified !== null;
}

export function describeProof({ error, unread_found_at, verified }: Proof): string {
  if (error !== null) return `Not proven: ${error}`;
  if (verified === null) return "Not proven: the orders have never been compared with the API's counts.";
  const { at, by, through, from } = verified;
  const startsAtMidnight = from === null || from.endsWith("T00:00:00.000Z");
  const format = startsAtMidnight && unread_found_at === null ? formatDay : formatTime;
  const since = from === null ? "" : ` from ${format(from)}`;
  const how = by === "verify" ? "the `verify` run" : "the sync";
  const unread =
    unread_found_at === null
      ? ""
      : ` In the \`verify\` run of ${formatTime(unread_found_at)}, the API also had orders on dates that have not been read yet.`;
  return `Orders${since} through ${format(through)} are proven: their counts matched the API in ${how} of ${formatTime(at)}.${unread}`;
}

/**
 * @param readUntil the time up to which orders have been read, or null if no date range has been fully read
 * @param reached `readUntil` or, if it is null, the day of the newest order
 */
export function createProofSection(proof: Proof, readUntil: string | null, reached: string): Section {
  return {
    id: "proof",
    title: "What is proven",
    lead: describeProof(proof),
    blocks: [describeAge(proof, readUntil, reached), ...limits].map(paragraph),
  };
}

function describeAge(
  { oldest_read_at: oldest, gaps }: Proof,
  readUntil: string | null,
  reached: string,
): string {
  if (readUntil === null)
    return `No date range has been fully read. The newest order is from ${formatDay(reached)}. See \`brandapi status\`.`;
  const days =
    oldest === null ? 0 : Math.floor(Math.max(0, Date.parse(readUntil) - Date.parse(oldest)) / dayMs);
  const age = days === 0 ? "" : ` Some of them were last read ${pluralize(days, "day")} earlier.`;
  const never = gaps.length === 0 ? "" : " Some days in between were never read: see `brandapi status`.";
  return `Orders have been read up to ${formatTime(readUntil)}.${age}${never}`;
}

const limits: readonly string[] = [
  "Removed and cancelled orders are excluded. Net is gross minus refunds. Days and months are in UTC. Amounts in different currencies are never added together.",
  "The API does not provide refund dates, so each refund gets the date of the sync that first found it. Nor does the API report which commissions have been paid.",
  "If a change to an old order affects neither a count nor a daily total (for example, a new commission rate), it is found only when the order is re-read.",
];

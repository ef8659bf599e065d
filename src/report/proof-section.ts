import { loadResourceHealth, type ResourceHealth } from "../query/health.js";
import { orders } from "../resources/orders.js";
import { loadFaultySlices } from "../store/coverage.js";
import type { Mirror } from "../store/database.js";
import { hasVerifyFinding } from "../store/known-problems.js";
import type { RunningCommand } from "../store/mirror-lock.js";
import { findLastVerifiedRun, findUnresolvedVerify, type RunOutcome, type RunRow } from "../store/runs.js";
import { pluralize } from "../util/format-text.js";
import { clipRanges, dayRange, startOfSecond, subtractRanges, type TimeRange } from "../util/time-ranges.js";
import { dayMs, formatInstant } from "../util/timestamps.js";
import { paragraph, type ReportDocument, type Section } from "./document.js";
import { formatDay, formatTime } from "./formatting.js";
import type { DayRange } from "./period.js";

/** The verification state of the mirrored orders. Times are ISO 8601 strings. */
interface Proof extends Pick<ResourceHealth, "oldest_read_at" | "gaps"> {
  /** The last run in which the mirror and the API agreed, or null if there is none. */
  verified: VerifiedRun | null;
  /**
   * The time of the last `verify` run if the only differences it found are orders with dates that have not been read
   * yet; otherwise, null. These orders do not affect the verified ranges.
   */
  unread_found_at: string | null;
  /** An error that has occurred since the verification, or null. */
  error: string | null;
}

interface VerifiedRun {
  by: "sync" | "verify";
  started_at: string;
  finished_at: string;
  /** The merged date ranges for which the mirror and the API agreed, oldest first. */
  ranges: readonly TimeRange[];
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
  // `health.verify_problem` may describe a later table check instead of the `verify` run's error, so compare the two errors.
  const foundUnread = isUnreadOnly && health?.verify_problem?.error === verify.error ? verify : null;
  const found = foundUnread ? null : (health?.verify_problem?.error ?? null);
  return {
    verified: run ? loadVerifiedRun(mirror, run, foundUnread !== null) : null,
    error: found ?? findLaterError(foundUnread?.run_id ?? run?.run_id ?? 0, health?.last_run ?? null),
    unread_found_at: foundUnread?.started_at ?? null,
    oldest_read_at: health?.oldest_read_at ?? null,
    gaps: health?.gaps ?? [],
  };
}

/**
 * The outcomes that do not count as errors. The differences that a run with the outcome `compared` found are in
 * `health.verify_problem`.
 */
const harmlessOutcomes: readonly RunOutcome[] = ["done", "running", "skipped", "compared"];

function findLaterError(verifiedRunId: number, last: ResourceHealth["last_run"]): string | null {
  if (!last || last.run_id < verifiedRunId || harmlessOutcomes.includes(last.outcome)) return null;
  const { error, outcome } = last;
  return outcome === "stopped" || error === null ? `the last run was ${outcome}` : error;
}

/**
 * Returns the date ranges that a run verified. A run compares all ranges that have been read, even if it reads only some
 * of them again.
 * @param hasUnread true if a later `verify` run has found orders with unread dates
 */
function loadVerifiedRun(
  mirror: Mirror,
  { run_id, started_at, finished_at, outcome }: RunRow,
  hasUnread: boolean,
): VerifiedRun {
  const by = outcome === "compared" ? "verify" : "sync";
  const rows = mirror.selectRows<{ from_at: string | null; to_at: string }>(
    `SELECT from_at, to_at FROM run_coverage WHERE run_id = (
         SELECT max(run_id) FROM run_coverage JOIN sync_runs USING (run_id) WHERE resource = 'orders' AND run_id <= ?)
       ORDER BY coalesce(from_at, '')`,
    run_id,
  );
  const ranges = rows.map(({ from_at, to_at }) => ({
    from: from_at === null ? Number.NEGATIVE_INFINITY : Date.parse(from_at),
    to: Date.parse(to_at),
  }));
  const newest = ranges.at(-1);
  // A `verify` run without differences has also found that there are no orders after the last sync, so all dates up to
  // its own start are verified, unless a later run has found orders that the API added to these dates.
  if (newest && by === "verify" && !hasUnread) newest.to = Math.max(newest.to, Date.parse(started_at));
  // A later run may have found faulty records on some of the dates.
  const verified = subtractRanges(ranges, loadFaultySlices(mirror, "orders"));
  return { by, started_at, finished_at: finished_at ?? started_at, ranges: verified };
}

/**
 * Decides whether all orders in a period are proven, and describes the verified dates. For an unfinished period, only
 * the dates up to the last read or the last verified run must have been verified.
 * @param reached the time up to which orders have been read (ISO 8601)
 */
export function judgeProof(
  { error, unread_found_at, verified }: Proof,
  { since, until }: DayRange,
  reached: string,
): Pick<ReportDocument, "is_proven" | "proof"> {
  const unproven = (why: string) => ({ is_proven: false, proof: `Not proven: ${why}` });
  if (error !== null) return unproven(error);
  if (verified === null) return unproven("the orders have never been compared with the API's counts.");
  const knownUntil = Math.max(Date.parse(reached), startOfSecond(Date.parse(verified.started_at)) - 1);
  const period = { from: dayRange(since).from, to: Math.min(dayRange(until).to, knownUntil) };
  const entire = verified.ranges.find(({ from, to }) => from <= period.from && to >= period.to);
  const parts = entire ? [entire] : clipRanges(verified.ranges, period);
  if (parts.length === 0)
    return unproven("the orders in this period have never been compared with the API's counts.");
  const dates = new Intl.ListFormat("en-GB").format(
    parts.map((range) => describeVerifiedDates(range, verified, unread_found_at !== null)),
  );
  const how = verified.by === "verify" ? "the `verify` run" : "the sync";
  const reason = `their counts matched the API in ${how} of ${formatTime(verified.finished_at)}.`;
  const unread =
    unread_found_at === null
      ? ""
      : ` In the \`verify\` run of ${formatTime(unread_found_at)}, the API also had orders on dates that have not been read yet.`;
  if (entire) return { is_proven: true, proof: `Orders ${dates} are proven: ${reason}${unread}` };
  return unproven(`in this period, only the orders ${dates} were verified: ${reason}${unread}`);
}

/** Formats a verified range. The time of a day is omitted if the range starts and ends with a day or with the run. */
function describeVerifiedDates(range: TimeRange, { started_at }: VerifiedRun, showsTimes: boolean): string {
  const from = Number.isFinite(range.from) ? formatInstant(range.from) : null;
  const to = formatInstant(range.to);
  const startsWithDay = from === null || from.endsWith("T00:00:00.000Z");
  const endsWithDayOrRun = to.endsWith("T23:59:59.999Z") || to.slice(0, 10) === started_at.slice(0, 10);
  const format = startsWithDay && endsWithDayOrRun && !showsTimes ? formatDay : formatTime;
  return `${from === null ? "" : `from ${format(from)} `}through ${format(to)}`;
}

/**
 * @param lead describes the verified dates
 * @param readUntil the time up to which orders have been read, or null if no date range has been fully read
 * @param reached `readUntil` or, if it is null, the day of the newest order
 */
export function createProofSection(
  proof: Proof,
  lead: string,
  readUntil: string | null,
  reached: string,
): Section {
  return {
    id: "proof",
    title: "What is proven",
    lead,
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
  const never = gaps.length === 0 ? "" : " Some older days were never read: see `brandapi status`.";
  return `Orders have been read up to ${formatTime(readUntil)}.${age}${never}`;
}

const limits: readonly string[] = [
  "Removed and cancelled orders are excluded. Net is gross minus refunds. Days and months are in UTC. Amounts in different currencies are never added together.",
  "The API does not provide refund dates, so each refund gets the date of the sync that first found it. Nor does the API report which commissions have been paid.",
  "If a change to an old order affects neither a count nor a daily total (for example, a new commission rate), it is found only when the order is re-read.",
];

import { allResources } from "../resources/registry.js";
import { detailsResource, type Resource, strategyTraits } from "../resources/resource.js";
import { loadCoverage, loadReadRanges } from "../store/coverage.js";
import type { Mirror } from "../store/database.js";
import {
  type AccessDenial,
  type FailedCommand,
  hasVerifyFinding,
  loadAccessDenial,
  loadFailedCommand,
} from "../store/known-problems.js";
import type { RunningCommand } from "../store/mirror-lock.js";
import { loadOwner, type OwnerBrand } from "../store/owner.js";
import { countRemoved, countUndated } from "../store/records.js";
import {
  findLastDoneSync,
  findLastRun,
  findLastUpToDateSync,
  findLastVerifiedUpToDateSync,
  findUnresolvedVerify,
  hasBeenRead,
  loadNewestRunId,
  loadOldestSince,
  type RunRow,
} from "../store/runs.js";
import { loadUnexpectedColumns, type UnexpectedColumn } from "../store/schema-issues.js";
import { SyncState } from "../store/sync-state.js";
import { loadTableCheck } from "../store/table-check.js";
import { quote } from "../store/table-sql.js";
import { clipRanges, findGaps, mergeRanges, type TimeRange } from "../util/time-ranges.js";
import { formatInstant, formatInstantOrNull } from "../util/timestamps.js";

/** A range of ISO 8601 times. A null `from` means that there is no lower bound. */
export type DateRange = { from: string | null; to: string };

/** A resource's health. Times are ISO 8601 strings, and ages are in seconds. */
export interface ResourceHealth {
  resource: string;
  rows: number;
  removed: number;
  /** The number of records without a readable date. Always 0 if the resource is not read by date. */
  undated: number;
  /**
   * The date ranges that have been fully read. Like `gaps`, this array is empty if the resource is not read by date.
   */
  covered: DateRange[];
  /**
   * The oldest date that any sync has requested. Null if there is no lower bound, or if the resource is not read by date.
   */
  requested_from: string | null;
  /** The unread dates between the oldest date that was ever requested and the newest date that was read. */
  gaps: DateRange[];
  /** The start time of the last successful sync that read the entire resource. */
  last_success_at: string | null;
  /**
   * The start time of the last successful sync, even if it read only part of the resource, for example because of
   * `--until`.
   */
  last_done_at: string | null;
  age_seconds: number | null;
  last_run: Pick<RunRow, "run_id" | "started_at" | "finished_at" | "outcome" | "error"> | null;
  last_error: string | null;
  /** The problems that the last `verify` run found. `repairable` is false if they must all be fixed in the API. */
  verify_problem: { at: string; error: string; repairable: boolean } | null;
  /** The API's last 402 or 403 response, if the key or the plan no longer allows access to this resource. */
  access_denial: AccessDenial | null;
  running: { started_at: string } | null;
  unexpected_columns: UnexpectedColumn[];
  /** The oldest time of a read in the coverage, or null if the resource is not read by date. */
  oldest_read_at: string | null;
  stale: boolean;
}

export interface Health {
  db: string;
  brand: OwnerBrand | null;
  checked_at: string;
  max_age_seconds: number | null;
  stale: string[];
  /** The run that has locked the mirror. */
  running_command: RunningCommand | null;
  /** The last run, if it failed before reading anything or because the API rejected the key. */
  failed_command: FailedCommand | null;
  resources: ResourceHealth[];
  never_read: string[];
  /** The resources that have never been read because the API denied access when a command named them. */
  denied: (AccessDenial & { resource: string })[];
}

interface HealthOptions {
  /** The current time in milliseconds since the Unix epoch. */
  now: number;
  maxAgeMs: number | null;
  runningCommand: RunningCommand | null;
}

export function loadHealth(mirror: Mirror, chosen: readonly Resource[], options: HealthOptions): Health {
  const { now, maxAgeMs, runningCommand } = options;
  const all = [...chosen, ...chosen.flatMap((resource) => detailsResource(resource) ?? [])];
  const healths = all.flatMap((resource) => loadResourceHealth(mirror, resource, options) ?? []);
  const read = new Set(healths.map(({ resource }) => resource));
  const neverRead = chosen.map(({ name }) => name).filter((name) => !read.has(name));
  return {
    db: mirror.path,
    brand: loadOwner(mirror),
    checked_at: formatInstant(now),
    max_age_seconds: maxAgeMs === null ? null : maxAgeMs / 1_000,
    stale: healths.filter(({ stale }) => stale).map(({ resource }) => resource),
    running_command: runningCommand,
    failed_command: loadFailedCommand(mirror),
    resources: healths,
    never_read: neverRead,
    denied: neverRead.flatMap((name) => findDenial(mirror, name) ?? []),
  };
}

function findDenial(mirror: Mirror, resource: string): Health["denied"][number] | null {
  const denial = loadAccessDenial(mirror, resource);
  // A sync of all resources skips those that the key or the plan does not include.
  const isSkipped = findLastRun(mirror, resource)?.outcome === "skipped";
  return denial && !isSkipped ? { resource, ...denial } : null;
}

/** Finds the resource whose last successful sync is the oldest. Returns the start time of that sync (ISO 8601). */
export function findOldestSuccess(mirror: Mirror): string | null {
  const times = allResources.flatMap((one) => findLastSuccess(mirror, one)?.started_at ?? []);
  return times.sort()[0] ?? null;
}

/** Returns the last sync that read the entire resource. */
function findLastSuccess(mirror: Mirror, { name, strategy }: Resource): RunRow | null {
  const { isAlwaysReadInFull } = strategyTraits[strategy.kind];
  return isAlwaysReadInFull ? findLastUpToDateSync(mirror, name) : findLastVerifiedUpToDateSync(mirror, name);
}

/** Returns a resource's health, or null if the resource has never been read. */
export function loadResourceHealth(
  mirror: Mirror,
  resource: Resource,
  options: HealthOptions,
): ResourceHealth | null {
  const { name, table, strategy } = resource;
  const { now, maxAgeMs, runningCommand } = options;
  const lastRun = markKilled(mirror, findLastRun(mirror, name), runningCommand !== null);
  const denial = loadAccessDenial(mirror, name);
  if (!lastRun || ((denial || lastRun.outcome === "skipped") && !hasBeenRead(mirror, resource))) return null;
  const isDenied = denial !== null || loadFailedCommand(mirror)?.isRefused === true;
  const success = findLastSuccess(mirror, resource);
  const ageMs = success ? now - Date.parse(success.started_at) : null;
  // The coverage refers only to the list. The records' details may not have been read yet.
  const coverage = strategy.kind === "details" && !success ? [] : loadCoverage(mirror, name);
  const covered = mergeRanges(coverage);
  const start = covered[0]?.from;
  const floor = new SyncState(mirror, name).loadFloor() ?? start ?? Number.NEGATIVE_INFINITY;
  const [oldest] = coverage.toSorted((a, b) => a.requestedAt - b.requestedAt);
  const hasGap = findLastingGaps(mirror, resource).length > 0;
  const { run_id, started_at, finished_at, outcome, error } = lastRun;
  const rows = mirror.db.prepare(`SELECT count(*) FROM ${quote(table)}`).pluck();
  return {
    resource: name,
    rows: rows.get() as number,
    removed: countRemoved(mirror, name),
    covered: covered.map(toDateRange),
    // A sync of clicks reads entire months, so it may cover dates before the requested ones.
    requested_from: formatInstantOrNull(Math.min(floor, start ?? floor)),
    undated: strategy.kind === "dated" ? countUndated(mirror, name) : 0,
    gaps: loadGaps(mirror, resource).map(toDateRange),
    last_success_at: success?.started_at ?? null,
    last_done_at: findLastDoneSync(mirror, name)?.started_at ?? null,
    age_seconds: ageMs === null ? null : Math.round(Math.max(0, ageMs) / 1_000),
    last_run: { run_id, started_at, finished_at, outcome, error },
    last_error: error,
    verify_problem: loadVerifyProblem(mirror, name),
    access_denial: denial,
    unexpected_columns: loadUnexpectedColumns(mirror, name),
    running: outcome === "running" ? { started_at } : null,
    oldest_read_at: strategy.kind === "dated" && oldest ? formatInstant(oldest.requestedAt) : null,
    stale: maxAgeMs !== null && (isDenied || isTooOld(success?.started_at, now, maxAgeMs) || hasGap),
  };
}

/**
 * Returns the gaps that the successful syncs left, for example because of `--since`. The next sync without such an
 * option fills them. Dates that only a later, unfinished sync was to read are not included.
 */
export function findLastingGaps(mirror: Mirror, resource: Resource): TimeRange[] {
  const done = findLastDoneSync(mirror, resource.name);
  const ends = [findLastSuccess(mirror, resource), done].flatMap((run) => run?.until ?? []).map(Date.parse);
  if (done === null || ends.length === 0) return [];
  const requested = { from: loadOldestSince(mirror, done), to: Number.POSITIVE_INFINITY };
  return clipRanges(loadGaps(mirror, resource), requested).filter(({ from }) => from < Math.max(...ends));
}

function loadGaps(mirror: Mirror, { name, strategy }: Resource): TimeRange[] {
  const read = loadReadRanges(mirror, name);
  // The coverage of clicks may lack idle months before the first clicks, because version 0.1.0 did not add them.
  const floor = strategy.kind === "dated" ? new SyncState(mirror, name).loadFloor() : null;
  return findGaps(read, floor ?? undefined);
}

/** True if there was no successful sync, or if the last one was too long ago. */
export function isTooOld(lastSuccessAt: string | null | undefined, now: number, maxAgeMs: number): boolean {
  if (!lastSuccessAt) return true;
  // If the time is in the future, the data counts as too old, because the clock was wrong during that run.
  return Math.abs(now - Date.parse(lastSuccessAt)) > maxAgeMs;
}

/** Marks a run as killed if its stored outcome is `running` but it does not hold the lock. */
function markKilled(mirror: Mirror, run: RunRow | null, isLocked: boolean): RunRow | null {
  if (run?.outcome !== "running") return run;
  return isLocked && run.run_id === loadNewestRunId(mirror)
    ? run
    : { ...run, outcome: "stopped", error: "killed" };
}

function loadVerifyProblem(mirror: Mirror, resourceName: string): ResourceHealth["verify_problem"] {
  const run = findUnresolvedVerify(mirror, resourceName);
  const tables = loadTableCheck(mirror, resourceName);
  if (run === null) return tables && { ...tables, repairable: true };
  const { started_at: at, error, run_id } = run;
  // The error of a `verify` run includes the differences that the run's table check found. If a later `verify` run
  // checked the tables but could not reach the API, the differences from the later check must be added.
  const isIncluded = tables === null || error?.includes(tables.error);
  return {
    at,
    error: isIncluded ? (error ?? "") : `${tables.error}; ${error}`,
    repairable:
      tables !== null || !hasVerifyFinding(mirror, "unrepairable", { resource: resourceName, run_id }),
  };
}

function toDateRange({ from, to }: TimeRange): DateRange {
  return { from: formatInstantOrNull(from), to: formatInstant(to) };
}

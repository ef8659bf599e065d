import { gaps, join, type Range } from "../lib/ranges.js";
import { formatInstant, instantOrNull } from "../lib/times.js";
import {
  type FailedRun,
  lastFinding,
  lastGood,
  lastRun,
  type Mirror,
  quote,
  type Run,
  readFailedRun,
  readInfo,
  type UnderWay,
  wasRead,
} from "../mirror/index.js";
import { readTableNote } from "../records/index.js";
import { details, resources } from "../resources/index.js";
import type { Resource } from "../resources/types.js";
import { countRemoved, finishedRuns, openState, readCoverage } from "../state/index.js";
import { type Closing, readClosing } from "./closing.js";

/** A range of dates, ISO 8601; `from` null: from the beginning. */
export interface ShownRange {
  from: string | null;
  to: string;
}

/** How one resource stands. Times are ISO 8601, ages seconds. */
export interface ResourceHealth {
  resource: string;
  /** Records that the API still has, as far as known, and those it no longer has. */
  rows: number;
  removed: number;
  /** What was read completely, and what lies unread between; empty where a resource is not read by date. */
  covered: ShownRange[];
  gaps: ShownRange[];
  /** The oldest date that was ever asked for, ISO 8601; null: from the beginning, or without dates. */
  covered_from: string | null;
  /** When the last verified run up to its own time began: what the mirror says is as of then. */
  last_success_at: string | null;
  age_seconds: number | null;
  last_run: Pick<Run, "run_id" | "started_at" | "finished_at" | "outcome" | "error"> | null;
  /** What the last run ended with; null where it ended well. */
  last_error: string | null;
  /** What `verify` found, until a later proof says otherwise. */
  found: { at: string; error: string } | null;
  /** A run that is under way now. */
  running: { started_at: string } | null;
  /** A read that stopped half-way: the next run goes on from there. */
  unfinished: { begun_at: string } | null;
  /** How changes to old records are found; null where a resource is not read by date. */
  closing: Closing | null;
  stale: boolean;
}

/** How a mirror stands. */
export interface Health {
  db: string;
  brand: { id: string; name: string } | null;
  checked_at: string;
  max_age_seconds: number | null;
  /** The names of the resources that are older than allowed; all of them where nothing was ever read. */
  stale: string[];
  /** The run that holds the mirror now. */
  under_way: UnderWay | null;
  /** The last run, where it ended before it read anything. */
  failed_run: FailedRun | null;
  resources: ResourceHealth[];
  /** The names of the resources that were never read. */
  never_read: string[];
}

/**
 * Returns how every resource stands that was ever synced. Nothing is stale without `maxAgeMs`.
 * @param now milliseconds since 1970
 */
export function readHealth(
  mirror: Mirror,
  now: number,
  maxAgeMs: number | null,
  underWay: UnderWay | null,
): Health {
  const found = [...resources, ...details]
    .map((resource) => readResource(mirror, resource, now, maxAgeMs, underWay !== null))
    .filter((health) => health !== null);
  const id = readInfo(mirror, "brand_id");
  return {
    db: mirror.path,
    brand: id === null ? null : { id, name: readInfo(mirror, "brand_name") ?? "" },
    checked_at: formatInstant(now),
    max_age_seconds: maxAgeMs === null ? null : maxAgeMs / 1_000,
    stale: found.filter(({ stale }) => stale).map(({ resource }) => resource),
    under_way: underWay,
    failed_run: readFailedRun(mirror),
    resources: found,
    never_read: resources
      .map(({ name }) => name)
      .filter((name) => !found.some(({ resource }) => resource === name)),
  };
}

/**
 * When what was read longest ago was last read well, ISO 8601: what `--max-age` goes by. Null where nothing ever was.
 */
export function oldestSuccess(mirror: Mirror): string | null {
  const times = [...resources, ...details].flatMap(({ name }) => lastGood(mirror, name)?.started_at ?? []);
  return times.sort()[0] ?? null;
}

/** Null where a resource was never tried, or only skipped because the key does not allow it. */
function readResource(
  mirror: Mirror,
  resource: Resource,
  now: number,
  maxAgeMs: number | null,
  isLocked: boolean,
): ResourceHealth | null {
  const last = asEnded(mirror, lastRun(mirror, resource.name), isLocked);
  const good = lastGood(mirror, resource.name);
  const isRunning = last?.outcome === "running";
  if (!last || (last.outcome === "skipped" && !wasRead(mirror, resource.name))) return null;
  const ageMs = good ? now - Date.parse(good.started_at) : null;
  const spans = readCoverage(mirror, resource.name);
  const covered = join(spans);
  return {
    resource: resource.name,
    ...countRows(mirror, resource),
    covered: covered.map(asShown),
    gaps: gaps(covered).map(asShown),
    covered_from: floorOf(mirror, resource),
    last_success_at: good?.started_at ?? null,
    age_seconds: ageMs === null ? null : Math.round(Math.max(0, ageMs) / 1_000),
    last_run: {
      run_id: last.run_id,
      started_at: last.started_at,
      finished_at: last.finished_at,
      outcome: last.outcome,
      error: last.error,
    },
    last_error: last.error,
    found: foundOf(lastFinding(mirror, resource.name), readTableNote(mirror, resource.name)),
    running: isRunning ? { started_at: last.started_at } : null,
    unfinished: isRunning ? null : readUnfinished(mirror, resource),
    closing: readClosing(mirror, resource, spans, now),
    // A clock that was far ahead tells nothing of an age: a year of missed nights would look fresh.
    stale: maxAgeMs !== null && (ageMs === null || Math.abs(ageMs) > maxAgeMs),
  };
}

/** What of a resource was read completely. */
export function readCovered(mirror: Mirror, resource: string): ShownRange[] {
  return join(readCoverage(mirror, resource)).map(asShown);
}

/** The same of the months of clicks: before the first that has a day, there is nothing to read. */
export function readClickCoverage(mirror: Mirror): ShownRange[] {
  const [first, ...others] = readCovered(mirror, "analytics-clicks");
  if (!first) return [];
  const isAll = openState(mirror, "analytics-clicks").floor() === Number.NEGATIVE_INFINITY;
  return [isAll ? { ...first, from: null } : first, ...others];
}

/** A run that is under way in no process, or was begun before another, was killed, as the next one will note. */
function asEnded({ db }: Mirror, run: Run | null, isLocked: boolean): Run | null {
  if (run?.outcome !== "running") return run;
  const newest = db.prepare("SELECT max(run_id) FROM sync_runs").pluck().get();
  return isLocked && run.run_id === newest ? run : { ...run, outcome: "stopped", error: "killed" };
}

/** What `verify` found of the records, until a later run proves them, and of the tables, which only `verify` looks at. */
function foundOf(run: Run | null, tables: { at: string; error: string } | null): ResourceHealth["found"] {
  if (run === null) return tables;
  const { started_at: at, error } = run;
  const isSaid = tables === null || error?.includes(tables.error);
  return { at, error: [error ?? "", ...(isSaid ? [] : [tables.error])].join("; ") };
}

function countRows(mirror: Mirror, { name, table }: Resource): { rows: number; removed: number } {
  const there = mirror.db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
  if (there === undefined) return { rows: 0, removed: 0 };
  const all = mirror.db
    .prepare(`SELECT count(*) FROM ${quote(table)}`)
    .pluck()
    .get() as number;
  const removed = countRemoved(mirror, name);
  return { rows: all - removed, removed };
}

function readUnfinished(mirror: Mirror, { name }: Resource): ResourceHealth["unfinished"] {
  const { runId } = finishedRuns(mirror, name);
  const begun = readCoverage(mirror, name).filter((one) => one.runId > runId);
  return begun.length === 0
    ? null
    : { begun_at: formatInstant(Math.min(...begun.map(({ readAt }) => readAt))) };
}

function floorOf(mirror: Mirror, { name }: Resource): string | null {
  const floor = openState(mirror, name).floor();
  return floor === null ? null : instantOrNull(floor);
}

function asShown({ from, to }: Range): ShownRange {
  return { from: instantOrNull(from), to: formatInstant(to) };
}

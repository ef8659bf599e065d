import { details, resources } from "../resources/registry.js";
import { detailsResource, type Resource } from "../resources/resource.js";
import { type Mirror, readInfo } from "../store/database.js";
import { countRemoved, countUndated } from "../store/record-queries.js";
import { type CurrentRun, type FailedRun, readFailedRun } from "../store/run-progress.js";
import {
  lastCompleteSync,
  lastDifferingVerify,
  lastRun,
  lastVerifiedSync,
  newestRunId,
  type Refusal,
  type Run,
  readRefusal,
  wasRead,
} from "../store/runs.js";
import { readUnexpectedColumns, type UnexpectedColumn } from "../store/schema-issues.js";
import { readCoverage, readMarkedSlices } from "../store/sync-state.js";
import { readTableCheck } from "../store/table-check.js";
import { quote } from "../store/table-sql.js";
import { findGaps, mergeRanges, type Range } from "../util/ranges.js";
import { formatInstant, formatInstantOrNull } from "../util/times.js";

/** A range of dates, ISO 8601; `from` null: from the beginning. */
type DateRange = { from: string | null; to: string };

/** How one resource stands. Times are ISO 8601, ages seconds. */
export interface ResourceHealth {
  resource: string;
  /** Records that the API still has, as far as known, and those that it no longer has. */
  rows: number;
  removed: number;
  /** Records without a readable date, of a resource that is read by date. */
  undated: number;
  /** The ranges that were read completely, and those between them; empty if a resource is not read by date. */
  covered: DateRange[];
  gaps: DateRange[];
  /** When the last sync that read everything up to its own time began: what the mirror says is as of then. */
  last_success_at: string | null;
  age_seconds: number | null;
  last_run: Pick<Run, "run_id" | "started_at" | "finished_at" | "outcome" | "error"> | null;
  last_error: string | null;
  /** The differences that `verify` found, until a later proof says otherwise. */
  found: { at: string; error: string } | null;
  /** The last run's refusal, if the resource was read before and the key or the plan no longer allows it. */
  refused: Refusal | null;
  /** A run that is under way now. */
  running: { started_at: string } | null;
  /** The columns with values of an unexpected type, and how many records have them. */
  unexpected_columns: UnexpectedColumn[];
  /** When the data that was checked longest ago was read; null if a resource is not read by date. */
  oldest_read_at: string | null;
  stale: boolean;
}

/** How a mirror stands. */
export interface Health {
  db: string;
  brand: { id: string; name: string } | null;
  checked_at: string;
  max_age_seconds: number | null;
  /** The names of the resources that are older than allowed. */
  stale: string[];
  /** The run that holds the mirror now. */
  under_way: CurrentRun | null;
  /** The last run, if it ended before it read anything, or because the API rejected the key. */
  failed_run: FailedRun | null;
  resources: ResourceHealth[];
  never_read: string[];
}

/** When a mirror is looked at, in milliseconds since 1970, how old it may be (null: of any age), and the run that holds it. */
export interface HealthOptions {
  now: number;
  maxAgeMs: number | null;
  underWay: CurrentRun | null;
}

/** Returns the health of these resources, as far as they were ever synced. */
export function readHealth(mirror: Mirror, chosen: readonly Resource[], look: HealthOptions): Health {
  const { now, maxAgeMs, underWay } = look;
  const all = [...chosen, ...chosen.flatMap((resource) => detailsResource(resource) ?? [])];
  const found = all.flatMap((resource) => readResourceHealth(mirror, resource, look) ?? []);
  const id = readInfo(mirror, "brand_id");
  const read = new Set(found.map(({ resource }) => resource));
  return {
    db: mirror.path,
    brand: id === null ? null : { id, name: readInfo(mirror, "brand_name") ?? "" },
    checked_at: formatInstant(now),
    max_age_seconds: maxAgeMs === null ? null : maxAgeMs / 1_000,
    stale: found.filter(({ stale }) => stale).map(({ resource }) => resource),
    under_way: underWay,
    failed_run: readFailedRun(mirror),
    resources: found,
    never_read: chosen.map(({ name }) => name).filter((name) => !read.has(name)),
  };
}

/** Returns when the resource with the oldest data was last read well, ISO 8601: `--max-age` goes by it. Null: never. */
export function oldestSuccess(mirror: Mirror): string | null {
  const times = [...resources, ...details].flatMap((one) => lastSuccess(mirror, one)?.started_at ?? []);
  return times.sort()[0] ?? null;
}

/**
 * Returns the latest sync that read all of a resource up to its own time. Of a list and of records with dates, a run that
 * ended with 0 has read everything, even if odd dates or IDs that are listed twice kept it from being verified.
 */
function lastSuccess(mirror: Mirror, { name, strategy }: Resource): Run | null {
  const readsAll = strategy.kind === "dated" || strategy.kind === "full";
  return readsAll ? lastCompleteSync(mirror, name) : lastVerifiedSync(mirror, name);
}

/** Returns null if a resource was never tried, or if the key or the plan never allowed it. */
export function readResourceHealth(
  mirror: Mirror,
  resource: Resource,
  look: HealthOptions,
): ResourceHealth | null {
  const { name, table, strategy } = resource;
  const { now, maxAgeMs, underWay } = look;
  const last = resolveKilledRun(mirror, lastRun(mirror, name), underWay !== null);
  const refused = readRefusal(mirror, name);
  if (!last || ((refused || last.outcome === "skipped") && !wasRead(mirror, name))) return null;
  const isRefused = refused !== null || readFailedRun(mirror)?.isRefused === true;
  const good = lastSuccess(mirror, resource);
  const ageMs = good ? now - Date.parse(good.started_at) : null;
  const spans = readCoverage(mirror, name);
  const covered = mergeRanges(spans);
  const marked = readMarkedSlices(mirror, name);
  const [oldest] = spans.toSorted((a, b) => a.readAt - b.readAt);
  const { run_id, started_at, finished_at, outcome, error } = last;
  const rows = mirror.db.prepare(`SELECT count(*) FROM ${quote(table)}`).pluck();
  return {
    resource: name,
    rows: rows.get() as number,
    removed: countRemoved(mirror, name),
    covered: covered.map(toDateRange),
    undated: strategy.kind === "dated" ? countUndated(mirror, name) : 0,
    gaps: findGaps([...covered, ...marked]).map(toDateRange),
    last_success_at: good?.started_at ?? null,
    age_seconds: ageMs === null ? null : Math.round(Math.max(0, ageMs) / 1_000),
    last_run: { run_id, started_at, finished_at, outcome, error },
    last_error: error,
    found: joinFindings(lastDifferingVerify(mirror, name), readTableCheck(mirror, name)),
    refused,
    unexpected_columns: readUnexpectedColumns(mirror, name),
    running: outcome === "running" ? { started_at } : null,
    oldest_read_at: strategy.kind === "dated" && oldest ? formatInstant(oldest.readAt) : null,
    // A time far in the future is stale, too: its clock was ahead.
    stale: maxAgeMs !== null && (isRefused || ageMs === null || Math.abs(ageMs) > maxAgeMs),
  };
}

/** A running run was killed if no process holds the mirror, or if a newer run has begun. */
function resolveKilledRun(mirror: Mirror, run: Run | null, isLocked: boolean): Run | null {
  if (run?.outcome !== "running") return run;
  return isLocked && run.run_id === newestRunId(mirror)
    ? run
    : { ...run, outcome: "stopped", error: "killed" };
}

/** Joins what `verify` found in the records, until a later run proves them, and in the tables. */
function joinFindings(
  run: Run | null,
  tables: { at: string; error: string } | null,
): ResourceHealth["found"] {
  if (run === null) return tables;
  const { started_at: at, error } = run;
  const isSaid = tables === null || error?.includes(tables.error);
  return { at, error: isSaid ? (error ?? "") : `${error}; ${tables.error}` };
}

const toDateRange = ({ from, to }: Range): DateRange => ({
  from: formatInstantOrNull(from),
  to: formatInstant(to),
});

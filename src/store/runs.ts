import { syncingResource } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import type { Mirror } from "./database.js";

/**
 * How a run ended. If the outcome is `running`, the run is in progress or its process was killed. A `verify` run that
 * compared everything ends as `compared`, even if it found differences.
 */
export type RunOutcome = "running" | "done" | "compared" | "incomplete" | "failed" | "stopped" | "skipped";

/** A run for one resource, as stored in `sync_runs` and printed by `sync --json`. */
export interface RunRow {
  run_id: number;
  resource: string;
  started_at: string;
  finished_at: string | null;
  /**
   * The first and last dates to read. `since` is null if there is no lower bound, and both are null if the resource is
   * not read by date.
   */
  since: string | null;
  until: string | null;
  requests: number;
  retries: number;
  rows_read: number;
  rows_new: number;
  rows_changed: number;
  rows_removed: number;
  /** True for a sync or a `verify` run in which the mirror and the API agreed. */
  verified: boolean;
  outcome: RunOutcome;
  error: string | null;
  /**
   * The date from which the mirror contains all dates up to `until`. Null if there is no lower bound, if `until` itself
   * has not been read, or if the resource is not read by date.
   */
  covered_from: string | null;
  api_total: number | null;
  mirror_total: number | null;
  /** The number of differing counts or, if `verify` compared a list, the number of differing records. */
  differing: number | null;
}

/** A run as SQLite returns it, with `verified` as a number. */
type RawRunRow = Omit<RunRow, "verified"> & { verified: number };

function toRunRow(row: RawRunRow): RunRow {
  return { ...row, verified: row.verified === 1 };
}

/** Returns a row for a run that is not stored in the mirror. Its `run_id` is 0. */
export function createRunRow(resourceName: string, startedAt: string): RunRow {
  return {
    run_id: 0,
    resource: resourceName,
    started_at: startedAt,
    finished_at: null,
    since: null,
    until: null,
    requests: 0,
    retries: 0,
    rows_read: 0,
    rows_new: 0,
    rows_changed: 0,
    rows_removed: 0,
    verified: false,
    outcome: "running",
    error: null,
    covered_from: null,
    api_total: null,
    mirror_total: null,
    differing: null,
  };
}

/**
 * Records the start of a run. If this resource's previous run has no recorded end, it was killed, so it is marked as
 * stopped.
 * @returns the `run_id`
 */
export function insertRun(mirror: Mirror, resourceName: string, startedAt: string): number {
  return mirror.transaction(() => {
    mirror.execute(
      "UPDATE sync_runs SET outcome = 'stopped', error = 'killed' WHERE resource = ? AND outcome = 'running'",
      resourceName,
    );
    const insert = "INSERT INTO sync_runs (resource, started_at, outcome) VALUES (?, ?, 'running')";
    return Number(mirror.execute(insert, resourceName, startedAt).lastInsertRowid);
  });
}

export function updateRun(
  mirror: Mirror,
  runId: number,
  columns: Partial<Omit<RunRow, "run_id" | "resource" | "started_at">>,
): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`);
  const values = Object.values(columns).map((value) => (typeof value === "boolean" ? Number(value) : value));
  const update = `UPDATE sync_runs SET ${assignments.join(", ")} WHERE run_id = ?`;
  mirror.transaction(() => mirror.execute(update, ...values, runId));
}

/**
 * Increases a run's row count and stores its request count, so that both are correct even if the run is killed. Call
 * this in the transaction that writes the rows.
 */
export function addReadRows(
  mirror: Mirror,
  runId: number,
  { rows, requests, retries }: { rows: number; requests: number; retries: number },
): void {
  const update = "UPDATE sync_runs SET rows_read = rows_read + ?, requests = ?, retries = ? WHERE run_id = ?";
  mirror.execute(update, rows, requests, retries, runId);
}

export function addWrittenRows(
  mirror: Mirror,
  runId: number,
  { added = 0, changed = 0, removed = 0 }: { added?: number; changed?: number; removed?: number },
): void {
  if (added + changed + removed === 0) return;
  mirror.execute(
    `UPDATE sync_runs SET rows_new = rows_new + ?, rows_changed = rows_changed + ?, rows_removed = rows_removed + ?
     WHERE run_id = ?`,
    added,
    changed,
    removed,
    runId,
  );
}

export function loadRun(mirror: Mirror, runId: number): RunRow {
  const row = mirror.selectRow<RawRunRow>("SELECT * FROM sync_runs WHERE run_id = ?", runId);
  if (!row) throw new Error(`there is no run ${runId}`);
  return toRunRow(row);
}

export function loadNewestRunId(mirror: Mirror): number {
  return mirror.selectValue<number>("SELECT max(run_id) FROM sync_runs") ?? 0;
}

/*
 * SQL conditions on rows in `sync_runs`. In the names below, `Sync` stands for runs of `sync` only, and `Run` for runs
 * of `sync` or `verify`.
 *
 * | condition         | the run                                                                  | outcome          |
 * | ----------------- | ------------------------------------------------------------------------ | ---------------- |
 * | `doneSyncSql`     | is a sync that completed, even if it was not verified                    | done             |
 * | `finishedSyncSql` | is a sync that ran to its end: no error ended it, and nobody stopped it  | done, incomplete |
 * | `comparedSql`     | is a `verify` run that compared everything, even if it found differences | compared         |
 * | `verifiedSql`     | found that the mirror and the API agree, at least for the dates it read  | done, compared   |
 * | `upToDateSql`     | was not limited by `--until` to dates before its own start               | any              |
 */

const doneSyncSql = "outcome = 'done'";
/**
 * An incomplete sync that ran to its end has stored how many counts differ. If an error ended it, for example because
 * access was denied, `differing` is null.
 */
export const finishedSyncSql = `(${doneSyncSql} OR outcome = 'incomplete' AND differing IS NOT NULL)`;
const comparedSql = "outcome = 'compared'";
const verifiedSql = "verified = 1";
/** `until` is null for resources that are not read by date, which are always fully read. */
const upToDateSql = "(until IS NULL OR unixepoch(until) + 1 >= unixepoch(started_at))";

function findNewestRun(mirror: Mirror, resourceName: string, condition: string): RunRow | null {
  const select = `SELECT * FROM sync_runs WHERE resource = ? AND ${condition} ORDER BY run_id DESC LIMIT 1`;
  const row = mirror.selectRow<RawRunRow>(select, resourceName);
  return row ? toRunRow(row) : null;
}

/** Returns a resource's last run. Ignores `verify` runs that found no differences, unless there are no other runs. */
export function findLastRun(mirror: Mirror, resourceName: string): RunRow | null {
  const agreeingVerify = `(${comparedSql} AND error IS NULL)`;
  return (
    findNewestRun(mirror, resourceName, `NOT ${agreeingVerify}`) ??
    findNewestRun(mirror, resourceName, "true")
  );
}

/** Returns the last successful sync, even if it read only part of the resource. */
export function findLastDoneSync(mirror: Mirror, resourceName: string): RunRow | null {
  return findNewestRun(mirror, resourceName, doneSyncSql);
}

/** Returns the last sync that read everything up to its own start time, even if it could not verify the data. */
export function findLastUpToDateSync(mirror: Mirror, resourceName: string): RunRow | null {
  return findNewestRun(mirror, resourceName, `${doneSyncSql} AND ${upToDateSql}`);
}

/** Returns the last sync that read and verified everything up to its own start time. */
export function findLastVerifiedUpToDateSync(mirror: Mirror, resourceName: string): RunRow | null {
  return findNewestRun(mirror, resourceName, `${doneSyncSql} AND ${verifiedSql} AND ${upToDateSql}`);
}

/** Returns the last sync or `verify` run in which the mirror and the API agreed, even if `--until` limited the run. */
export function findLastVerifiedRun(mirror: Mirror, resourceName: string): RunRow | null {
  return findNewestRun(mirror, resourceName, verifiedSql);
}

/**
 * Returns the last `verify` run that found differences, unless a later run verified everything up to its own start
 * time.
 */
export function findUnresolvedVerify(mirror: Mirror, resourceName: string): RunRow | null {
  const differing = findNewestRun(mirror, resourceName, `${comparedSql} AND error IS NOT NULL`);
  const agreeing = findNewestRun(mirror, resourceName, `${verifiedSql} AND ${upToDateSql}`);
  return differing && differing.run_id > (agreeing?.run_id ?? 0) ? differing : null;
}

/** Returns the last sync that ran to its end, even if it was incomplete, for example because counts differed. */
export function findLastFinishedSync(mirror: Mirror, resourceName: string): RunRow | null {
  return findNewestRun(mirror, resourceName, finishedSyncSql);
}

/**
 * Returns the oldest date that a run or an earlier run of the same resource was to read, in milliseconds since the Unix
 * epoch. Returns -Infinity if there is no lower bound.
 */
export function loadOldestSince(mirror: Mirror, { resource, run_id }: RunRow): number {
  // A null `since` means "no lower bound" only if `until` is not null.
  const select = `SELECT min(coalesce(since, '')) FROM sync_runs
    WHERE resource = ? AND run_id <= ? AND until IS NOT NULL`;
  const since = mirror.selectValue<string>(select, resource, run_id);
  return since ? Date.parse(since) : Number.NEGATIVE_INFINITY;
}

/** Returns the number of records that interrupted syncs have read since the last finished sync. */
export function countInterruptedRows(mirror: Mirror, resourceName: string): number {
  const finishedSyncId = findLastFinishedSync(mirror, resourceName)?.run_id ?? 0;
  const select = "SELECT coalesce(sum(rows_read), 0) FROM sync_runs WHERE resource = ? AND run_id > ?";
  return mirror.selectValue<number>(select, resourceName, finishedSyncId) ?? 0;
}

/** Returns the latest date that a finished sync has reached, in milliseconds since the Unix epoch. */
export function loadFinishedUntil(mirror: Mirror, resourceName: string): number | null {
  const select = `SELECT max(until) FROM sync_runs WHERE resource = ? AND ${finishedSyncSql}`;
  const until = mirror.selectValue<string>(select, resourceName);
  return until === null ? null : Date.parse(until);
}

/** True if at least part of a resource has been read. */
export function hasBeenRead(mirror: Mirror, resource: Resource): boolean {
  const find = `SELECT 1 FROM records WHERE resource = @name
     UNION ALL SELECT 1 FROM coverage WHERE resource IN (@name, @by)
     UNION ALL SELECT 1 FROM sync_runs WHERE resource IN (@name, @by) AND ${doneSyncSql} LIMIT 1`;
  return mirror.selectValue(find, { name: resource.name, by: syncingResource(resource).name }) === 1;
}

/** True if at least one sync of a resource has ended with the outcome `done`. */
export function hasDoneSync(mirror: Mirror, resource: Resource): boolean {
  // With `--as-of`, a temporary table hides `sync_runs`, so the query names the `main` schema.
  const find = `SELECT 1 FROM main.sync_runs WHERE resource IN (?, ?) AND ${doneSyncSql} LIMIT 1`;
  return mirror.selectValue(find, resource.name, syncingResource(resource).name) === 1;
}

/** Returns the start time (ISO 8601) of the first run that read any records, or null if there is none. */
export function loadFirstReadAt(mirror: Mirror): string | null {
  return mirror.selectValue<string>("SELECT min(started_at) FROM sync_runs WHERE rows_read > 0");
}

/**
 * Returns the end time (ISO 8601) of the first run that read records of the given resource, or of any resource if none
 * is given. Returns null if no run has read any records.
 */
export function loadFirstReadEnd(mirror: Mirror, resourceName: string | null): string | null {
  // With `--as-of`, a temporary table hides `sync_runs`, so the query names the `main` schema.
  const select =
    "SELECT min(coalesce(finished_at, started_at)) FROM main.sync_runs WHERE rows_read > 0 AND resource = coalesce(?, resource)";
  return mirror.selectValue<string>(select, resourceName);
}

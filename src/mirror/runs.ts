import type { Mirror } from "./mirror.js";

/** How a run ended; `running` that is not running any more was killed, `verified` was a look by `verify`. */
export type Outcome = "running" | "done" | "verified" | "incomplete" | "failed" | "stopped" | "skipped";

/** One run of one resource: the row of `sync_runs`, and what `sync --json` prints. */
export interface Run {
  run_id: number;
  resource: string;
  started_at: string;
  finished_at: string | null;
  /** The range asked for; null: from the beginning, or not a range. */
  since: string | null;
  until: string | null;
  requests: number;
  retries: number;
  rows_read: number;
  rows_new: number;
  rows_changed: number;
  rows_removed: number;
  verified: boolean;
  outcome: Outcome;
  error: string | null;
}

export type RunCounts = Pick<
  Run,
  "requests" | "retries" | "rows_read" | "rows_new" | "rows_changed" | "rows_removed"
>;

/** Records that a run began; earlier ones that never ended are marked as stopped. */
export function beginRun(mirror: Mirror, resource: string, startedAt: string): Run {
  const { db } = mirror;
  db.prepare(
    "UPDATE sync_runs SET outcome = 'stopped', error = 'killed' WHERE resource = ? AND outcome = 'running'",
  ).run(resource);
  const { lastInsertRowid } = db
    .prepare("INSERT INTO sync_runs (resource, started_at, outcome) VALUES (?, ?, 'running')")
    .run(resource, startedAt);
  return blankRun(resource, startedAt, Number(lastInsertRowid));
}

/** A run before anything has happened; without an id it is never written. */
export function blankRun(resource: string, startedAt: string, runId = 0): Run {
  return {
    run_id: runId,
    resource,
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
  };
}

/** Writes a run's figures as they stand. */
export function saveRun(mirror: Mirror, run: Run): void {
  mirror.db
    .prepare(
      `UPDATE sync_runs SET finished_at = @finished_at, since = @since, until = @until, requests = @requests,
       retries = @retries, rows_read = @rows_read, rows_new = @rows_new, rows_changed = @rows_changed,
       rows_removed = @rows_removed, verified = @verified, outcome = @outcome, error = @error WHERE run_id = @run_id`,
    )
    .run({ ...run, verified: run.verified ? 1 : 0 });
}

/**
 * The latest run of a resource, and the latest that ended well. A `verify` that found nothing wrong tells nothing of how
 * the last sync ended.
 */
export function latestRuns(mirror: Mirror, resource: string): { last: Run | null; lastGood: Run | null } {
  const read = (condition: string): Run | null => {
    const row = mirror.db
      .prepare(`SELECT * FROM sync_runs WHERE resource = ? ${condition} ORDER BY run_id DESC LIMIT 1`)
      .get(resource) as (Omit<Run, "verified"> & { verified: number }) | undefined;
    return row ? { ...row, verified: row.verified === 1 } : null;
  };
  const newest = read("");
  const isPeaceful = newest?.outcome === "verified" && newest.error === null;
  return {
    last: isPeaceful ? read("AND outcome <> 'verified'") : newest,
    lastGood: read("AND outcome = 'done'"),
  };
}

import { counted } from "../lib/counted.js";
import { hideKeys } from "../lib/secrets.js";
import { formatInstant, formatSpan } from "../lib/times.js";
import { type Mirror, statement } from "./mirror.js";

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
  /** The oldest date that the run claims; null: from the beginning, or not read by date. */
  covered_from: string | null;
}

/** Records that a run began; earlier ones that never ended are marked as stopped. */
export function beginRun(mirror: Mirror, resource: string, startedAt: string): Run {
  const { db } = mirror;
  return mirror.transaction(() => {
    db.prepare(
      "UPDATE sync_runs SET outcome = 'stopped', error = 'killed' WHERE resource = ? AND outcome = 'running'",
    ).run(resource);
    const { lastInsertRowid } = db
      .prepare("INSERT INTO sync_runs (resource, started_at, outcome) VALUES (?, ?, 'running')")
      .run(resource, startedAt);
    return blankRun(resource, startedAt, Number(lastInsertRowid));
  });
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
    covered_from: null,
  };
}

/** Writes a run's figures as they stand: with what it writes, so that one that is killed has told what it kept. */
export function saveRun(mirror: Mirror, run: Run): void {
  const save = statement(
    mirror,
    `UPDATE sync_runs SET finished_at = @finished_at, since = @since, until = @until, requests = @requests,
     retries = @retries, rows_read = @rows_read, rows_new = @rows_new, rows_changed = @rows_changed,
     rows_removed = @rows_removed, verified = @verified, outcome = @outcome, error = @error, covered_from = @covered_from WHERE run_id = @run_id`,
  );
  const write = () => save.run({ ...run, rows_read: rowsRead(run), verified: run.verified ? 1 : 0 });
  // Beside each answer's rows, one statement needs no savepoint.
  if (mirror.db.inTransaction) write();
  else mirror.transaction(write);
}

/** The last answer's records count as read with the next one, which a stopped run has not seen. */
function rowsRead({ rows_changed, rows_new, rows_read }: Run): number {
  return Math.max(rows_read, rows_new + rows_changed);
}

function newest(mirror: Mirror, resource: string, condition = ""): Run | null {
  const row = mirror.db
    .prepare(`SELECT * FROM sync_runs WHERE resource = ? ${condition} ORDER BY run_id DESC LIMIT 1`)
    .get(resource) as (Omit<Run, "verified"> & { verified: number }) | undefined;
  return row ? { ...row, verified: row.verified === 1 } : null;
}

/** The latest run of a resource: a `verify` that found nothing wrong tells nothing of how the last sync ended. */
export function lastRun(mirror: Mirror, resource: string): Run | null {
  const last = newest(mirror, resource);
  const isPeaceful = last?.outcome === "verified" && last.error === null;
  return isPeaceful ? newest(mirror, resource, "AND outcome <> 'verified'") : last;
}

/**
 * Whether a resource was ever read, if only in part: an empty table of one that was not says nothing.
 * @param by the resource that it is read with
 */
export function wasRead({ db }: Mirror, name: string, by = name): boolean {
  const found = db.prepare(
    `SELECT 1 FROM records WHERE resource = @name
     UNION ALL SELECT 1 FROM coverage WHERE resource IN (@name, @by)
     UNION ALL SELECT 1 FROM sync_runs WHERE resource IN (@name, @by) AND outcome = 'done' LIMIT 1`,
  );
  return found.get({ name, by }) !== undefined;
}

/** When the first run began that read something, of a resource or of any: what was before it, nobody saw. */
export function firstRead({ db }: Mirror, resource?: string): string | null {
  // Of the mirror itself, where a view of an earlier time lies over it.
  const first = db.prepare(
    "SELECT min(started_at) FROM main.sync_runs WHERE rows_read > 0 AND resource = coalesce(?, resource)",
  );
  return first.pluck().get(resource ?? null) as string | null;
}

/**
 * Whether the sync of a resource before this night's began later: one of their clocks is wrong, and nobody knows which.
 * That a command is given once more tells no more of it.
 */
export function isSetBack({ db }: Mirror, { resource, run_id, started_at }: Run): boolean {
  const evening = formatInstant(Date.parse(started_at) - 12 * 3_600_000);
  const before = db.prepare(
    `SELECT started_at FROM sync_runs WHERE resource = @resource AND (run_id < @run_id OR @run_id = 0)
       AND outcome IN ('done', 'incomplete') AND NOT started_at BETWEEN @evening AND @started_at
     ORDER BY run_id DESC LIMIT 1`,
  );
  const found = before.pluck().get({ resource, run_id, started_at, evening }) as string | undefined;
  return found !== undefined && found > started_at;
}

/** A proof of how things stand: of all that there is, and up to its own time. */
const isProof = "verified = 1 AND coalesce(until >= started_at, 1)";

/** The latest sync that was one. */
export function lastGood(mirror: Mirror, resource: string): Run | null {
  return newest(mirror, resource, `AND outcome = 'done' AND ${isProof}`);
}

/** The latest run that nothing spoke against, of whatever it claimed. */
export function lastProven(mirror: Mirror, resource: string): Run | null {
  return newest(mirror, resource, "AND verified = 1 AND outcome IN ('done', 'verified') AND error IS NULL");
}

/** The latest `verify` that found something, as long as no later proof says otherwise. */
export function lastFinding(mirror: Mirror, resource: string): Run | null {
  const found = newest(mirror, resource, "AND outcome = 'verified' AND error IS NOT NULL");
  const proven = found && newest(mirror, resource, `AND ${isProof}`);
  return found && found.run_id > (proven?.run_id ?? 0) ? found : null;
}

/** How a run ended; `error` where it did not end well. */
export interface RunEnd {
  run: Run;
  error: unknown;
}

/** Where a run is recorded, and by what: `stats` are the requests and retries of this process so far. */
interface Recorder {
  mirror: Mirror;
  clock: { now(): number };
  api: { readonly stats: Readonly<Pick<Run, "requests" | "retries">> };
}

/** Records a run of a resource however it ends: `work` returns its outcome, or throws. */
export async function recordRun(
  { mirror, clock, api }: Recorder,
  resource: string,
  { work, outcomeOf }: { work(run: Run): Promise<Outcome>; outcomeOf(error: unknown): Outcome },
): Promise<RunEnd> {
  const before = { ...api.stats };
  const row = beginRun(mirror, resource, formatInstant(clock.now()));
  const run = Object.defineProperties(row, {
    requests: { get: () => api.stats.requests - before.requests, enumerable: true },
    retries: { get: () => api.stats.retries - before.retries, enumerable: true },
  });
  let error: unknown = null;
  try {
    run.outcome = await work(run);
  } catch (caught) {
    error = caught;
    run.outcome = outcomeOf(caught);
    // It is told by `status` later, on stdout too.
    run.error = hideKeys(caught instanceof Error ? caught.message : String(caught));
  }
  run.rows_read = rowsRead(run);
  run.finished_at = formatInstant(clock.now());
  try {
    saveRun(mirror, run);
  } catch (second) {
    // A disk that is full, or a mirror that is gone, cannot take the run either: what ended it is the error to tell.
    throw error ?? second;
  }
  // Later requests are another run's.
  return { run: { ...run }, error };
}

/** The line that cron shows. @param floor the oldest date that was ever asked for, ISO 8601; null: from the beginning */
export function runLine(run: Run, floor: string | null): string {
  const took = formatSpan(
    Math.max(0, Date.parse(run.finished_at ?? run.started_at) - Date.parse(run.started_at)),
  );
  const counts = [
    `${run.rows_read} read`,
    `${run.rows_new} new`,
    `${run.rows_changed} changed`,
    `${run.rows_removed} removed`,
    counted(run.requests, "request"),
    ...(run.retries > 0 ? [counted(run.retries, "retry")] : []),
  ].join(", ");
  const why = run.error && run.outcome !== "stopped" ? `: ${run.error}` : "";
  const older =
    run.covered_from === floor
      ? `older ${run.resource} were never asked for; \`--full\` reads them`
      : "from above what was never read";
  const since = run.covered_from ? ` from ${run.covered_from.slice(0, 10)} (${older})` : "";
  const done = run.verified ? `verified${since}` : "a partial run: a part of what there is, and no proof";
  return `${counts} in ${took}, ${run.outcome === "done" ? done : `${run.outcome}${why}`}`;
}

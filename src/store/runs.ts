import { AccessForbidden, BrandapiError } from "../errors.js";
import type { CoveredRange } from "../util/ranges.js";
import { hideKeys } from "../util/redact-keys.js";
import { formatInstant } from "../util/times.js";
import { deleteInfo, type Mirror, readInfo, statement, writeInfo } from "./database.js";
import { readCoverage } from "./sync-state.js";

/** The last refusal (402 or 403) of a resource. `at`: ISO 8601. */
export interface Refusal {
  at: string;
  error: string;
  hint: string | null;
}

const nameFor = (resource: string) => `refused:${resource}`;

/** Records that the key or the plan does not allow a resource; null: it was read again. */
export function noteRefusal(mirror: Mirror, resource: string, refusal: Refusal | null): void {
  const name = nameFor(resource);
  mirror.transaction(() =>
    refusal ? writeInfo(mirror, name, JSON.stringify(refusal)) : deleteInfo(mirror, name),
  );
}

/** Returns the refusal that ended the resource's last run that reached the API; null if there was none. */
export function readRefusal(mirror: Mirror, resource: string): Refusal | null {
  const noted = readInfo(mirror, nameFor(resource));
  return noted === null ? null : (JSON.parse(noted) as Refusal);
}

/** Returns the API's refusal if it is the error or its cause. */
export function refusalIn(error: unknown): AccessForbidden | null {
  if (error instanceof AccessForbidden) return error;
  return error instanceof BrandapiError && error.cause instanceof AccessForbidden ? error.cause : null;
}

/**
 * How a run ended. `running` of a run that is over: it was killed. `verified`: a run of `verify` that came to its end, also
 * if it found a difference, which `error` then says.
 */
export type Outcome = "running" | "done" | "verified" | "incomplete" | "failed" | "stopped" | "skipped";

/** One run of one resource: the row of `sync_runs`, and what `sync --json` prints. */
export interface Run {
  run_id: number;
  resource: string;
  started_at: string;
  finished_at: string | null;
  /** The oldest and the newest date that the run was to read; null: from the beginning, or not by date. */
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
  /** The API's number of records at the end, and the mirror's; null: nothing was counted. */
  api_total: number | null;
  mirror_total: number | null;
  /** How many counts differ; of a list that `verify` compared, how many records. */
  differing: number | null;
}

/** Records that a run began. Earlier runs that never ended are marked as stopped. */
export function beginRun(mirror: Mirror, resource: string, startedAt: string): Run {
  return mirror.transaction(() => {
    statement(
      mirror,
      "UPDATE sync_runs SET outcome = 'stopped', error = 'killed' WHERE resource = ? AND outcome = 'running'",
    ).run(resource);
    const insert = "INSERT INTO sync_runs (resource, started_at, outcome) VALUES (?, ?, 'running')";
    const { lastInsertRowid } = statement(mirror, insert).run(resource, startedAt);
    return blankRun(resource, startedAt, Number(lastInsertRowid));
  });
}

/** Returns a run before anything has happened. Without an id it is never written. */
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
    api_total: null,
    mirror_total: null,
    differing: null,
  };
}

const written = Object.keys(blankRun("", "")).filter(
  (column) => !/^(run_id|resource|started_at)$/.test(column),
);
const update = `UPDATE sync_runs SET ${written.map((column) => `${column} = @${column}`)} WHERE run_id = @run_id`;

/** Writes a run's figures as they stand: in the transaction of an answer, they stay true of a run that is killed. */
export function saveRun(mirror: Mirror, run: Run): void {
  const write = () => statement(mirror, update).run({ ...run, verified: run.verified ? 1 : 0 });
  // Beside an answer's rows one statement needs no savepoint.
  if (mirror.db.inTransaction) write();
  else mirror.transaction(write);
}

/** How a run ended; `error` if it did not end well. */
export interface RunEnd {
  run: Run;
  error: unknown;
}

/** `stats` are the requests and retries of this process so far; `keys` are hidden in the error. */
interface RunAccess {
  mirror: Mirror;
  clock: { now(): number };
  api: { readonly stats: Readonly<Pick<Run, "requests" | "retries">> };
  keys: ReadonlySet<string>;
}

/** Records a run of a resource however it ends: `work` returns its outcome, or throws. */
export async function recordRun(
  { mirror, clock, api, keys }: RunAccess,
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
    run.error = caught instanceof Error ? caught.message : String(caught);
  }
  // `status` prints it later.
  if (run.error !== null) run.error = hideKeys(run.error, keys);
  run.finished_at = formatInstant(clock.now());
  try {
    saveRun(mirror, run);
    const refusal = refusalIn(error);
    const { message, hint = null } = refusal ?? {};
    if (message !== undefined)
      noteRefusal(mirror, resource, { at: run.finished_at, error: hideKeys(message, keys), hint });
    else if (run.outcome !== "failed" && run.outcome !== "stopped") noteRefusal(mirror, resource, null);
  } catch (second) {
    // A full disk cannot take the run either: the first error is the one to report.
    throw error ?? second;
  }
  // Later requests belong to the next run.
  return { run: { ...run }, error };
}

function newest(mirror: Mirror, resource: string, condition = ""): Run | null {
  const select = `SELECT * FROM sync_runs WHERE resource = ? ${condition} ORDER BY run_id DESC LIMIT 1`;
  const row = statement(mirror, select).get(resource) as
    | (Omit<Run, "verified"> & { verified: number })
    | undefined;
  return row ? { ...row, verified: row.verified === 1 } : null;
}

/** Returns the `run_id` of the newest run of any resource; 0 if there is none. */
export function newestRun({ db }: Mirror): number {
  return db.prepare("SELECT coalesce(max(run_id), 0) FROM sync_runs").pluck().get() as number;
}

/** Returns a resource's latest run. A `verify` that found no difference is passed over: it does not say how the last sync ended. */
export function lastRun(mirror: Mirror, resource: string): Run | null {
  return (
    newest(mirror, resource, "AND NOT (outcome = 'verified' AND error IS NULL)") ?? newest(mirror, resource)
  );
}

const reachesItsTime = "coalesce(unixepoch(until) + 1 >= unixepoch(started_at), 1)";
/** A run that proves the state of a resource at its own time, not of a part of it only. */
const isProof = `verified = 1 AND ${reachesItsTime}`;

/** Returns the latest sync that was verified up to its own time. */
export function lastGood(mirror: Mirror, resource: string): Run | null {
  return newest(mirror, resource, `AND outcome = 'done' AND ${isProof}`);
}

/** Returns the latest sync that came to its end and read up to its own time, verified or not. */
export function lastDone(mirror: Mirror, resource: string): Run | null {
  return newest(mirror, resource, `AND outcome = 'done' AND ${reachesItsTime}`);
}

/** Returns the latest run that was verified, whatever range it claimed. */
export function lastProven(mirror: Mirror, resource: string): Run | null {
  return newest(mirror, resource, "AND verified = 1 AND outcome IN ('done', 'verified') AND error IS NULL");
}

/** Returns the latest `verify` that found a difference, unless a later run proved otherwise. */
export function lastFinding(mirror: Mirror, resource: string): Run | null {
  const found = newest(mirror, resource, "AND outcome = 'verified' AND error IS NOT NULL");
  const proven = found && newest(mirror, resource, `AND ${isProof}`);
  return found && found.run_id > (proven?.run_id ?? 0) ? found : null;
}

/**
 * True if a resource was ever read, even in part: an empty table of one that was not means nothing.
 * @param by the resource that it is read with
 */
export function wasRead(mirror: Mirror, name: string, by = name): boolean {
  const find = statement(
    mirror,
    `SELECT 1 FROM records WHERE resource = @name
     UNION ALL SELECT 1 FROM coverage WHERE resource IN (@name, @by)
     UNION ALL SELECT 1 FROM sync_runs WHERE resource IN (@name, @by) AND outcome = 'done' LIMIT 1`,
  );
  return find.get({ name, by }) !== undefined;
}

/** Returns when the first run began that read any records, of a resource or at all: nothing older was ever seen. */
export function firstRead({ db }: Mirror, resource?: string): string | null {
  // `main`: a view of an earlier time may lie over the table.
  const first = db.prepare(
    "SELECT min(started_at) FROM main.sync_runs WHERE rows_read > 0 AND resource = coalesce(?, resource)",
  );
  return first.pluck().get(resource ?? null) as string | null;
}

/** The runs of a resource that came to their end; times in milliseconds since 1970. */
interface Finished {
  /** The newest of them; 0 before the first. */
  runId: number;
  /** When the newest ended. */
  at: number;
  /** The last instant that they have read; null if none was read by date. */
  until: number | null;
}

/**
 * Returns the parts of the coverage that come from runs whose counts agreed at the end. A run that was stopped, or whose
 * counts differ, may have covered dates without having all of their records.
 */
export function confirmedCoverage(mirror: Mirror, resource: string): CoveredRange[] {
  const select = `SELECT run_id FROM sync_runs
    WHERE resource = ? AND outcome IN ('done', 'incomplete') AND coalesce(differing, 0) = 0`;
  const runs = new Set(statement(mirror, select).pluck().all(resource) as number[]);
  return readCoverage(mirror, resource).filter(({ runId }) => runs.has(runId));
}

export function finishedRuns(mirror: Mirror, resource: string): Finished {
  const select = `SELECT coalesce(max(run_id), 0) AS runId, max(finished_at) AS at, max(until) AS until FROM sync_runs
    WHERE resource = ? AND outcome IN ('done', 'incomplete')`;
  type Row = { runId: number; at: string | null; until: string | null };
  const { runId, at, until } = statement(mirror, select).get(resource) as Row;
  return { runId, at: Date.parse(at ?? "") || 0, until: until === null ? null : Date.parse(until) };
}

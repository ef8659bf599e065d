import { AccessForbidden, BrandapiError } from "../errors.js";
import type { CoveredRange } from "../util/ranges.js";
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

/** Records that a run began, and returns its `run_id`. Marks earlier runs that never ended as stopped. */
export function beginRun(mirror: Mirror, resource: string, startedAt: string): number {
  return mirror.transaction(() => {
    statement(
      mirror,
      "UPDATE sync_runs SET outcome = 'stopped', error = 'killed' WHERE resource = ? AND outcome = 'running'",
    ).run(resource);
    const insert = "INSERT INTO sync_runs (resource, started_at, outcome) VALUES (?, ?, 'running')";
    return Number(statement(mirror, insert).run(resource, startedAt).lastInsertRowid);
  });
}

/** Sets columns of a run's row. */
export function updateRun(
  mirror: Mirror,
  runId: number,
  columns: Partial<Omit<Run, "run_id" | "resource" | "started_at">>,
): void {
  const assignments = Object.keys(columns).map((column) => `${column} = @${column}`);
  const values = { ...columns, ...("verified" in columns && { verified: columns.verified ? 1 : 0 }) };
  const update = `UPDATE sync_runs SET ${assignments.join(", ")} WHERE run_id = @run_id`;
  mirror.transaction(() => statement(mirror, update).run({ ...values, run_id: runId }));
}

/** Adds written rows to a run's row. Call it in the transaction that writes them. */
export function addWrittenRows(
  mirror: Mirror,
  runId: number,
  { added = 0, changed = 0, removed = 0 }: { added?: number; changed?: number; removed?: number },
): void {
  if (added + changed + removed === 0) return;
  statement(
    mirror,
    `UPDATE sync_runs SET rows_new = rows_new + ?, rows_changed = rows_changed + ?, rows_removed = rows_removed + ?
     WHERE run_id = ?`,
  ).run(added, changed, removed, runId);
}

/**
 * Adds rows that the API returned to a run's row, and sets the requests so far: they stay correct if the run is killed.
 * Call it in the transaction that writes the rows.
 */
export function addReadRows(
  mirror: Mirror,
  runId: number,
  { rows, requests, retries }: { rows: number; requests: number; retries: number },
): void {
  statement(
    mirror,
    "UPDATE sync_runs SET rows_read = rows_read + ?, requests = ?, retries = ? WHERE run_id = ?",
  ).run(rows, requests, retries, runId);
}

/** Returns the row of a run that is not recorded. */
export function blankRun(resource: string, startedAt: string): Run {
  return {
    run_id: 0,
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

/** Returns the row of a run. */
export function readRun(mirror: Mirror, runId: number): Run {
  const row = statement(mirror, "SELECT * FROM sync_runs WHERE run_id = ?").get(runId);
  return fromRow(row as RunRow);
}

type RunRow = Omit<Run, "verified"> & { verified: number };

function fromRow(row: RunRow): Run {
  return { ...row, verified: row.verified === 1 };
}

function newest(mirror: Mirror, resource: string, condition = ""): Run | null {
  const select = `SELECT * FROM sync_runs WHERE resource = ? ${condition} ORDER BY run_id DESC LIMIT 1`;
  const row = statement(mirror, select).get(resource);
  return row === undefined ? null : fromRow(row as RunRow);
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

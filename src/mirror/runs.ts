import { hideKeys } from "../lib/secrets.js";
import { formatInstant } from "../lib/times.js";
import { noteRefusal, refusalIn } from "./lost-access.js";
import { type Mirror, statement } from "./mirror.js";

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

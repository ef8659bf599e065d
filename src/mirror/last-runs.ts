import { type Mirror, statement } from "./mirror.js";
import type { Run } from "./runs.js";

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

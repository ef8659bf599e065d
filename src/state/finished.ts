import type { Covered } from "../lib/ranges.js";
import { type Mirror, statement } from "../mirror/index.js";
import { readCoverage } from "./coverage.js";

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
export function confirmedCoverage(mirror: Mirror, resource: string): Covered[] {
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

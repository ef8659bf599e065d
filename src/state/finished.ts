import { type Mirror, statement } from "../mirror/index.js";

/** The runs of a resource that came to their end; times in milliseconds since 1970. */
interface Finished {
  /** The newest of them; 0 before the first. */
  runId: number;
  /** When the newest ended. */
  at: number;
  /** The last instant that they have read; null if none was read by date. */
  until: number | null;
}

export function finishedRuns(mirror: Mirror, resource: string): Finished {
  const select = `SELECT coalesce(max(run_id), 0) AS runId, max(finished_at) AS at, max(until) AS until FROM sync_runs
    WHERE resource = ? AND outcome IN ('done', 'incomplete')`;
  type Row = { runId: number; at: string | null; until: string | null };
  const { runId, at, until } = statement(mirror, select).get(resource) as Row;
  return { runId, at: Date.parse(at ?? "") || 0, until: until === null ? null : Date.parse(until) };
}

import type { Mirror, UnderWay } from "../../mirror/index.js";
import { type Health, type ResourceHealth, readHealth } from "../health.js";

/** What speaks for the orders of this mirror, and what against. Times are ISO 8601. */
export interface Proof {
  /** The newest read or `verify` that nothing spoke against. */
  proven: { at: string; by: "sync" | "verify"; through: string; from: string | null } | null;
  /** What the newest run that did not end well said, where none proved the orders since. */
  against: string | null;
  /** When the day read longest ago was read. */
  oldest_read_at: string | null;
  /** What was read completely. */
  covered: Health["resources"][number]["covered"];
  /** What lies unread between what was read. */
  gaps: Health["resources"][number]["gaps"];
  /** When each resource was last read well; null: never. */
  read: { resource: string; at: string | null }[];
}

/**
 * @param reached up to when orders were read: ages are told as of then, so that the same mirror tells the same
 * @param underWay the run that holds the mirror: it speaks against nothing, one that was killed does
 */
export function readProof(mirror: Mirror, reached: string, underWay: UnderWay | null): Proof {
  const { resources } = readHealth(mirror, Date.parse(reached), null, underWay);
  const orders = resources.find(({ resource }) => resource === "orders");
  const { run_id, proven } = latestProof(mirror);
  return {
    proven,
    against: orders?.found?.error ?? failureSince(run_id, orders?.last_run ?? null),
    oldest_read_at: orders?.closing?.oldest_read_at ?? null,
    covered: orders?.covered ?? [],
    gaps: orders?.gaps ?? [],
    read: resources.map(({ resource, last_success_at }) => ({ resource, at: last_success_at })),
  };
}

function failureSince(proof: number, last: ResourceHealth["last_run"]): string | null {
  if (!last || last.run_id < proof || ["done", "running", "skipped"].includes(last.outcome)) return null;
  const { error, outcome } = last;
  return outcome === "stopped" || error === null ? `the last run was ${outcome}` : error;
}

function latestProof({ db }: Mirror): { run_id: number; proven: Proof["proven"] } {
  const run = db
    .prepare(
      `SELECT run_id, started_at, finished_at, until, outcome,
         (SELECT CASE WHEN count(from_at) = count(*) THEN min(from_at) END FROM coverage WHERE resource = 'orders') AS covered_from
       FROM sync_runs WHERE resource = 'orders' AND verified = 1 AND outcome IN ('done', 'verified') AND error IS NULL
       ORDER BY run_id DESC LIMIT 1`,
    )
    .get() as
    | ({ run_id: number } & Record<"started_at" | "outcome", string> &
        Record<"finished_at" | "until" | "covered_from", string | null>)
    | undefined;
  if (!run) return { run_id: 0, proven: null };
  const { run_id, started_at, finished_at, until, outcome, covered_from: from } = run;
  const through = until !== null && until < started_at ? until : started_at;
  const by = outcome === "verified" ? "verify" : "sync";
  return { run_id, proven: { at: finished_at ?? started_at, by, through, from } };
}

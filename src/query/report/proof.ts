import { lastProven, type Mirror, type Run, type UnderWay } from "../../mirror/index.js";
import { orders as resource } from "../../resources/orders.js";
import { type ResourceHealth, readResourceHealth } from "../health.js";

/** The evidence for the orders of this mirror. Times are ISO 8601. */
export interface Proof extends Pick<ResourceHealth, "oldest_read_at" | "covered" | "gaps"> {
  /** The newest verified run. */
  proven: { at: string; by: "sync" | "verify"; through: string; from: string | null } | null;
  /** The error of the newest run, unless a later one was verified. */
  against: string | null;
}

/** @param underWay the run that holds the mirror: a running sync is no evidence against the data; a killed one is */
export function readProof(mirror: Mirror, underWay: UnderWay | null): Proof {
  const orders = readResourceHealth(mirror, resource, { now: 0, maxAgeMs: null, underWay });
  const latest = lastProven(mirror, "orders");
  return {
    proven: latest ? provenBy(mirror, latest) : null,
    against: orders?.found?.error ?? failureSince(latest?.run_id ?? 0, orders?.last_run ?? null),
    oldest_read_at: orders?.oldest_read_at ?? null,
    covered: orders?.covered ?? [],
    gaps: orders?.gaps ?? [],
  };
}

function failureSince(proof: number, last: ResourceHealth["last_run"]): string | null {
  if (!last || last.run_id < proof || ["done", "running", "skipped"].includes(last.outcome)) return null;
  const { error, outcome } = last;
  return outcome === "stopped" || error === null ? `the last run was ${outcome}` : error;
}

/** Returns the range without a gap that a run proved. `verify` may read nothing: it proves what earlier runs read. */
function provenBy({ db }: Mirror, run: Run): Proof["proven"] {
  const { run_id, started_at, finished_at, until, outcome } = run;
  const through = until !== null && until < started_at ? until : started_at;
  const from = db
    .prepare(
      `SELECT from_at FROM run_coverage WHERE coalesce(from_at, '') <= @through AND run_id = (
         SELECT max(run_id) FROM run_coverage JOIN sync_runs USING (run_id) WHERE resource = 'orders' AND run_id <= @run_id)
       ORDER BY from_at DESC LIMIT 1`,
    )
    .pluck()
    .get({ run_id, through }) as string | null | undefined;
  const by = outcome === "verified" ? "verify" : "sync";
  return from === undefined ? null : { at: finished_at ?? started_at, by, through, from };
}

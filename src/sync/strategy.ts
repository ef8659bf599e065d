import type { Strategy } from "../resources/resource.js";
import type { RunRow } from "../store/state/runs.js";
import type { SyncRun } from "./session.js";

/** A way to read a resource. The members are methods, so that a strategy for one kind is assignable to `SyncStrategy`. */
export interface SyncStrategy<How extends Strategy = Strategy> {
  /** Estimates the requests that `read` would send. Requests only counts and daily totals. */
  plan(run: SyncRun<How>): Promise<PlanStep[]>;
  read(run: SyncRun<How>): Promise<SyncResult>;
}

/** A line in the output of `sync --dry-run`. */
export interface PlanStep {
  what: string;
  requests: number;
  /** True if `requests` is only a minimum. */
  open?: boolean;
}

export interface SyncResult {
  /** The reasons why the run is incomplete; empty if it is complete. */
  incompleteReasons: IncompleteReason[];
  /** True if the run read only a part of the resource, or cannot verify the data. */
  isPartial: boolean;
  /** The totals of the counts; undefined if the run requested no counts. */
  totals?: CountTotals;
  /** The start of the covered dates, ISO 8601; null if everything was read, or the resource has no dates. */
  coveredFrom?: string | null;
  /** The number of rows in the list, without the rows of the details. */
  listRows?: number;
  /** False if the run compared counts but no daily totals, although the resource has daily totals. */
  comparesTotals?: boolean;
}

/** A reason why a run is incomplete, as a clause. */
export interface IncompleteReason {
  text: string;
  /** The next step for the user. The default is to run the same command again. */
  hint?: string;
}

/** The numbers of records in the API and in the mirror, and the number of differing counts, as in `sync_runs`. */
export type CountTotals = Pick<RunRow, "api_total" | "mirror_total" | "differing">;

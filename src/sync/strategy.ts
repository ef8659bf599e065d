import type { Strategy } from "../resources/resource.js";
import type { Run } from "../store/state/runs.js";
import type { SyncRun } from "./session.js";

/** A way to read a resource. Parameters are checked bivariantly, because these are methods: see `strategies` in `run.ts`. */
export interface SyncStrategy<How extends Strategy = Strategy> {
  /** Returns the steps of `read` and an estimate of their requests. It sends only requests for counts and daily totals. */
  plan(run: SyncRun<How>): Promise<PlanStep[]>;
  /** Reads the resource into the mirror. */
  read(run: SyncRun<How>): Promise<SyncResult>;
}

/** One line of a plan. */
export interface PlanStep {
  what: string;
  requests: number;
  /** True if the estimate is a minimum. */
  open?: boolean;
}

/** The result of reading a resource. */
export interface SyncResult {
  /** The run is complete if this is empty. */
  incompleteReasons: IncompleteReason[];
  /** True if the run read only a part of the resource, or cannot verify what it read. */
  isPartial: boolean;
  /** Undefined if no count was requested. */
  totals?: CountTotals;
  /** The oldest date that was read, ISO 8601; null: from the beginning, or not read by date. */
  coveredFrom?: string | null;
  /** The number of rows of the list, if the rows of details are counted as well. */
  listRows?: number;
  /** False if the run compared counts, but no daily totals, although the API has them. */
  comparesTotals?: boolean;
}

/** Something that a run could not do, as a clause. */
export interface IncompleteReason {
  text: string;
  /** Default: run the same command again. */
  hint?: string;
}

/**
 * The number of records in the API and in the mirror at the end of a run, and the number of differing counts: columns of
 * `sync_runs`.
 */
export type CountTotals = Pick<Run, "api_total" | "mirror_total" | "differing">;

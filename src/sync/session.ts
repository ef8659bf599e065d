import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import type { DatedStrategy, Resource, Strategy, TotalsSource } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import type { RecordWriter } from "../store/record-writer.js";
import { addReadRows, type RunRow } from "../store/runs.js";
import type { SyncState, TotalsByDay } from "../store/sync-state.js";
import type { Json } from "../util/json-value.js";
import type { Reporter, Task } from "../util/reporter.js";
import { dayMs } from "../util/timestamp.js";

/*
 * The types that the files in this folder share: a command's session, a resource's run, and a strategy's result. `A1`
 * to `A12` in comments are the assumptions in `README.md`.
 */

/** The options of a sync. Times are in milliseconds since 1970. */
export interface SyncOptions {
  since?: number | undefined;
  until?: number | undefined;
  full: boolean;
  /** The length of the time span before the end of the last finished run that each run re-reads. */
  windowMs: number;
  /** True to remove records even if implausibly many are missing. */
  acceptRemovals: boolean;
  /** The maximum number of requests for re-reading days and ranges whose totals or counts differ. */
  budget: number;
  /** The number of requests that the audit sends to re-read old records. */
  audit: number;
  /** True to re-read all marked slices, not only the slices in the requested ranges. */
  allMarked: boolean;
  details: "all" | "changed" | "none";
  groupBy: string;
  hosts: readonly string[];
  perHost: boolean;
}

export const defaultOptions: SyncOptions = {
  full: false,
  windowMs: 30 * dayMs,
  acceptRemovals: false,
  budget: 100,
  audit: 5,
  allMarked: false,
  details: "changed",
  groupBy: "day",
  hosts: [],
  perHost: false,
};

/** The API's daily analytics points, keyed by day (`2026-01-31`). */
export type DailyPoints = ReadonlyMap<string, Json>;

/** A command's mirror, API client and options. */
export interface SyncSession {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  /** The API keys in use, which must not appear in recorded errors. */
  keys: ReadonlySet<string>;
  reporter: Reporter;
  options: SyncOptions;
  /** A cache of the points that the command has requested. Orders and clicks share these points. */
  dailyPoints: Map<TotalsSource, Promise<DailyPoints>>;
}

/** A `sync` or `verify` run for one resource. */
export interface SyncRun<How extends Strategy = Strategy> extends SyncSession {
  resource: Resource<How>;
  /** The `run_id` in `sync_runs`, or 0 if the run is not recorded. */
  runId: number;
  /** The newest instant to read: the end of the last complete second before the run, in milliseconds. */
  readUntil: number;
  readonly writer: RecordWriter;
  readonly state: SyncState;
  readonly progress: ReadProgress;
}

export type DatedRun = SyncRun<DatedStrategy>;

/** A `sync` run for a resource with dates, including its daily totals. */
export interface DatedSync extends DatedRun {
  /** The API's daily totals, requested before any record was read, or null if the API returned none. */
  readonly apiTotals: TotalsByDay | null;
  /** The slices that never settled (A9), as reasons why the run is incomplete. `writeSlice` adds to them. */
  readonly incompleteSlices: IncompleteReason[];
}

/**
 * A way to read a resource. The members are methods, so that a strategy for one kind of resource is assignable to
 * `SyncStrategy`.
 */
export interface SyncStrategy<How extends Strategy = Strategy> {
  /** Estimates how many requests `read` would send. Only counts and daily totals are requested for this. */
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
  /** The reasons why the run is incomplete. The list is empty if the run is complete. */
  incompleteReasons: IncompleteReason[];
  /** True if the run read only part of the resource, or cannot verify the data. */
  isPartial: boolean;
  /** The sums of all counts, or undefined if the run requested no counts. */
  totals?: CountTotals;
  /** The start of the covered dates (ISO 8601), or null if everything was read or if the resource has no dates. */
  coveredFrom?: string | null;
  /** The number of rows from the list, excluding rows from the details. */
  listRows?: number;
  /** False if the run compared counts but no daily totals, although the resource has daily totals. */
  comparesTotals?: boolean;
}

/** A reason why a run is incomplete. The text is a clause, not a sentence. */
export interface IncompleteReason {
  text: string;
  /** The next step for the user. The default is to run the same command again. */
  hint?: string;
}

/** The record counts in the API and in the mirror, and the number of counts that differ, as stored in `sync_runs`. */
export type CountTotals = Pick<RunRow, "api_total" | "mirror_total" | "differing">;

/** A run whose row in `sync_runs` exists. */
export interface StartedRun {
  /** The `run_id` in `sync_runs`, or 0 if the run is not recorded. */
  id: number;
  resource: string;
  /** The number of requests and retries before the run. */
  before: Readonly<ApiClient["stats"]>;
}

/** Counts a run's rows and responses, both for its row in `sync_runs` and for the progress bar. */
export class ReadProgress {
  #responses = 0;
  #rows = 0;

  constructor(
    private readonly session: Pick<SyncSession, "api" | "mirror">,
    private readonly started: StartedRun,
    private readonly task: Task,
  ) {}

  /** Adds returned rows to the run's row in `sync_runs`. Must be called in the transaction that writes the records. */
  addRows(rows: number): void {
    const { api, mirror } = this.session;
    const { before, id } = this.started;
    const requests = api.stats.requests - before.requests;
    const retries = api.stats.retries - before.retries;
    this.#rows += rows;
    addReadRows(mirror, id, { rows, requests, retries });
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * Advances the progress bar by one response.
   * @param remaining the expected number of further requests
   */
  advance(remaining: number): void {
    this.#responses += 1;
    this.task.update({ done: this.#responses, total: this.#responses + Math.max(0, remaining) });
  }

  /** True if the API has returned at least one response with data. */
  hasResponses(): boolean {
    return this.#responses > 0;
  }
}

/** Starts a request budget. The returned function returns the number of requests left. */
export function startBudget({ api }: Pick<SyncRun, "api">, requests: number): () => number {
  const end = api.stats.requests + requests;
  return () => end - api.stats.requests;
}

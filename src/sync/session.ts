import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import { AccessForbidden, BrandapiError, KeyRejected, Stopped } from "../errors.js";
import type { DailyTotals, DatedStrategy, Resource, Strategy } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import type { RecordWriter } from "../store/records.js";
import { addReadRows, type Run } from "../store/runs.js";
import type { SyncState } from "../store/sync-state.js";
import type { Json } from "../util/json-value.js";
import type { Reporter, Task } from "../util/reporter.js";

/** The options of a sync; times in milliseconds since 1970. */
export interface SyncOptions {
  since?: number | undefined;
  until?: number | undefined;
  full: boolean;
  /** How far a run reads back before the end of the last finished run. */
  windowMs: number;
  /** Apply removals that look implausible. */
  acceptRemovals: boolean;
  /** Requests for re-reading days and ranges whose totals or counts differ. */
  budget: number;
  /** Requests for re-reading the records that were read least recently. */
  audit: number;
  /** Read all marked slices again, not only those within the window. */
  allMarked: boolean;
  details: "all" | "changed" | "none";
  groupBy: string;
  hosts: readonly string[];
  perHost: boolean;
}

export const defaultOptions: SyncOptions = {
  full: false,
  windowMs: 30 * 86_400_000,
  acceptRemovals: false,
  budget: 100,
  audit: 5,
  allMarked: false,
  details: "changed",
  groupBy: "day",
  hosts: [],
  perHost: false,
};

/** The API's analytics by day (`2026-01-31`). */
export type DailyPoints = ReadonlyMap<string, Json>;

/** What a command works with: the mirror, the API and its options. */
export interface SyncSession {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  /** The keys in use, which are removed from recorded errors. */
  keys: ReadonlySet<string>;
  reporter: Reporter;
  options: SyncOptions;
  /** A cache of this command's responses: several resources use the same points. */
  dailyPoints: Map<DailyTotals, Promise<DailyPoints>>;
}

/** A run of one resource, of `sync` or `verify`. */
export interface SyncRun<How extends Strategy = Strategy> extends SyncSession {
  resource: Resource<How>;
  /** `run_id` of its row in `sync_runs`; 0 if the run is not recorded. */
  id: number;
  /** The end of the last complete second before the run, in milliseconds: the run reads nothing newer. */
  readUntil: number;
  readonly store: RecordWriter;
  readonly state: SyncState;
  readonly progress: ReadProgress;
}

/** A run of a resource that is read by date. */
export type DatedRun = SyncRun<DatedStrategy>;

/** A run of `sync` that reads a resource by date; `verify` has only a `DatedRun`. */
export interface DatedSync extends DatedRun {
  /** The API's totals of each day as text, requested before anything was read; null if the API returned none. */
  readonly dailyTotals: ReadonlyMap<string, string> | null;
  /** What the sync could not do so far. The functions that read add to it; nothing is removed unless it is empty. */
  readonly incompleteReasons: IncompleteReason[];
}

/** The progress of a run: in its row of `sync_runs`, and on the progress bar. */
export class ReadProgress {
  #responses = 0;
  readonly #before: Readonly<ApiClient["stats"]>;

  constructor(
    private readonly session: Pick<SyncSession, "api" | "mirror">,
    private readonly runId: number,
    private readonly task: Task,
  ) {
    this.#before = { ...session.api.stats };
  }

  /** Adds rows that the API returned to the run's row. Call it in the transaction that writes them. */
  addRows(rows: number): void {
    const { api, mirror } = this.session;
    const requests = api.stats.requests - this.#before.requests;
    const retries = api.stats.retries - this.#before.retries;
    addReadRows(mirror, this.runId, { rows, requests, retries });
  }

  /** Advances the progress bar by one response. @param remaining requests to come, as far as known */
  advance(remaining: number): void {
    this.#responses += 1;
    this.task.update({ done: this.#responses, total: this.#responses + Math.max(0, remaining) });
  }

  /** True if the API has returned any data of the resource. */
  hasResponses(): boolean {
    return this.#responses > 0;
  }
}

/** One line of a plan. */
export interface PlanStep {
  what: string;
  requests: number;
  /** True if the estimate is a minimum. */
  open?: boolean;
}

/** Why a run is incomplete, as a clause. */
export interface IncompleteReason {
  text: string;
  /** Default: run the same command again. */
  hint?: string;
}

/**
 * The number of records in the API and in the mirror at the end of a run, and how many counts differ: as in
 * `sync_runs`.
 */
export type CountTotals = Pick<Run, "api_total" | "mirror_total" | "differing">;

/** What a strategy returns. */
export interface SyncResult {
  incompleteReasons: IncompleteReason[];
  /** True if the run read only a part, or cannot verify what it read. */
  isPartial: boolean;
  /** Undefined if no count was requested. */
  totals?: CountTotals;
  /** The oldest date that was read, ISO 8601; null: from the beginning, or not read by date. */
  coveredFrom?: string | null;
  /** False if the run compared counts, but no daily totals, although the API has them. */
  comparesTotals?: boolean;
}

/** A way to read a resource. */
export interface SyncStrategy<How extends Strategy = Strategy> {
  /** Returns the steps of `read` and an estimate of their requests. The only requests it sends are counts. */
  plan(run: SyncRun<How>): Promise<PlanStep[]>;
  /** Reads the resource into the mirror. */
  read(run: SyncRun<How>): Promise<SyncResult>;
}

/** Ranges that an interrupted run read less than this many milliseconds ago are not read again. */
export const resumableMs = 3_600_000;

/** Records on a page. Source: the API document, "Limits". */
export const maxPerPage = 100;

/** Returns the number of requests needed to read `records` records. */
export function pagesFor(records: number): number {
  return Math.max(1, Math.ceil(records / maxPerPage));
}

/** Returns a function that returns the remaining requests of a budget. */
export function startBudget({ api }: Pick<SyncRun, "api">, requests: number): () => number {
  const end = api.stats.requests + requests;
  return () => end - api.stats.requests;
}

/** True if every other resource would fail in the same way: because of the key, this machine's address, a signal or a defect. */
export function affectsAllResources(error: unknown): boolean {
  const isAddress = error instanceof AccessForbidden && error.everywhere;
  return (
    isAddress || error instanceof KeyRejected || error instanceof Stopped || !(error instanceof BrandapiError)
  );
}

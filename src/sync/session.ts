import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import { AccessForbidden, BrandapiError, KeyRejected, Stopped } from "../errors.js";
import type { DailyTotals, DatedStrategy, Resource, Strategy } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import type { RecordWriter } from "../store/records.js";
import type { Run } from "../store/runs.js";
import type { SyncState } from "../store/sync-state.js";
import type { Json } from "../util/json-value.js";
import type { Reporter, Task } from "../util/reporter.js";

/** The options of a sync; times in milliseconds since 1970. */
export interface SyncOptions {
  since?: number | undefined;
  until?: number | undefined;
  full: boolean;
  /** How far behind the last complete reading a run begins. */
  windowMs: number;
  /** Apply removals that look implausible. */
  acceptRemovals: boolean;
  /** Requests for what the evidence says differs. */
  budget: number;
  /** Requests for the records that were read longest ago. */
  audit: number;
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
  details: "changed",
  groupBy: "day",
  hosts: [],
  perHost: false,
};

/** The API's points by day (`YYYY-MM-DD`). */
export type DailyPoints = ReadonlyMap<string, Json>;

/** All that an engine works with: the mirror, the API and the options of one command. */
export interface SyncSession {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  /** The keys in use, which no error that is recorded may hold. */
  keys: ReadonlySet<string>;
  reporter: Reporter;
  options: SyncOptions;
  /** The points by day that were asked for so far: resources that go by the same ones ask once. */
  dailyPoints: Map<DailyTotals, Promise<DailyPoints>>;
}

/** A session at work on one resource, with its memory, and the row of `sync_runs` that it fills. */
export interface SyncRun<How extends Strategy = Strategy> extends SyncSession {
  resource: Resource<How>;
  /** The last instant that the run reads, in milliseconds: the end of the last whole second. */
  now: number;
  /** The row of `sync_runs`. */
  row: Run;
  task: Task;
  readonly store: RecordWriter;
  readonly state: SyncState;
  /** The API's figures of each day as text, asked for before anything was read; null if the API gave none. */
  dailyTotals: ReadonlyMap<string, string> | null;
  /** True if the amounts of the daily totals changed on most days at once without a change of records: only counts are compared. */
  ignoresAmounts: boolean;
  /** Requests answered so far, for the progress bar. */
  responses: number;
  /** True if the run read a part only, or cannot prove what it read: it is not `verified`. */
  isPartial: boolean;
  /** Clauses that say what the run could not do: each makes it incomplete. */
  incompleteReasons: string[];
}

export type DatedRun = SyncRun<DatedStrategy>;

/** One line of a plan. */
export interface PlanStep {
  what: string;
  requests: number;
  /** True if it may take more requests, as many as only reading shows. */
  open?: boolean;
}

/** A way to read a resource. */
export interface SyncStrategy<How extends Strategy = Strategy> {
  /** Returns the steps of `read` and the requests they would take; asks the API for counts only. */
  plan(run: SyncRun<How>): Promise<PlanStep[]>;
  /** Reads. A shortfall is noted in the run; an error is thrown. */
  read(run: SyncRun<How>): Promise<void>;
}

/** A run goes on with an answer that a stopped one has read no longer ago than this, in milliseconds. */
export const resumableMs = 3_600_000;

/** Records on a page. Source: the API document, "Limits". */
export const maxPerPage = 100;

/** Returns the requests that a number of records takes. */
export function pagesFor(records: number): number {
  return Math.max(1, Math.ceil(records / maxPerPage));
}

/** Returns a function that says how many of so many requests, from now on, are left. */
export function startBudget({ api }: Pick<SyncRun, "api">, requests: number): () => number {
  const end = api.stats.requests + requests;
  return () => end - api.stats.requests;
}

/** Counts an answer and its rows. @param left requests still to come, as far as known */
export function reportProgress(run: SyncRun, rows: number, left: number): void {
  run.responses += 1;
  run.row.rows_read += rows;
  run.task.update({ done: run.responses, total: run.responses + Math.max(0, left) });
}

/** True if each other resource would end the same way: the key, this machine's address, a signal, a defect. */
export function affectsAllResources(error: unknown): boolean {
  const isAddress = error instanceof AccessForbidden && error.everywhere;
  return (
    isAddress || error instanceof KeyRejected || error instanceof Stopped || !(error instanceof BrandapiError)
  );
}

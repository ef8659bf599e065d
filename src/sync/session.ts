import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import type { DatedStrategy, Resource, Strategy, TotalsSource } from "../resources/resource.js";
import type { Mirror } from "../store/mirror/database.js";
import type { RecordWriter } from "../store/records/record-writer.js";
import type { TotalsByDay } from "../store/state/stored-totals.js";
import type { SyncState } from "../store/state/sync-state.js";
import type { Json } from "../util/json-value.js";
import type { Reporter } from "../util/reporter.js";
import { dayMs } from "../util/timestamp.js";
import type { ReadProgress } from "./read-progress.js";
import type { IncompleteReason } from "./strategy.js";

/** The options of a sync. Times are in milliseconds since 1970. */
export interface SyncOptions {
  since?: number | undefined;
  until?: number | undefined;
  full: boolean;
  /** The time span before the last finished run that a run re-reads. */
  windowMs: number;
  /** Removes records even if implausibly many are missing. */
  acceptRemovals: boolean;
  /** The number of requests for re-reading days and ranges whose totals or counts differ. */
  budget: number;
  /** The number of requests for re-reading old records in turn. */
  audit: number;
  /** Re-reads all marked slices, not only those in the requested ranges. */
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

/** The points of the API's analytics, keyed by day (`2026-01-31`). */
export type DailyPoints = ReadonlyMap<string, Json>;

/** The mirror, the API and the options of a command. */
export interface SyncSession {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  /** The API keys in use, which must not appear in recorded errors. */
  keys: ReadonlySet<string>;
  reporter: Reporter;
  options: SyncOptions;
  /** A cache of the points that the command has requested, because orders and clicks share them. */
  dailyPoints: Map<TotalsSource, Promise<DailyPoints>>;
}

/** A `sync` or `verify` run of one resource. */
export interface SyncRun<How extends Strategy = Strategy> extends SyncSession {
  resource: Resource<How>;
  /** The `run_id` in `sync_runs`; 0 if the run is not recorded. */
  runId: number;
  /** The newest instant to read: the end of the last complete second before the run, in milliseconds. */
  readUntil: number;
  readonly writer: RecordWriter;
  readonly state: SyncState;
  readonly progress: ReadProgress;
}

export type DatedRun = SyncRun<DatedStrategy>;

/** A `sync` run of a resource with dates, including its daily totals. */
export interface DatedSync extends DatedRun {
  /** The API's daily totals, requested before any record; null if the API returned none. */
  readonly apiTotals: TotalsByDay | null;
  /** The slices that never settled (A9), as reasons why the run is incomplete. `writeSlice` adds to them. */
  readonly incompleteSlices: IncompleteReason[];
}

import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import type { DailyTotals, DatedStrategy, Resource, Strategy } from "../resources/resource.js";
import type { Mirror } from "../store/mirror/database.js";
import type { RecordWriter } from "../store/records/record-writer.js";
import type { TotalsByDay } from "../store/state/stored-totals.js";
import type { SyncState } from "../store/state/sync-state.js";
import type { Json } from "../util/json-value.js";
import type { Reporter } from "../util/reporter.js";
import { dayMs } from "../util/times.js";
import type { ReadProgress } from "./read-progress.js";
import type { IncompleteReason } from "./strategy.js";

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
  /** The API's totals of each day, requested before anything was read; null if the API returned none. */
  readonly dailyTotals: TotalsByDay | null;
  /** The dense seconds and lists that did not settle. The functions that read add to it. */
  readonly incompleteReasons: IncompleteReason[];
}

import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import { findForbidden } from "../errors.js";
import type { DatedStrategy, Resource, Strategy, TotalsSource } from "../resources/resource.js";
import { readConfirmedCoverage } from "../store/coverage.js";
import type { Mirror } from "../store/database.js";
import { RecordWriter } from "../store/record-writer.js";
import {
  addReadRows,
  beginRun,
  type RunOutcome,
  type RunRow,
  readRun,
  updateRun,
  writeRefusal,
} from "../store/runs.js";
import { SyncState, type TotalsByDay } from "../store/sync-state.js";
import type { Json } from "../util/json-value.js";
import { startOfSecond } from "../util/ranges.js";
import { hideKeys } from "../util/redact-keys.js";
import { type Reporter, silentReporter, type Task } from "../util/reporter.js";
import { formatInstant } from "../util/times.js";
import { dayMs } from "../util/timestamp.js";

// `A1` to `A12` in this folder's comments are the assumptions in `README.md`.

/** The options of a sync. Times are in milliseconds since 1970. */
export interface SyncOptions {
  since?: number | undefined;
  until?: number | undefined;
  full: boolean;
  /** The length of the window, which precedes the end of the last finished run and is re-read by each run. */
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

/** The parts of a command that all its runs share. */
export interface SyncSession {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  /** The API keys in use, which must not appear in recorded errors. */
  keys: ReadonlySet<string>;
  reporter: Reporter;
  options: SyncOptions;
  /** A cache of the daily points, which orders and clicks share. */
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
  readonly progress: RunProgress;
}

export type DatedRun = SyncRun<DatedStrategy>;

export interface DatedSync extends DatedRun {
  /** The API's daily totals, requested before any record was read, or null if the API returned none. */
  readonly apiTotals: TotalsByDay | null;
  /** The slices that never settled (A9). `writeSlice` adds to them. */
  readonly unsettledSlices: IncompleteReason[];
}

/** A reason why a run is incomplete. The text is a clause, not a sentence. */
export interface IncompleteReason {
  text: string;
  /** The next step for the user. The default is to run the same command again. */
  hint?: string;
}

/** The record counts in the API and in the mirror, and the number of counts that differ, as stored in `sync_runs`. */
export type CountSums = Pick<RunRow, "api_total" | "mirror_total" | "differing">;

/**
 * A way to read a resource. The members are methods, so that a strategy for one kind of resource is assignable to
 * `SyncStrategy`.
 */
export interface SyncStrategy<How extends Strategy = Strategy> {
  /** Estimates the number of requests that `read` would send. Requests only counts and daily totals. */
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
  sums?: CountSums;
  /** The start of the covered dates (ISO 8601), or null if everything was read or the resource has no dates. */
  coveredFrom?: string | null;
  /** The number of rows from the list, excluding rows from the details. */
  listRows?: number;
  /** False if the run compared counts but no daily totals, although the resource has daily totals. */
  comparesTotals?: boolean;
}

/** Counts a run's rows and requests for `sync_runs` and for the progress bar. */
class RunProgress {
  readonly #before: Readonly<ApiClient["stats"]>;
  #responses = 0;
  #rows = 0;

  constructor(
    private readonly session: SyncSession,
    private readonly runId: number,
    private readonly task: Task,
  ) {
    this.#before = { ...session.api.stats };
  }

  /** Returns the number of requests and retries since the start of the run. */
  stats(): ApiClient["stats"] {
    const { requests, retries } = this.session.api.stats;
    return { requests: requests - this.#before.requests, retries: retries - this.#before.retries };
  }

  /** Adds returned rows to the run's row in `sync_runs`. Must be called in the transaction that writes the records. */
  addRows(rows: number): void {
    this.#rows += rows;
    addReadRows(this.session.mirror, this.runId, { rows, ...this.stats() });
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

  hasResponses(): boolean {
    return this.#responses > 0;
  }
}

/** Records the start of a run in `sync_runs`. */
export function startRun(session: SyncSession, resource: Resource, task: Task): SyncRun {
  const { clock, mirror } = session;
  return createRun(session, resource, task, beginRun(mirror, resource.name, formatInstant(clock.now())));
}

/** Creates a run that is not recorded and only reads the mirror. */
export function openUnrecordedRun(session: SyncSession, resource: Resource): SyncRun {
  return createRun(session, resource, silentReporter.begin({ name: resource.name }), 0);
}

function createRun(session: SyncSession, resource: Resource, task: Task, runId: number): SyncRun {
  const { clock, mirror, options, reporter } = session;
  const { since, until } = options;
  const state = new SyncState(mirror, resource.name, runId);
  return {
    ...session,
    resource,
    runId,
    state,
    progress: new RunProgress(session, runId, task),
    readUntil: startOfSecond(clock.now()) - 1,
    // The API truncates dates to seconds, so each second must be read either completely or not at all.
    options: {
      ...options,
      since: since === undefined ? undefined : startOfSecond(since),
      until: until === undefined ? undefined : startOfSecond(until + 1) - 1,
    },
    writer: new RecordWriter(mirror, resource, {
      runId,
      reporter,
      coverage: readConfirmedCoverage(mirror, resource.name),
      lastSeen: (recordId) => state.missing.lastSeen(recordId),
    }),
  };
}

export interface RunEnd {
  outcome: RunOutcome;
  error: Error | null;
  /** The problems found by `verify`, or null if there are none. They are stored in the column `error`. */
  problems?: string | null;
  columns?: Partial<Pick<RunRow, "verified" | "covered_from" | keyof CountSums>>;
}

/**
 * Records the end of a run, and whether the API refused the resource.
 * @throws if the mirror cannot be written: the run's error if there was one, or else the write error
 */
export function finishRun(run: SyncRun, { outcome, error, problems = null, columns }: RunEnd): RunRow {
  const { clock, keys, mirror, progress, resource, runId } = run;
  const finishedAt = formatInstant(clock.now());
  const text = error?.message ?? problems;
  try {
    updateRun(mirror, runId, {
      ...columns,
      ...progress.stats(),
      outcome,
      error: text ? hideKeys(text, keys) : null,
      finished_at: finishedAt,
    });
    const refusal = findForbidden(error);
    const hasResponse = outcome !== "failed" && outcome !== "stopped";
    if (refusal) {
      const { hint = null, message } = refusal;
      writeRefusal(mirror, resource.name, { at: finishedAt, error: hideKeys(message, keys), hint });
    } else if (hasResponse) writeRefusal(mirror, resource.name, null);
  } catch (writeError) {
    throw error ?? writeError;
  }
  return readRun(mirror, runId);
}

/** Starts a request budget. The returned function returns the number of remaining requests. */
export function startBudget({ api }: Pick<SyncRun, "api">, requests: number): () => number {
  const end = api.stats.requests + requests;
  return () => end - api.stats.requests;
}

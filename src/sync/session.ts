import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import { failureScope, findForbidden } from "../errors.js";
import type { DatedStrategy, Resource, Strategy } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import { saveAccessDenial } from "../store/known-problems.js";
import type { RecordWriter } from "../store/record-writer.js";
import { addReadRows, insertRun, loadRun, type RunOutcome, type RunRow, updateRun } from "../store/runs.js";
import { SyncState, type TotalsByDay } from "../store/sync-state.js";
import type { Json } from "../util/json-value.js";
import { hideKeys } from "../util/redact-keys.js";
import type { Reporter, Task } from "../util/reporter.js";
import { startOfSecond } from "../util/time-ranges.js";
import { dayMs, formatInstant } from "../util/timestamps.js";
import type { UnsettledSlices } from "./unsettled-slices.js";

// `A1` to `A12` in the comments in this folder are the assumptions listed in `README.md`.

/** Options for `sync`. Times are in milliseconds since the Unix epoch. */
export interface SyncOptions {
  since?: number | undefined;
  until?: number | undefined;
  full: boolean;
  /**
   * The length of the window, in milliseconds. Every run re-reads the window, which is the period just before the
   * unread dates.
   */
  windowMs: number;
  acceptRemovals: boolean;
  /** The maximum number of requests to spend on re-reading dates whose totals or counts differ. */
  rereadRequests: number;
  auditRequests: number;
  /** True to re-read all faulty slices, even those outside the requested ranges. */
  allFaulty: boolean;
  details: "all" | "changed" | "none";
  groupBy: string;
  hosts: readonly string[];
  perHost: boolean;
}

export const defaultOptions: SyncOptions = {
  full: false,
  windowMs: 30 * dayMs,
  acceptRemovals: false,
  rereadRequests: 100,
  auditRequests: 5,
  allFaulty: false,
  details: "changed",
  groupBy: "day",
  hosts: [],
  perHost: false,
};

/** The objects in the API's daily analytics, keyed by day (`2026-01-31`). Each contains the totals of one day. */
export type RawTotalsByDay = ReadonlyMap<string, Json>;

/*
 * Functions receive everything they need from one of these objects, each of which extends the one before it:
 *
 * | type              | describes                                                               |
 * | ----------------- | ----------------------------------------------------------------------- |
 * | `SyncSession`     | one command                                                             |
 * | `ResourceSession` | one resource in that command; counts and compares, but writes nothing   |
 * | `ResourceRun`     | a sync or verification of that resource, which is recorded as a run     |
 * | `SyncRun`         | a run that writes records                                               |
 * | `DatedRun`        | a sync of a resource with dates, after its daily totals were requested  |
 */

/** The parts of a sync that all resources share. */
export interface SyncSession {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  /** Aborts when the user or the system stops the command. */
  signal: AbortSignal;
  /** The API keys in use, which must not appear in stored errors. */
  apiKeys: ReadonlySet<string>;
  reporter: Reporter;
  options: SyncOptions;
  /** The daily totals requested so far, keyed by API path, because several resources share them. */
  cachedTotals: Map<string, RawTotalsByDay>;
}

/**
 * The dates that the options request, rounded to whole seconds, because the API truncates dates to seconds. `until` is
 * never in the future.
 */
export interface RequestedDates {
  since: number | undefined;
  until: number;
}

/** A session for planning, counting and comparing one resource without writing anything. */
export interface ResourceSession<How extends Strategy = Strategy> extends SyncSession {
  resource: Resource<How>;
  /**
   * The end of the last full second before the session started, in milliseconds since the Unix epoch. Newer records are
   * left for the next run.
   */
  readableUntil: number;
  requested: RequestedDates;
  state: SyncState;
}

export type DatedSession = ResourceSession<DatedStrategy>;

/** True if the session's resource is read with the strategy `kind`. */
export function hasStrategy<S extends ResourceSession, Kind extends Strategy["kind"]>(
  session: S,
  kind: Kind,
): session is S & ResourceSession<Strategy & { kind: Kind }> {
  return session.resource.strategy.kind === kind;
}

/** A sync or verification of one resource, which is recorded in `sync_runs`. */
export interface ResourceRun<How extends Strategy = Strategy> extends ResourceSession<How> {
  runId: number;
  progress: RunProgress;
}

export interface SyncRun<How extends Strategy = Strategy> extends ResourceRun<How> {
  writer: RecordWriter;
}

export interface DatedRun extends SyncRun<DatedStrategy> {
  /**
   * The API's daily totals at the start of the run, or null if they are unavailable. Once the run has read all of a
   * day, it stores that day's totals.
   */
  apiTotals: TotalsByDay | null;
  unsettledSlices: UnsettledSlices;
}

/** A reason why a run is incomplete. `text` is a clause without a final period. */
export interface IncompleteReason {
  text: string;
  /** The hint for the user. By default, it suggests running the same command again. */
  hint?: string;
}

/** The columns of `sync_runs` that contain sums of the compared counts. */
export type CountSums = Pick<RunRow, "api_total" | "mirror_total" | "differing">;

/** A step in a `--dry-run` plan, and its number of requests. */
export interface RequestEstimate {
  what: string;
  requests: number;
  /** True if the step may take more requests than estimated. */
  open?: boolean;
}

export interface SyncResult {
  incompleteReasons: IncompleteReason[];
  /** False if the run read only part of the resource or found faulty records. Ignored if the run is incomplete. */
  isVerified: boolean;
  /**
   * Must include `differing` if the run is incomplete. An incomplete sync without that number does not count as
   * finished (`finishedSyncSql`).
   */
  columns: Partial<CountSums & Pick<RunRow, "covered_from">>;
  /** The number of records in the list, if the resource has details. */
  listedRecords?: number;
  /** True if the resource has daily totals, but the run compared only counts. */
  isLimitedToCounts?: boolean;
  /** True if requested dates before `columns.covered_from` have never been read. */
  hasGaps?: boolean;
}

class RunProgress {
  readonly #before: Readonly<ApiClient["stats"]>;
  #responses = 0;
  #lastIds: ReadonlySet<number> = new Set();

  constructor(
    private readonly session: SyncSession,
    private readonly runId: number,
    private readonly task: Task,
  ) {
    this.#before = { ...session.api.stats };
  }

  stats(): ApiClient["stats"] {
    const { requests, retries } = this.session.api.stats;
    return { requests: requests - this.#before.requests, retries: retries - this.#before.retries };
  }

  /** Adds to the row count in `sync_runs`. Must be called in the transaction that writes the records. */
  addRows(rows: number): void {
    addReadRows(this.session.mirror, this.runId, { rows, ...this.stats() });
  }

  /**
   * Adds the records of a reading to the row count. Records that the previous reading contained as well are not counted
   * again, because consecutive pages overlap, and a dense second is read twice.
   * @param ids the mirrored IDs of the records
   */
  addReading(records: number, ids: readonly number[]): void {
    this.addRows(records - ids.filter((id) => this.#lastIds.has(id)).length);
    this.#lastIds = new Set(ids);
  }

  advance(remaining: number): void {
    this.#responses += 1;
    this.task.update({ done: this.#responses, total: this.#responses + Math.max(0, remaining) });
  }
}

export function createResourceSession(
  session: SyncSession,
  resource: Resource,
  now = session.clock.now(),
): ResourceSession {
  const { mirror, options } = session;
  const { since, until } = options;
  const readableUntil = startOfSecond(now) - 1;
  const requested = {
    since: since === undefined ? undefined : startOfSecond(since),
    until: until === undefined ? readableUntil : Math.min(startOfSecond(until + 1) - 1, readableUntil),
  };
  return { ...session, resource, readableUntil, requested, state: new SyncState(mirror, resource.name) };
}

/** Records the start of a run in `sync_runs`. */
export function startRun(session: SyncSession, resource: Resource, task: Task): ResourceRun {
  const { clock, mirror } = session;
  // Read the clock only once. If a new second began in between, the run would seem to end before its own start.
  const now = clock.now();
  const resourceSession = createResourceSession(session, resource, now);
  const runId = insertRun(mirror, resource.name, formatInstant(now));
  return { ...resourceSession, runId, progress: new RunProgress(session, runId, task) };
}

export interface RunEnd {
  outcome: RunOutcome;
  error: Error | null;
  columns?: Partial<Pick<RunRow, "verified" | "covered_from" | keyof CountSums>>;
}

/**
 * Records how a run ended and whether the API denied access to the resource.
 * @throws if the mirror cannot be written; the run's own error, if it had one, takes precedence
 */
export function endRun(run: ResourceRun, { outcome, error, columns }: RunEnd): RunRow {
  const { clock, apiKeys, mirror, progress, resource, runId } = run;
  const finishedAt = formatInstant(clock.now());
  const denial = error && failureScope(error) === "resource" ? findForbidden(error) : null;
  try {
    mirror.transaction(() => {
      updateRun(mirror, runId, {
        ...columns,
        ...progress.stats(),
        outcome,
        error: error && hideKeys(error.message, apiKeys),
        finished_at: finishedAt,
      });
      if (denial) {
        const { hint = null, message } = denial;
        saveAccessDenial(mirror, resource.name, { at: finishedAt, error: hideKeys(message, apiKeys), hint });
      } else if (outcome !== "failed" && outcome !== "stopped") {
        // A run that failed or was stopped may never have received a response, so it does not clear an earlier denial
        // of access.
        saveAccessDenial(mirror, resource.name, null);
      }
    });
  } catch (writeError) {
    throw error ?? writeError;
  }
  return loadRun(mirror, runId);
}

/**
 * The number of requests that a step may send. A step checks the budget before each unit of work and then finishes that
 * unit, so it can exceed the budget by a few requests.
 */
export class Budget {
  readonly #end: number;

  /** @param requests the maximum number of requests; unlimited by default */
  constructor(
    private readonly api: Pick<ApiClient, "stats">,
    requests = Number.POSITIVE_INFINITY,
  ) {
    this.#end = api.stats.requests + requests;
  }

  /** The number of remaining requests. Negative if the budget was exceeded. */
  get remaining(): number {
    return this.#end - this.api.stats.requests;
  }
}

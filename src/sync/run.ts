import type { ApiClient } from "../api/client.js";
import type { Clock, Deps } from "../deps.js";
import type { BrandapiError } from "../errors.js";
import { describe, type Range } from "../lib/ranges.js";
import type { Reporter, Task } from "../lib/reporter.js";
import { isSetBack, type Mirror, type Run, saveRun } from "../mirror/index.js";
import { type Complaint, complaintText, openRecords, type Readings } from "../records/index.js";
import type { DailyFigures, Dated, Json, Resource, Strategy } from "../resources/types.js";
import type { SyncState } from "../state/index.js";
import { type RecordStore, storeOf } from "./former.js";

/** What a person asked of a sync; times in milliseconds since 1970. */
export interface SyncOptions {
  since?: number;
  until?: number;
  full: boolean;
  /** How far behind the last complete read a run begins. */
  windowMs: number;
  /** Apply removals that look implausible. */
  acceptRemovals: boolean;
  /** Requests that are spent on what differs; the rest is told, and left to the next runs. */
  budget: number;
  /** Requests that are spent on what a cursor through old dates has come to. */
  audit: number;
  details: "all" | "changed" | "none";
  /** Filters that make a run partial, by the API's parameter. */
  filters: Readonly<Record<string, readonly string[]>>;
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
  filters: {},
  groupBy: "day",
  hosts: [],
  perHost: false,
};

/** Each day's point by its name (`YYYY-MM-DD`), as the API gave it. */
export interface Points {
  askedAt: number;
  /** The instant up to which they were asked for. */
  until: number;
  days: ReadonlyMap<string, Json>;
}

/** What every engine works with. */
export interface Access {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  signal: AbortSignal;
  killable: Deps["killable"];
  reporter: Reporter;
  options: SyncOptions;
  /** The API's points by day, as an earlier resource of the same run was told them, or why it was not. */
  points?: Map<DailyFigures, Points | BrandapiError>;
}

/** One resource's run: what a strategy is given, and where it leaves its figures. */
export interface SyncRun<How extends Strategy = Strategy> extends Access {
  points: Map<DailyFigures, Points | BrandapiError>;
  resource: Resource<How>;
  /** The instant the run is pinned to, in milliseconds. */
  now: number;
  row: Run;
  task: Task;
  readonly store: RecordStore;
  readonly state: SyncState;
  /** Requests answered so far, for the bar. */
  pages: number;
  /** Milliseconds: as coarsely as the API has ever shown a date. It is learned, and kept. */
  resolution: number;
  /** The ids of records without a date that came. */
  undated: Set<number>;
  /** Whether only a part of what there is was read: then it proves nothing. */
  isPartial: boolean;
  /** What the run must confess: each makes it incomplete. */
  shortfalls: string[];
}

export type DatedRun = SyncRun<Dated>;

/** One line of a plan. */
export interface PlanStep {
  what: string;
  requests: number;
  /** Whether it takes more requests than that, as many as only reading shows. */
  open?: boolean;
}

/** A way to read a resource. */
export interface StrategyRun<How extends Strategy = Strategy> {
  /** What `run` would do, and how many requests that takes; asks the API for no more than a count. */
  plan(run: SyncRun<How>): Promise<PlanStep[]>;
  /** Reads. A shortfall is noted in the run; an error is thrown. */
  run(run: SyncRun<How>): Promise<void>;
}

/** An object with a member for each record would make a column, of another name, of each of them. */
const mostColumnsTold = 10;

/**
 * The records of a resource: what is written of them is counted in a run's row. One warning for each field of an
 * unexpected type; a new attribute takes no action: it is a note, which `--quiet` leaves out.
 */
export function openStore(
  { mirror, reporter }: Access,
  resource: Resource,
  row: Run,
  readings: Readings,
): RecordStore {
  let columns = 0;
  const complain = (complaint: Complaint) => {
    if (complaint.kind === "column") columns += 1;
    if (complaint.kind === "column" && columns > mostColumnsTold) {
      if (columns === mostColumnsTold + 1)
        reporter.warn(
          `${complaint.table}: and so on: \`brandapi tables ${complaint.table}\` lists all columns`,
        );
    } else reporter[complaint.kind === "attribute" ? "note" : "warn"](complaintText(complaint, resource));
  };
  const store = storeOf(
    resource,
    openRecords(mirror, resource, { runId: row.run_id, ...readings, complain }),
  );
  return {
    ...store,
    *write(records, options) {
      const written = yield* store.write(records, options);
      row.rows_new += written.added;
      row.rows_changed += written.changed;
      saveRun(mirror, row);
      return written;
    },
    *remove(ids, at) {
      const removed = yield* store.remove(ids, at);
      row.rows_removed += removed;
      saveRun(mirror, row);
      return removed;
    },
  };
}

/** The most that the API allows: its document, "Limits". */
export const mostPerPage = 100;

/** Requests that a number of records takes. */
export function pagesFor(records: number): number {
  return Math.max(1, Math.ceil(records / mostPerPage));
}

/** @returns how many of so many requests, from now on, are left to spend */
export function budgetOf({ api }: SyncRun, requests: number): () => number {
  const end = api.stats.requests + requests;
  return () => end - api.stats.requests;
}

/**
 * The oldest date that was ever asked for; null before the first run. Nobody meant one that is still to come: a clock
 * that was ahead has asked for it, unless it is this one that is behind.
 */
export function believedFloor({ mirror, now, row, state }: SyncRun): number | null {
  const asked = state.floor();
  return asked === null || asked <= now || isSetBack(mirror, row) ? asked : null;
}

/** A run that begins before the one before it: which clock is right, only another night tells. It is no proof. */
export function doubtClock(run: SyncRun, what: string, all: string): void {
  run.isPartial = true;
  run.reporter.warn(
    `${run.resource.name}: ${what} still to come: is this machine's clock right? Tomorrow's run believes it, and reads ${all}`,
  );
}

/** Says which dates a run leaves unread, although others on both sides were read, or it was begun to read them. */
export function warnOfGaps({ reporter, resource: { name } }: SyncRun, gaps: readonly Range[]): void {
  for (const gap of gaps)
    reporter.warn(
      `${name}: ${describe(gap)} has never been read and is not claimed as covered: run \`brandapi sync ${name}\``,
    );
}

/** Counts an answer and its rows. @param left requests still to come, as far as known */
export function progressed(run: SyncRun, rows: number, left: number): void {
  run.pages += 1;
  run.row.rows_read += rows;
  run.task.update({ done: run.pages, total: run.pages + Math.max(0, left), rows: run.row.rows_read });
}

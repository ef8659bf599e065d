import type { ApiClient } from "../api/client.js";
import type { Clock } from "../deps.js";
import type { Mirror } from "../mirror/mirror.js";
import type { Run } from "../mirror/runs.js";
import { exportsRecords } from "../query/tables.js";
import { openRecords, type RecordStore } from "../records/records.js";
import type { Complaint } from "../records/values.js";
import type { Reporter, Task } from "../reporter.js";
import { tablesOf } from "../resources/shape.js";
import type { Query, Resource } from "../resources/types.js";
import { readCoverage } from "../state/coverage.js";
import { formatInstant } from "../times.js";

/** What a person asked of a sync; times in milliseconds since 1970. */
export interface SyncOptions {
  since?: number;
  until?: number;
  full: boolean;
  /** How far behind the last complete read a run begins. */
  windowMs: number;
  /** Apply removals that look implausible. */
  acceptRemovals: boolean;
  /** Requests that may be spent on days read longest ago. */
  audit: number;
  details: "all" | "changed" | "none";
  /** Filters that make a run partial, by the API's parameter. */
  filters: Readonly<Record<string, readonly string[]>>;
  groupBy: string;
  hosts: readonly string[];
  perHost: boolean;
  /** Records a page, the API's most unless a test says less; pages a part of a walk, see `walkRange`. */
  pageSize?: number;
  pagesPerPart?: number;
}

export const defaultOptions: SyncOptions = {
  full: false,
  windowMs: 30 * 86_400_000,
  acceptRemovals: false,
  audit: 5,
  details: "changed",
  filters: {},
  groupBy: "day",
  hosts: [],
  perHost: false,
};

/** What every engine works with. */
export interface Access {
  mirror: Mirror;
  api: ApiClient;
  clock: Clock;
  signal: AbortSignal;
  reporter: Reporter;
  options: SyncOptions;
}

/** One resource's run: what a strategy is given, and where it leaves its figures. */
export interface SyncContext extends Access {
  resource: Resource;
  /** The instant the run is pinned to, in milliseconds. */
  now: number;
  run: Run;
  task: Task;
  store: RecordStore;
  /** Pages and rows that came so far, for the bar. */
  progress: { pages: number; rows: number };
  /** The most records that the API puts on a page, as it says itself: what was asked for until it answers. */
  perPage: number;
  /** What the run must confess: each makes it incomplete. */
  shortfalls: string[];
}

/** One line of a plan. */
export interface PlanStep {
  what: string;
  requests: number;
  /** Whether it takes more requests than that, as many as only reading shows. */
  open?: boolean;
}

/** A way to read a resource. */
export interface StrategyRun {
  /** What `run` would do, and how many requests that takes; asks the API for no more than a count. */
  plan(context: SyncContext): Promise<PlanStep[]>;
  /** Reads. A shortfall is noted in the context; an error is thrown. */
  run(context: SyncContext): Promise<void>;
}

/**
 * The records of a resource, with one warning for each field of an unexpected type. A new attribute takes no action: it
 * is a note, which `--quiet` leaves out.
 */
export function openStore(
  access: Pick<Access, "mirror" | "reporter">,
  resource: Resource,
  runId: number,
): RecordStore {
  const { mirror, reporter } = access;
  return openRecords(mirror, resource, {
    runId,
    coverage: readCoverage(mirror, resource.name),
    complain(complaint) {
      reporter[complaint.kind === "attribute" ? "note" : "warn"](complaintText(complaint, resource));
    },
  });
}

function complaintText(complaint: Complaint, resource: Resource): string {
  const { table } = complaint;
  if (complaint.kind === "attribute") {
    const kept = exportsRecords(tablesOf(resource)[0] ?? null) ? "JSON exports" : "the mirror's records";
    return `${table}: the API sends a new attribute \`${complaint.path.slice(0, 120)}\`: it is kept in ${kept}`;
  }
  if (complaint.kind === "column") {
    const path = complaint.path.slice(0, 120);
    return complaint.name === null
      ? `${table}: not every attribute becomes a column (\`${path}\` does not): all are kept in JSON exports`
      : `${table}: the column of \`${path}\` is \`${complaint.name}\``;
  }
  if (complaint.kind === "repeat")
    return `${table}: several records of one answer have the same id: each is kept, as a row of its own`;
  const { column, found } = complaint;
  return `${table}.${column}: the API sent a value of another type (${found}): it is kept in JSON exports, and null in the column`;
}

/** The query of a range of dates, both ends included, as full timestamps. */
export function rangeQuery(resource: Resource, from: number, to: number): Query {
  const { strategy } = resource;
  if (strategy.kind !== "window" && strategy.kind !== "increment") return resource.query;
  // `uploaded_before` is exclusive, `end_date` inclusive.
  const last = strategy.kind === "increment" ? to + 1 : to;
  return {
    ...resource.query,
    [strategy.from]: Number.isFinite(from) ? formatInstant(from) : undefined,
    [strategy.until]: Number.isFinite(to) ? formatInstant(last) : undefined,
  };
}

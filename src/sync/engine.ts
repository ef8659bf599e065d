import {
  AccessForbidden,
  ApiUnavailable,
  BrandapiError,
  Incomplete,
  KeyRejected,
  Stopped,
} from "../errors.js";
import {
  blankRun,
  latestRuns,
  type Outcome,
  type Run,
  type RunEnd,
  recordRun,
  runLine,
} from "../mirror/index.js";
import { indexProjection, type RecordStore } from "../records/index.js";
import { silentReporter } from "../reporter.js";
import type { Resource } from "../resources/types.js";
import { openState } from "../state/index.js";
import { formatInstant } from "../times.js";
import { type Access, openStore, type PlanStep, type SyncRun } from "./run.js";
import { strategies } from "./strategies/index.js";

/**
 * Reads one resource into the mirror, and records the run however it ends.
 * @throws Stopped when a signal ended it; every other error is in the result
 */
export async function syncResource(access: Access, resource: Resource, named = true): Promise<RunEnd> {
  const task = access.reporter.begin({ name: resource.name, unit: "pages" });
  const { run, error } = await recordRun(access, resource.name, {
    async work(row) {
      const one = openRun(access, resource, row, task);
      await strategies[resource.strategy.kind].run(one);
      // After a first read of a million rows it takes seconds.
      await access.mortally(async () => indexProjection(access.mirror, resource));
      if (one.shortfalls.length > 0) throw incomplete(resource, one.shortfalls);
      row.verified = !one.isPartial;
      return "done";
    },
    outcomeOf: (error) => outcomeOf(error, named),
  });
  task.end(runLine(run));
  if (isNoFailure(error)) throw error;
  return { run, error };
}

/** A resource that a run leaves out, and the reason. */
export interface Skipped {
  resource: Resource;
  why: string;
}

/** What became of several resources. */
export interface Ended {
  failures: { resource: Resource; error: unknown }[];
  succeeded: number;
  /** Left alone, because the API had stopped answering at all. */
  unasked: readonly Resource[];
}

/**
 * Reads resources one after another; one that fails does not stop the others, unless nothing answers any more.
 * @param chosen.named whether the person named them: only then is a refusal by scope or plan a failure
 * @param finished is told of each run as it ends
 * @throws KeyRejected, a refusal of this machine's address, and Stopped at once: the rest would end the same way
 */
export async function syncResources(
  access: Access,
  chosen: { allowed: readonly Resource[]; skipped: readonly Skipped[]; named: boolean },
  finished: (run: Run) => void,
): Promise<Ended> {
  const ended: Ended = { failures: [], succeeded: 0, unasked: [] };
  const shared = { ...access, points: new Map() };
  const due = smallFirst(chosen.allowed);
  access.reporter.expect(
    due.map((resource) => ({ name: resource.name, requests: requestsOf(access, resource) })),
  );
  for (const [index, resource] of due.entries()) {
    const { run, error } = await syncResource(shared, resource, chosen.named);
    finished(run);
    if (error !== null && endsEverything(error)) throw error;
    if (error === null) ended.succeeded += 1;
    else if (run.outcome !== "skipped") ended.failures.push({ resource, error });
    // Nobody reads the lines of a night: what was read before, and no longer is, must not go unnoticed.
    else if (latestRuns(access.mirror, resource.name).lastGood)
      access.reporter.warn(`${resource.name}: it was read before, and is refused now: ${run.error}`);
    if (isSilentEverywhere(error)) {
      ended.unasked = due.slice(index + 1);
      break;
    }
  }
  for (const { resource, why } of chosen.skipped) {
    if (latestRuns(access.mirror, resource.name).lastGood)
      access.reporter.warn(`${resource.name}: it was read before, and is skipped now: ${why}`);
    else access.reporter.note(`${resource.name}: skipped: ${why}`);
    const at = formatInstant(access.clock.now());
    finished({ ...blankRun(resource.name, at), finished_at: at, outcome: "skipped", error: why });
  }
  return ended;
}

/** As many as the last time, unless that was of another kind: a first read, or all of it now. */
function requestsOf({ mirror, options }: Access, { name, strategy }: Resource): number | undefined {
  const last = latestRuns(mirror, name).lastGood;
  const isOther = strategy.kind === "dated" && (options.full || last?.since === null);
  return isOther ? undefined : last?.requests;
}

/** Lists are short; a first read of what has dates may take hours: nothing need wait for it. */
export function smallFirst(resources: readonly Resource[]): Resource[] {
  const isDated = ({ strategy }: Resource) => strategy.kind === "dated";
  return [...resources.filter((one) => !isDated(one)), ...resources.filter(isDated).toReversed()];
}

/** Whether each of the other resources would end the same way: the key, this machine's address, a signal, a defect. */
export function endsEverything(error: unknown): boolean {
  const isAddress = error instanceof AccessForbidden && error.reason === "address";
  return isAddress || error instanceof KeyRejected || isNoFailure(error);
}

/** Whether the API has stopped answering, whatever it is asked for. */
export function isSilentEverywhere(error: unknown): boolean {
  return error instanceof ApiUnavailable && error.everywhere;
}

function isNoFailure(error: unknown): boolean {
  return error instanceof Stopped || (error !== null && !(error instanceof BrandapiError));
}

/** What a sync of this resource would do. */
export async function planResource(access: Access, resource: Resource): Promise<PlanStep[]> {
  return await strategies[resource.strategy.kind].plan(openRun(access, resource));
}

/** Without a row nothing is recorded, without a task nothing is shown. */
export function openRun(
  access: Access,
  resource: Resource,
  row = blankRun(resource.name, formatInstant(access.clock.now())),
  task = silentReporter.begin({ name: resource.name, unit: "pages" }),
): SyncRun {
  const state = openState(access.mirror, resource.name);
  let store: RecordStore | undefined;
  return {
    ...access,
    resource,
    row,
    task,
    state,
    now: access.clock.now(),
    points: access.points ?? new Map(),
    pages: 0,
    resolution: state.resolution(),
    undated: new Set(),
    isPartial: false,
    shortfalls: [],
    /** Opened when first used: a plan writes nothing. */
    get store() {
      store ??= openStore(access, resource, row, state.coverage());
      return store;
    },
  };
}

function outcomeOf(error: unknown, named: boolean): Outcome {
  if (error instanceof Stopped) return "stopped";
  if (error instanceof AccessForbidden && !named) return "skipped";
  return error instanceof Incomplete ? "incomplete" : "failed";
}

function incomplete(resource: Resource, shortfalls: readonly string[]): Incomplete {
  return new Incomplete(`${resource.name} is incomplete: ${shortfalls.join("; ")}.`, {
    hint: "what was read is kept; run the same command again",
  });
}

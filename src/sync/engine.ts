import { AccessForbidden, BrandapiError, Incomplete, KeyRejected, Stopped } from "../errors.js";
import type { Mirror } from "../mirror/mirror.js";
import { beginRun, blankRun, type Outcome, type Run, saveRun } from "../mirror/runs.js";
import { indexProjection } from "../records/projection.js";
import { silentReporter } from "../reporter.js";
import type { Resource } from "../resources/types.js";
import { formatInstant, formatSpan } from "../times.js";
import { type Access, openStore, type PlanStep, type SyncContext } from "./context.js";
import { mostPerPage } from "./pass.js";
import { strategies } from "./strategies/index.js";

/** How one resource's run ended; `error` where it did not end well. */
export interface ResourceResult {
  run: Run;
  error: unknown;
}

/**
 * Reads one resource into the mirror, and records the run however it ends.
 * @throws Stopped when a signal ended it; every other error is in the result
 */
export async function syncResource(
  access: Access,
  resource: Resource,
  named = true,
): Promise<ResourceResult> {
  const task = access.reporter.begin({ name: resource.name, unit: "pages" });
  const { run, error } = await recordRun(access, resource, {
    async work(run) {
      const context = contextOf(access, resource, run, task);
      await strategyOf(resource).run(context);
      indexProjection(access.mirror, resource);
      if (context.shortfalls.length > 0) throw incomplete(resource, context.shortfalls);
      run.verified = true;
      return "done";
    },
    outcomeOf: (error) => outcomeOf(error, named),
  });
  task.end(summaryOf(run));
  if (error instanceof Stopped || (error !== null && !(error instanceof BrandapiError))) throw error;
  return { run, error };
}

/** Records a run of a resource however it ends: `work` returns its outcome, or throws. */
export async function recordRun(
  { api, clock, mirror }: Access,
  resource: Resource,
  { work, outcomeOf }: { work(run: Run): Promise<Outcome>; outcomeOf(error: unknown): Outcome },
): Promise<ResourceResult> {
  const before = { ...api.stats };
  const run = beginRun(mirror, resource.name, formatInstant(clock.now()));
  let error: unknown = null;
  try {
    run.outcome = await work(run);
  } catch (caught) {
    error = caught;
    run.outcome = outcomeOf(caught);
    run.error = caught instanceof Error ? caught.message : String(caught);
  }
  run.requests = api.stats.requests - before.requests;
  run.retries = api.stats.retries - before.retries;
  run.finished_at = formatInstant(clock.now());
  writeEnd(mirror, run, error);
  return { run, error };
}

/** A disk that is full cannot take the run either: what ended it is the error to tell. */
function writeEnd(mirror: Mirror, run: Run, error: unknown): void {
  try {
    saveRun(mirror, run);
  } catch (second) {
    throw error ?? second;
  }
}

/** A resource that a run leaves out, and the reason. */
export interface Skipped {
  resource: Resource;
  why: string;
}

/**
 * Reads resources one after another; one that fails does not stop the others.
 * @param chosen.named whether the person named them: only then is a refusal by scope or plan a failure
 * @param finished is told of each run as it ends
 * @throws KeyRejected, a refusal of this machine's address, and Stopped at once: the rest would end the same way
 */
export async function syncResources(
  access: Access,
  chosen: { allowed: readonly Resource[]; skipped: readonly Skipped[]; named: boolean },
  finished: (run: Run) => void,
): Promise<{ failures: unknown[]; succeeded: number }> {
  const failures: unknown[] = [];
  let succeeded = 0;
  for (const resource of chosen.allowed) {
    const { run, error } = await syncResource(access, resource, chosen.named);
    finished(run);
    if (error instanceof KeyRejected || isAddressRefused(error)) throw error;
    if (error === null) succeeded += 1;
    else if (run.outcome !== "skipped") failures.push(error);
  }
  for (const { resource, why } of chosen.skipped) {
    access.reporter.note(`${resource.name}: skipped: ${why}`);
    const at = formatInstant(access.clock.now());
    finished({ ...blankRun(resource.name, at), finished_at: at, outcome: "skipped", error: why });
  }
  return { failures, succeeded };
}

function isAddressRefused(error: unknown): boolean {
  return error instanceof AccessForbidden && error.reason === "address";
}

/** What a sync of this resource would do. */
export async function planResource(access: Access, resource: Resource): Promise<PlanStep[]> {
  return await strategyOf(resource).plan(quietContext(access, resource));
}

/** A context for looking only: nothing is shown, and no run is recorded. */
export function quietContext(access: Access, resource: Resource, run?: Run): SyncContext {
  const task = silentReporter.begin({ name: resource.name, unit: "pages" });
  return contextOf(access, resource, run ?? blankRun(resource.name, formatInstant(access.clock.now())), task);
}

function contextOf(access: Access, resource: Resource, run: Run, task: SyncContext["task"]): SyncContext {
  const opened: { store?: SyncContext["store"] } = {};
  return {
    ...access,
    resource,
    run,
    task,
    now: access.clock.now(),
    progress: { pages: 0, rows: 0 },
    perPage: access.options.pageSize ?? mostPerPage,
    shortfalls: [],
    /** Opened when first used: a plan writes nothing. */
    get store() {
      opened.store ??= openStore(access, resource, run.run_id);
      return opened.store;
    },
  };
}

function strategyOf(resource: Resource) {
  return strategies[resource.strategy.kind];
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

/** The line that cron shows. */
function summaryOf(run: Run): string {
  const span = formatSpan(Date.parse(run.finished_at ?? run.started_at) - Date.parse(run.started_at));
  const counts = [
    `${run.rows_read} read`,
    `${run.rows_new} new`,
    `${run.rows_changed} changed`,
    `${run.rows_removed} removed`,
    `${run.requests} ${run.requests === 1 ? "request" : "requests"}`,
    ...(run.retries > 0 ? [`${run.retries} ${run.retries === 1 ? "retry" : "retries"}`] : []),
  ].join(", ");
  const why = run.error && run.outcome !== "stopped" ? `: ${run.error}` : "";
  const end = run.outcome === "done" ? "verified" : `${run.outcome}${why}`;
  return `${counts} in ${span}, ${end}`;
}

import { affectsAllResources, Forbidden, findForbidden, Incomplete, Stopped } from "../errors.js";
import { detailsResource, type Resource, type Strategy } from "../resources/resource.js";
import { RecordWriter } from "../store/records/record-writer.js";
import { readConfirmedCoverage } from "../store/state/coverage.js";
import { writeRefusal } from "../store/state/run-failures.js";
import { beginRun, type Run, type RunOutcome, readRun, updateRun, wasRead } from "../store/state/runs.js";
import { SyncState } from "../store/state/sync-state.js";
import { indexTables } from "../store/tables/projection.js";
import { unexpectedWarning } from "../store/tables/schema-issues.js";
import { startOfSecond } from "../util/ranges.js";
import { hideKeys } from "../util/redact-keys.js";
import { silentReporter, type Task } from "../util/reporter.js";
import { formatInstant, formatInstantOrNull } from "../util/times.js";
import { dated } from "./dated.js";
import { details } from "./details.js";
import { full } from "./full.js";
import { monthly } from "./monthly.js";
import { ranking } from "./ranking.js";
import { ReadProgress } from "./read-progress.js";
import { runLine } from "./run-line.js";
import type { SyncRun, SyncSession } from "./session.js";
import type { IncompleteReason, PlanStep, SyncStrategy } from "./strategy.js";

/** How each kind of resource is read. The cast is safe because `readResource` and `planResource` look up a resource's own kind. */
const strategies: Record<Strategy["kind"], SyncStrategy> = {
  dated,
  details,
  full,
  monthly,
  ranking,
} satisfies {
  [Kind in Strategy["kind"]]: SyncStrategy<Strategy & { kind: Kind }>;
} as Record<Strategy["kind"], SyncStrategy>;

/**
 * Reads one resource into the mirror, and records the run whether it succeeds or fails. An error is returned in the
 * result.
 * @param isOptional true if the resource was not named: then it is skipped if the key or the plan does not allow it
 */
export async function syncResource(
  session: SyncSession,
  resource: Resource,
  isOptional: boolean,
): Promise<RunEnd> {
  const { mirror, reporter } = session;
  const task = reporter.begin({ name: resource.name });
  const { run, error, value } = await recordRun(session, resource.name, {
    async work(id) {
      const syncRun = openRun(session, resource, id, task);
      const result = await readResource(syncRun, isOptional);
      const { coveredFrom = null, incompleteReasons, isPartial, totals } = result;
      const isComplete = incompleteReasons.length === 0;
      return {
        value: { result, floor: formatInstantOrNull(syncRun.state.floor() ?? Number.NEGATIVE_INFINITY) },
        columns: {
          ...totals,
          outcome: isComplete ? "done" : "incomplete",
          verified: isComplete && !isPartial,
          covered_from: coveredFrom,
        },
        error: isComplete ? null : incompleteError(resource, incompleteReasons),
      };
    },
    outcomeOf(error) {
      if (error instanceof Stopped) return "stopped";
      if (error instanceof Forbidden && isOptional) return "skipped";
      return error instanceof Incomplete ? "incomplete" : "failed";
    },
  });
  const { comparesTotals = true, listRows } = value?.result ?? {};
  task.end(runLine(run, { floor: value?.floor ?? null, comparesTotals, listRows }));
  warnOfUnexpectedValues({ mirror, reporter }, resource);
  return { run, error };
}

async function readResource(run: SyncRun, isOptional: boolean) {
  const { mirror, progress, resource } = run;
  try {
    const result = await strategies[resource.strategy.kind].read(run);
    indexTables(mirror, resource);
    return result;
  } catch (error) {
    if (!isOptional || !(error instanceof Forbidden) || affectsAllResources(error)) throw error;
    throw progress.hasResponses() || wasRead(mirror, resource.name) ? lostAccess(resource, error) : error;
  }
}

/** Returns the plan of a sync of this resource. */
export async function planResource(session: SyncSession, resource: Resource): Promise<PlanStep[]> {
  return await strategies[resource.strategy.kind].plan(openUnrecordedRun(session, resource));
}

/** Opens a run that is recorded in the row with this `run_id`. */
export function openRun(session: SyncSession, resource: Resource, id: number, task: Task): SyncRun {
  const { mirror, options, reporter } = session;
  const { since, until } = options;
  const state = new SyncState(mirror, resource.name);
  return {
    ...session,
    resource,
    id,
    state,
    progress: new ReadProgress(session, id, task),
    readUntil: startOfSecond(session.clock.now()) - 1,
    // The API returns dates without fractions of a second, so a second is read completely or not at all.
    options: {
      ...options,
      since: since === undefined ? undefined : startOfSecond(since),
      until: until === undefined ? undefined : startOfSecond(until + 1) - 1,
    },
    store: new RecordWriter(mirror, resource, {
      runId: id,
      reporter,
      coverage: readConfirmedCoverage(mirror, resource.name),
      lastSeen: (recordId) => state.missing.lastSeen(recordId),
    }),
  };
}

/** Opens a run that writes nothing, for plans and for verdicts that need no request. */
export function openUnrecordedRun(session: SyncSession, resource: Resource): SyncRun {
  return openRun(session, resource, 0, silentReporter.begin({ name: resource.name }));
}

/** A recorded run. `error`: why it failed, or null. */
export interface RunEnd {
  run: Run;
  error: unknown;
}

/** The work of a run. */
interface RunWork<T> {
  /** @returns a value for the caller, the columns of the run's row, and the error of a run that is incomplete */
  work(runId: number): Promise<{
    value: T;
    columns: Partial<Omit<Run, "run_id" | "resource" | "started_at">> & { outcome: RunOutcome };
    error: Error | null;
  }>;
  /** Returns the outcome of a run whose work threw an error. */
  outcomeOf(error: unknown): RunOutcome;
}

/**
 * Executes a run, and records it whether it succeeds or fails.
 * @returns `value`: the return value of the work; null if it threw an error
 * @throws only if the mirror cannot be written
 */
export async function recordRun<T>(
  { api, clock, keys, mirror }: Pick<SyncSession, "api" | "clock" | "keys" | "mirror">,
  resource: string,
  { work, outcomeOf }: RunWork<T>,
): Promise<RunEnd & { value: T | null }> {
  const before = { ...api.stats };
  const runId = beginRun(mirror, resource, formatInstant(clock.now()));
  const { value, columns, error } = await work(runId).catch((thrown: unknown) => ({
    value: null,
    columns: { outcome: outcomeOf(thrown), error: null },
    error: thrown,
  }));
  const finishedAt = formatInstant(clock.now());
  const text = error === null ? columns.error : error instanceof Error ? error.message : String(error);
  try {
    updateRun(mirror, runId, {
      ...columns,
      error: text ? hideKeys(text, keys) : null,
      finished_at: finishedAt,
      requests: api.stats.requests - before.requests,
      retries: api.stats.retries - before.retries,
    });
    const refusal = findForbidden(error);
    const isAnswered = columns.outcome !== "failed" && columns.outcome !== "stopped";
    if (refusal) {
      const { hint = null, message } = refusal;
      writeRefusal(mirror, resource, { at: finishedAt, error: hideKeys(message, keys), hint });
    } else if (isAnswered) writeRefusal(mirror, resource, null);
  } catch (second) {
    // If the disk is full, the row cannot be written either: the first error is the one to report.
    throw error ?? second;
  }
  return { run: readRun(mirror, runId), error, value };
}

/** Returns the error for a resource that was read before and that the key or the plan no longer allows. */
export function lostAccess({ name }: Resource, cause: Forbidden): Incomplete {
  const message = `${name} was read before, and is refused now: ${cause.message}`;
  return new Incomplete(message, { hint: cause.hint, cause });
}

function incompleteError({ name }: Resource, reasons: readonly IncompleteReason[]): Incomplete {
  const texts = reasons.map(({ text }) => text.replace(/\.$/, "")).join("; ");
  const hint = reasons.find((reason) => reason.hint)?.hint;
  // Refused removals have their own next step, because everything was read.
  if (hint && reasons.length === 1) return new Incomplete(`${name}: ${texts}.`, { hint });
  return new Incomplete(`${name} is incomplete: ${texts}.`, {
    hint: hint ?? "what was read is kept; run the same command again",
  });
}

/** Warns if the mirror has records with values of an unexpected type: on every run, not only the first. */
export function warnOfUnexpectedValues(
  { mirror, reporter }: Pick<SyncSession, "mirror" | "reporter">,
  resource: Resource,
): void {
  for (const { name } of [resource, detailsResource(resource) ?? []].flat()) {
    const warning = unexpectedWarning(mirror, name);
    if (warning !== null) reporter.warn(warning);
  }
}

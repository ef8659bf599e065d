import { affectsAllResources, Forbidden, findForbidden, Incomplete, Stopped } from "../errors.js";
import { findResource } from "../resources/registry.js";
import { detailsResource, type Resource, type Strategy } from "../resources/resource.js";
import { readConfirmedCoverage } from "../store/coverage.js";
import { indexTables } from "../store/projection.js";
import { RecordWriter } from "../store/record-writer.js";
import {
  beginRun,
  type RunOutcome,
  type RunRow,
  readRun,
  updateRun,
  wasRead,
  writeRefusal,
} from "../store/runs.js";
import { describeUnexpectedValues } from "../store/schema-issues.js";
import { SyncState } from "../store/sync-state.js";
import { startOfSecond } from "../util/ranges.js";
import { hideKeys } from "../util/redact-keys.js";
import { silentReporter, type Task } from "../util/reporter.js";
import { pluralize } from "../util/text.js";
import { formatDuration, formatInstant, formatInstantOrNull } from "../util/times.js";
import { dated } from "./dated.js";
import { details } from "./details.js";
import { full } from "./full.js";
import { monthly } from "./monthly.js";
import { ranking } from "./ranking.js";
import {
  type CountTotals,
  type IncompleteReason,
  type PlanStep,
  ReadProgress,
  type StartedRun,
  type SyncResult,
  type SyncRun,
  type SyncSession,
  type SyncStrategy,
} from "./session.js";

const strategies: Record<Strategy["kind"], SyncStrategy> = {
  dated,
  details,
  full,
  monthly,
  ranking,
} satisfies { [Kind in Strategy["kind"]]: SyncStrategy<Strategy & { kind: Kind }> };

function strategyOf({ strategy }: Resource): SyncStrategy {
  return strategies[strategy.kind];
}

/**
 * Reads one resource into the mirror, and records the run. If the run fails, returns the error instead of throwing it.
 * @param isOptional true if the user did not name the resource, so that it is skipped if the API refuses it
 * @throws only if the mirror cannot be written
 */
export async function syncResource(
  session: SyncSession,
  resource: Resource,
  isOptional: boolean,
): Promise<{ run: RunRow; error: Error | null }> {
  const { mirror, reporter } = session;
  const wasReadBefore = wasRead(mirror, resource.name);
  const task = reporter.begin({ name: resource.name });
  const started = startRun(session, resource.name);
  const syncRun = openRun(session, resource, started, task);
  const { end, result } = await readResource(syncRun, { isOptional, wasReadBefore });
  const run = finishRun(session, started, end);
  const { comparesTotals = true, listRows } = result ?? {};
  const floor = result && formatInstantOrNull(syncRun.state.floor() ?? Number.NEGATIVE_INFINITY);
  task.end(runLine(run, { floor, comparesTotals, listRows }));
  warnOfUnexpectedValues({ mirror, reporter }, resource);
  return { run, error: end.error };
}

interface ExpectedAccess {
  /** True if the resource is skipped when the API refuses it. */
  isOptional: boolean;
  /** True if an earlier run read the resource. */
  wasReadBefore: boolean;
}

/** Reads a resource. Returns how the run ended, and the result, which is null after an error. */
async function readResource(
  run: SyncRun,
  access: ExpectedAccess,
): Promise<{ end: RunEnd; result: SyncResult | null }> {
  const { mirror, resource } = run;
  try {
    const result = await strategyOf(resource).read(run);
    indexTables(mirror, resource);
    return { end: endOf(resource, result), result };
  } catch (thrown) {
    const end = thrown instanceof Forbidden ? endOfRefused(run, thrown, access) : endOfError(toError(thrown));
    return { end, result: null };
  }
}

function endOf(
  resource: Resource,
  { coveredFrom, incompleteReasons, isPartial, totals }: SyncResult,
): RunEnd {
  const columns = { ...totals, covered_from: coveredFrom ?? null };
  if (incompleteReasons.length > 0)
    return { outcome: "incomplete", error: incompleteError(resource, incompleteReasons), columns };
  return { outcome: "done", error: null, columns: { ...columns, verified: !isPartial } };
}

/**
 * Decides how a run ends if the API refused the resource. If the resource was read before, its data is now outdated, so
 * the run is incomplete. Otherwise, an optional resource is skipped.
 */
function endOfRefused(
  { progress, resource }: SyncRun,
  error: Forbidden,
  { isOptional, wasReadBefore }: ExpectedAccess,
): RunEnd {
  const isLost = wasReadBefore || (isOptional && progress.hasResponses());
  if (isLost && !affectsAllResources(error)) return endOfError(lostAccess(resource, error));
  return isOptional ? { outcome: "skipped", error } : endOfError(error);
}

function endOfError(error: Error): RunEnd {
  if (error instanceof Stopped) return { outcome: "stopped", error };
  return { outcome: error instanceof Incomplete ? "incomplete" : "failed", error };
}

/** Converts a thrown value to an `Error`. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

export async function planResource(session: SyncSession, resource: Resource): Promise<PlanStep[]> {
  return await strategyOf(resource).plan(openUnrecordedRun(session, resource));
}

/** Opens a run that `startRun` has recorded. */
export function openRun(session: SyncSession, resource: Resource, started: StartedRun, task: Task): SyncRun {
  const { mirror, options, reporter } = session;
  const { since, until } = options;
  const state = new SyncState(mirror, resource.name);
  return {
    ...session,
    resource,
    runId: started.id,
    state,
    progress: new ReadProgress(session, started, task),
    readUntil: startOfSecond(session.clock.now()) - 1,
    // The API truncates dates to seconds, so each second must be read either completely or not at all.
    options: {
      ...options,
      since: since === undefined ? undefined : startOfSecond(since),
      until: until === undefined ? undefined : startOfSecond(until + 1) - 1,
    },
    writer: new RecordWriter(mirror, resource, {
      runId: started.id,
      reporter,
      coverage: readConfirmedCoverage(mirror, resource.name),
      lastSeen: (recordId) => state.missing.lastSeen(recordId),
    }),
  };
}

/** Creates a run that is not recorded and only reads the mirror. */
export function openUnrecordedRun(session: SyncSession, resource: Resource): SyncRun {
  const started = { id: 0, resource: resource.name, before: { ...session.api.stats } };
  return openRun(session, resource, started, silentReporter.begin({ name: resource.name }));
}

export interface RunEnd {
  outcome: RunOutcome;
  error: Error | null;
  /** The problems that `verify` found, or null if there are none. They are stored like an error. */
  problems?: string | null;
  columns?: Partial<Pick<RunRow, "verified" | "covered_from" | keyof CountTotals>>;
}

export function startRun({ api, clock, mirror }: RecordingSession, resource: string): StartedRun {
  return { id: beginRun(mirror, resource, formatInstant(clock.now())), resource, before: { ...api.stats } };
}

type RecordingSession = Pick<SyncSession, "api" | "clock" | "keys" | "mirror">;

/**
 * Records the end of a run, and whether the API refused the resource.
 * @throws if the mirror cannot be written: the run's error if there was one, or else the write error
 */
export function finishRun(
  { api, clock, keys, mirror }: RecordingSession,
  { id, resource, before }: StartedRun,
  { outcome, error, problems = null, columns }: RunEnd,
): RunRow {
  const finishedAt = formatInstant(clock.now());
  const text = error?.message ?? problems;
  try {
    updateRun(mirror, id, {
      ...columns,
      outcome,
      error: text ? hideKeys(text, keys) : null,
      finished_at: finishedAt,
      requests: api.stats.requests - before.requests,
      retries: api.stats.retries - before.retries,
    });
    const refusal = findForbidden(error);
    const hasResponse = outcome !== "failed" && outcome !== "stopped";
    if (refusal) {
      const { hint = null, message } = refusal;
      writeRefusal(mirror, resource, { at: finishedAt, error: hideKeys(message, keys), hint });
    } else if (hasResponse) writeRefusal(mirror, resource, null);
  } catch (writeError) {
    throw error ?? writeError;
  }
  return readRun(mirror, id);
}

/** Returns the error for a resource that was read before but that the API now refuses. */
export function lostAccess({ name }: Resource, cause: Forbidden): Incomplete {
  const message = `${name} was read before, but is now refused: ${cause.message}`;
  return new Incomplete(message, { hint: cause.hint, cause });
}

function incompleteError({ name }: Resource, reasons: readonly IncompleteReason[]): Incomplete {
  const texts = reasons.map(({ text }) => text.replace(/\.$/, "")).join("; ");
  const hint = reasons.find((reason) => reason.hint)?.hint;
  // If the removals were refused, everything has been read, so the message does not call the resource incomplete.
  if (hint && reasons.length === 1) return new Incomplete(`${name}: ${texts}.`, { hint });
  return new Incomplete(`${name} is incomplete: ${texts}.`, {
    hint: hint ?? "the data read so far is kept; run the same command again",
  });
}

/**
 * Warns about values of an unexpected type. Every run repeats the warning until the mirror no longer contains values of
 * unexpected types.
 */
export function warnOfUnexpectedValues(
  { mirror, reporter }: Pick<SyncSession, "mirror" | "reporter">,
  resource: Resource,
): void {
  for (const { name } of [resource, detailsResource(resource) ?? []].flat()) {
    const warning = describeUnexpectedValues(mirror, name);
    if (warning !== null) reporter.warn(warning);
  }
}

interface RunFacts {
  /** The oldest date (ISO 8601) that any run has requested, or null if there is no lower limit. */
  floor: string | null;
  /** False if the run compared counts but no daily totals, although the resource has daily totals. */
  comparesTotals: boolean;
  /** The number of rows from the list, excluding rows from the details. */
  listRows?: number | undefined;
}

/** Formats a run's line in the log. Numbers have no separators, because scripts read these lines. */
export function runLine(run: RunRow, facts: RunFacts): string {
  const took = Date.parse(run.finished_at ?? run.started_at) - Date.parse(run.started_at);
  const counts = [
    `${rowsText(run, facts)} read`,
    `${run.rows_new} new`,
    `${run.rows_changed} changed`,
    `${run.rows_removed} removed`,
    pluralize(run.requests, "request", String),
    ...(run.retries > 0 ? [pluralize(run.retries, "retry", String)] : []),
  ].join(", ");
  return `${counts} in ${formatDuration(Math.max(0, took))}, ${resultOf(run, facts)}`;
}

/** Formats the number of rows, such as `5`, or `9 surveys and 12 results` if the details have their own table. */
function rowsText({ resource, rows_read }: RunRow, { listRows }: RunFacts): string {
  const known = findResource(resource);
  const details = known && detailsResource(known)?.name.split("-").at(-1);
  if (!details) return String(rows_read);
  if (listRows === undefined) return `${rows_read} ${resource} and ${details}`;
  const count = (rows: number, name: string) => pluralize(rows, name.replace(/s$/, ""), String);
  return `${count(listRows, resource)} and ${count(rows_read - listRows, details)}`;
}

function resultOf(run: RunRow, { floor, comparesTotals }: RunFacts): string {
  const { covered_from: from, error, outcome, resource, verified } = run;
  if (outcome !== "done") return `${outcome}${error && outcome !== "stopped" ? `: ${error}` : ""}`;
  if (!verified) return "not verified";
  const verifiedBy = comparesTotals ? "verified" : "verified by counts";
  if (from === null) return verifiedBy;
  const older =
    from === floor
      ? `older ${resource} were never requested; \`--full\` reads them`
      : `not all older ${resource} were read`;
  return `${verifiedBy} from ${from.slice(0, 10)} (${older})`;
}

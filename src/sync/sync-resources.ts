import { Forbidden, failureScope, Incomplete, Stopped } from "../errors.js";
import { findResource } from "../resources/registry.js";
import { detailsResource, type Resource, type Strategy } from "../resources/resource.js";
import { indexTables } from "../store/projection.js";
import { RecordWriter } from "../store/record-writer.js";
import { createRunRow, findLastVerifiedSync, hasBeenRead, type RunRow } from "../store/runs.js";
import { describeUnexpectedValues } from "../store/schema-issues.js";
import { pluralize } from "../util/format-text.js";
import { silentReporter } from "../util/reporter.js";
import { formatDuration, formatInstant, formatStart } from "../util/timestamps.js";
import { estimateDated, readDated } from "./dated.js";
import { estimateDetails, readListAndDetails } from "./details.js";
import {
  createAccessDeniedError,
  forEachResource,
  retryHint,
  throwIfFailed,
  toError,
} from "./each-resource.js";
import { estimateList, readCompleteList, readRanking } from "./list-strategies.js";
import { estimateMonthly, readMonthly } from "./monthly.js";
import {
  endRun,
  type IncompleteReason,
  type RequestEstimate,
  type ResourceRun,
  type ResourceSession,
  type RunEnd,
  type SyncResult,
  type SyncRun,
  type SyncSession,
  startRun,
} from "./run.js";

/** The code that reads the resources of one strategy. */
interface Engine<How extends Strategy> {
  read: (run: SyncRun<How>) => Promise<SyncResult>;
  /** Estimates the requests of a sync. The estimate itself requests only counts and daily totals. */
  estimate: (session: ResourceSession<How>) => Promise<RequestEstimate[]>;
}

const engines: { [Kind in Strategy["kind"]]: Engine<Strategy & { kind: Kind }> } = {
  dated: { read: readDated, estimate: estimateDated },
  list: { read: readCompleteList, estimate: estimateList },
  details: { read: readListAndDetails, estimate: estimateDetails },
  monthly: { read: readMonthly, estimate: estimateMonthly },
  ranking: { read: readRanking, estimate: estimateList },
};

export function findEngine({ strategy }: Resource): Engine<Strategy> {
  // The compiler cannot know that the engine is called only for resources with its own strategy.
  return engines[strategy.kind] as Engine<Strategy>;
}

export interface ResourceSelection {
  allowed: readonly Resource[];
  withoutScope: readonly ResourceWithoutScope[];
  /** True if the user named the resources. If not, resources to which the API denies access are skipped. */
  areNamed: boolean;
}

interface ResourceWithoutScope {
  resource: Resource;
  why: string;
  /** True if an earlier run read the resource, so the mirror still contains its data, which no run updates anymore. */
  wasReadBefore: boolean;
}

/**
 * Syncs all allowed resources, and reports those whose scope the key lacks.
 * @throws if any resource failed or all were skipped
 */
export async function syncResources(
  session: SyncSession,
  { allowed, withoutScope, areNamed }: ResourceSelection,
  onRunEnd: (row: RunRow) => void,
): Promise<void> {
  const { clock, mirror, reporter } = session;
  const due = sortForSync(allowed);
  reporter.expect(due.map(({ name }) => ({ name, requests: findLastVerifiedSync(mirror, name)?.requests })));
  // Lost scopes are recorded first, because this needs no requests, which an outage could end.
  const lost = withoutScope.filter(({ wasReadBefore }) => wasReadBefore);
  const lostAccess = lost.map(({ resource, why }) => {
    const { row, error } = recordMissingScope(session, resource, why);
    onRunEnd(row);
    return { resource, error };
  });
  const { failures, ...results } = await forEachResource(due, async (resource) => {
    const { row, error } = await syncResource(session, resource, !areNamed);
    onRunEnd(row);
    return { error, isSkipped: row.outcome === "skipped" };
  });
  for (const { wasReadBefore, resource, why } of withoutScope) {
    if (wasReadBefore) continue;
    reporter.note(`${resource.name}: skipped: ${why}`);
    const at = formatInstant(clock.now());
    onRunEnd({ ...createRunRow(resource.name, at), finished_at: at, outcome: "skipped", error: why });
  }
  throwIfFailed({ ...results, failures: [...lostAccess, ...failures] }, lost.length + due.length);
}

/**
 * Records an incomplete run for a resource that was read before but whose scope the key has lost. Sends no requests.
 */
function recordMissingScope(
  session: SyncSession,
  resource: Resource,
  why: string,
): { row: RunRow; error: Error } {
  const hint = "create a key with that scope in the brand's console, then run `brandapi login`";
  const error = createAccessDeniedError(resource, new Forbidden(`${why}.`, { hint }));
  const task = silentReporter.begin({ name: resource.name });
  const row = endRun(startRun(session, resource, task), { outcome: "incomplete", error });
  return { row, error };
}

/**
 * Sorts the resources. Lists come first because they are short. The dated resource with the most records comes last
 * because its first sync may take hours.
 */
export function sortForSync(resources: readonly Resource[]): Resource[] {
  const isDated = ({ strategy }: Resource) => strategy.kind === "dated";
  return [...resources.filter((resource) => !isDated(resource)), ...resources.filter(isDated).toReversed()];
}

/**
 * Reads one resource into the mirror and records the run. Returns the run's error instead of throwing it.
 * @param isOptional true if the user did not name the resource; it is then skipped if the API denies access to it
 * @throws only if the mirror cannot be written
 */
export async function syncResource(
  session: SyncSession,
  resource: Resource,
  isOptional: boolean,
): Promise<{ row: RunRow; error: Error | null }> {
  const { mirror, reporter } = session;
  const wasReadBefore = hasBeenRead(mirror, resource);
  const task = reporter.begin({ name: resource.name });
  const run = startRun(session, resource, task);
  const result = await readResource(run).catch(toError);
  const end = decideEnd(run, result, isOptional, wasReadBefore);
  const row = endRun(run, end);
  task.end(formatRunLine(row, result instanceof Error ? {} : result));
  warnOfUnexpectedValues(session, resource);
  return { row, error: end.error };
}

async function readResource(run: ResourceRun): Promise<SyncResult> {
  const { mirror, resource } = run;
  const result = await findEngine(resource).read({ ...run, writer: new RecordWriter(mirror, resource, run) });
  indexTables(mirror, resource);
  return result;
}

/** @param result the error if the resource could not be read */
function decideEnd(
  { mirror, resource }: ResourceRun,
  result: SyncResult | Error,
  isOptional: boolean,
  wasReadBefore: boolean,
): RunEnd {
  if (!(result instanceof Error)) {
    const { columns, incompleteReasons, isVerified } = result;
    if (incompleteReasons.length > 0)
      return { outcome: "incomplete", error: createIncompleteError(resource, incompleteReasons), columns };
    return { outcome: "done", error: null, columns: { ...columns, verified: isVerified } };
  }
  if (result instanceof Forbidden) {
    const isReadNow = hasBeenRead(mirror, resource);
    const outcome = decideDeniedOutcome(result, { isOptional, wasReadBefore, isReadNow });
    return { outcome, error: outcome === "incomplete" ? createAccessDeniedError(resource, result) : result };
  }
  if (result instanceof Stopped) return { outcome: "stopped", error: result };
  return { outcome: result instanceof Incomplete ? "incomplete" : "failed", error: result };
}

/**
 * Decides how a run ends if the API denied access. A run that leaves data in the mirror which no run updates anymore is
 * incomplete. The first run of a resource that the user named fails instead, because the API's error is more useful.
 */
function decideDeniedOutcome(
  denial: Forbidden,
  facts: { isOptional: boolean; wasReadBefore: boolean; isReadNow: boolean },
): "incomplete" | "skipped" | "failed" {
  const { isOptional, isReadNow, wasReadBefore } = facts;
  // If the key itself was rejected, the resource's data may still be available.
  if (failureScope(denial) !== "resource") return "failed";
  if (wasReadBefore || (isOptional && isReadNow)) return "incomplete";
  return isOptional ? "skipped" : "failed";
}

function createIncompleteError({ name }: Resource, reasons: readonly IncompleteReason[]): Incomplete {
  const texts = joinReasons(reasons);
  const hint = reasons.find((reason) => reason.hint)?.hint;
  // A single reason with a hint is printed on its own, because "incomplete" can be misleading. A held-back removal, for
  // example, leaves nothing unread.
  if (hint && reasons.length === 1) return new Incomplete(`${name}: ${texts}.`, { hint });
  return new Incomplete(`${name} is incomplete: ${texts}.`, { hint: hint ?? retryHint });
}

function joinReasons(reasons: readonly IncompleteReason[]): string {
  return reasons.map(({ text }) => text.replace(/\.$/, "")).join("; ");
}

export function warnOfUnexpectedValues(
  { mirror, reporter }: Pick<SyncSession, "mirror" | "reporter">,
  resource: Resource,
): void {
  for (const { name } of [resource, detailsResource(resource) ?? []].flat()) {
    const warning = describeUnexpectedValues(mirror, name);
    if (warning !== null) reporter.warn(warning);
  }
}

/** Formats a finished run's output line. Numbers have no thousands separators, because scripts parse these lines. */
export function formatRunLine(run: RunRow, result: Partial<SyncResult>): string {
  const took = Date.parse(run.finished_at ?? run.started_at) - Date.parse(run.started_at);
  const counts = [
    `${formatRows(run, result)} read`,
    `${run.rows_new} new`,
    `${run.rows_changed} changed`,
    `${run.rows_removed} removed`,
    pluralize(run.requests, "request", String),
    ...(run.retries > 0 ? [pluralize(run.retries, "retry", String)] : []),
  ].join(", ");
  return `${counts} in ${formatDuration(Math.max(0, took))}, ${formatResult(run, result)}`;
}

/**
 * Returns the number of rows read as text: `5`, for example, or `9 surveys and 12 results` if the details have a
 * separate table.
 */
function formatRows({ resource, rows_read }: RunRow, { listedRecords }: Partial<SyncResult>): string {
  const strategy = findResource(resource)?.strategy;
  if (strategy?.kind !== "details" || !strategy.detailRecords) return String(rows_read);
  const { record, detail } = strategy.detailRecords.singular;
  if (listedRecords === undefined) return `${rows_read} ${record}s and ${detail}s`;
  return `${pluralize(listedRecords, record, String)} and ${pluralize(rows_read - listedRecords, detail, String)}`;
}

function formatResult(run: RunRow, result: Partial<SyncResult>): string {
  const { covered_from: from, error, outcome, resource, verified } = run;
  const { isLimitedToCounts = false, hasGaps = false, incompleteReasons = [] } = result;
  if (incompleteReasons.length > 0) return `${outcome}: ${joinReasons(incompleteReasons)}.`;
  if (outcome !== "done") return outcome === "stopped" || error === null ? outcome : `${outcome}: ${error}`;
  if (!verified) return "not verified";
  const verifiedBy = isLimitedToCounts ? "verified by counts" : "verified";
  if (from === null) return verifiedBy;
  const older = hasGaps
    ? `not all older ${resource} were read`
    : `older ${resource} were never requested; \`--full\` reads them`;
  return `${verifiedBy} from ${formatStart(from)} (${older})`;
}

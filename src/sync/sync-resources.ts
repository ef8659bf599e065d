import { Forbidden, failureScope, Incomplete, Stopped } from "../errors.js";
import { detailsResource, type Resource, type Strategy } from "../resources/resource.js";
import { indexTables } from "../store/projection.js";
import { RecordWriter } from "../store/record-writer.js";
import { createRunRow, findLastVerifiedUpToDateSync, hasBeenRead, type RunRow } from "../store/runs.js";
import { describeUnexpectedValues } from "../store/schema-issues.js";
import { silentReporter } from "../util/reporter.js";
import { formatInstant } from "../util/timestamps.js";
import { estimateDated, readDated } from "./dated.js";
import { estimateDetails, readListAndDetails } from "./details.js";
import {
  createAccessDeniedError,
  createFailuresError,
  forEachResource,
  retryHint,
  toError,
} from "./each-resource.js";
import { estimateList, readCompleteList, readRanking } from "./list-strategies.js";
import { estimateMonthly, readMonthly } from "./monthly.js";
import { formatRunLine, joinReasons } from "./run-line.js";
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
} from "./session.js";

/** The functions that implement one strategy. */
interface Engine<How extends Strategy> {
  read: (run: SyncRun<How>) => Promise<SyncResult>;
  /** Estimates the requests that a sync will send. The estimate itself requests only counts and daily totals. */
  estimate: (session: ResourceSession<How>) => Promise<RequestEstimate[]>;
}

const engines: { [Kind in Strategy["kind"]]: Engine<Strategy & { kind: Kind }> } = {
  dated: { read: readDated, estimate: estimateDated },
  list: { read: readCompleteList, estimate: estimateList },
  details: { read: readListAndDetails, estimate: estimateDetails },
  monthly: { read: readMonthly, estimate: estimateMonthly },
  ranking: { read: readRanking, estimate: estimateList },
};

export function chooseEngine({ strategy }: Resource): Engine<Strategy> {
  // TypeScript cannot check that an engine is called only for resources that use its strategy.
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
  /** How to get a key with the scope, which depends on the key's source. */
  hint: string;
  /** True if an earlier run read the resource. Without the scope, its data in the mirror is no longer updated. */
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
  const lost = withoutScope.filter(({ wasReadBefore }) => wasReadBefore);
  const skipped = withoutScope.filter(({ wasReadBefore }) => !wasReadBefore);
  reporter.expect(
    due.map(({ name }) => ({ name, requests: findLastVerifiedUpToDateSync(mirror, name)?.requests })),
  );

  // First, record the resources whose scope the key has lost. This needs no requests, so it succeeds even during an
  // outage.
  const lostAccess = lost.map(({ hint, resource, why }) => {
    const { row, error } = recordLostScope(session, resource, new Forbidden(`${why}.`, { hint }));
    onRunEnd(row);
    return { resource, error };
  });
  const { failures, ...results } = await forEachResource(due, async (resource) => {
    const { row, error } = await syncResource(session, resource, { isOptional: !areNamed });
    onRunEnd(row);
    return { error, isSkipped: row.outcome === "skipped" };
  });
  for (const { resource, why } of skipped) {
    reporter.note(`${resource.name}: skipped: ${why}`);
    const at = formatInstant(clock.now());
    onRunEnd({ ...createRunRow(resource.name, at), finished_at: at, outcome: "skipped", error: why });
  }
  const allResults = { ...results, failures: [...lostAccess, ...failures] };
  const error = createFailuresError(allResults, lost.length + due.length);
  if (error) throw error;
}

/**
 * Records an incomplete run for a resource that was read before but whose scope the key has lost. Sends no requests.
 */
function recordLostScope(
  session: SyncSession,
  resource: Resource,
  denial: Forbidden,
): { row: RunRow; error: Error } {
  const error = createAccessDeniedError(resource, denial);
  const task = silentReporter.begin({ name: resource.name });
  const row = endRun(startRun(session, resource, task), { outcome: "incomplete", error });
  return { row, error };
}

/**
 * Sorts the resources: first those that are not read by date, which take little time, then dated resources in reverse
 * registry order, so that `orders`, whose first sync may take hours, is last.
 */
export function sortForSync(resources: readonly Resource[]): Resource[] {
  const isDated = ({ strategy }: Resource) => strategy.kind === "dated";
  return [...resources.filter((resource) => !isDated(resource)), ...resources.filter(isDated).toReversed()];
}

/**
 * Reads one resource into the mirror and records the run. Returns the run's error instead of throwing it.
 * @param options.isOptional true if the user did not name the resource; it is then skipped if access is denied
 * @throws only if the mirror cannot be written
 */
export async function syncResource(
  session: SyncSession,
  resource: Resource,
  { isOptional }: { isOptional: boolean },
): Promise<{ row: RunRow; error: Error | null }> {
  const wasReadBefore = hasBeenRead(session.mirror, resource);
  const task = session.reporter.begin({ name: resource.name });
  const run = startRun(session, resource, task);
  const result = await readResource(run).catch(toError);
  const end = decideEnd(run, result, isOptional, wasReadBefore);
  const row = endRun(run, end);
  // Prints the run's result to stderr.
  task.end(formatRunLine(row, result instanceof Error ? {} : result));
  warnOfUnexpectedValues(session, resource);
  return { row, error: end.error };
}

async function readResource(run: ResourceRun): Promise<SyncResult> {
  const { mirror, resource } = run;
  const result = await chooseEngine(resource).read({
    ...run,
    writer: new RecordWriter(mirror, resource, run),
  });
  // Create the indexes last, because inserting into tables without indexes is faster.
  indexTables(mirror, resource);
  return result;
}

/** @param result the result of the read, or the error that ended it */
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
  if (result instanceof Stopped) return { outcome: "stopped", error: result };
  if (result instanceof Incomplete) return { outcome: "incomplete", error: result };
  // Only an error that denies access to this resource counts as lost access. A rejected key or machine address affects
  // all resources.
  if (!(result instanceof Forbidden) || failureScope(result) !== "resource")
    return { outcome: "failed", error: result };
  const accessLost: RunEnd = {
    outcome: "incomplete",
    error: createAccessDeniedError(resource, result),
  };
  if (wasReadBefore) return accessLost;
  // If the user named a resource that was never read before, the run fails with the API's error.
  if (!isOptional) return { outcome: "failed", error: result };
  // If access was lost after the first records had been read, the mirror contains part of the resource. If the resource
  // were skipped, nobody would notice that this part is no longer updated.
  return hasBeenRead(mirror, resource) ? accessLost : { outcome: "skipped", error: result };
}

function createIncompleteError({ name }: Resource, reasons: readonly IncompleteReason[]): Incomplete {
  const texts = joinReasons(reasons);
  const hint = reasons.find((reason) => reason.hint)?.hint;
  // If the only reason has its own hint, the message omits "is incomplete", which would be misleading if, for example,
  // a removal was held back although everything was read.
  if (hint && reasons.length === 1) return new Incomplete(`${name}: ${texts}.`, { hint });
  return new Incomplete(`${name} is incomplete: ${texts}.`, { hint: hint ?? retryHint });
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

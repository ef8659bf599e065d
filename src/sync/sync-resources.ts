import { affectsAllResources, Forbidden, findForbidden, Incomplete, isOutage } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { createUnrecordedRun, findLastVerifiedSync, type RunRow } from "../store/runs.js";
import { errorReason } from "../util/system-errors.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { finishRun, lostAccess, startRun, syncResource, toError } from "./run.js";
import type { SyncSession } from "./session.js";

export interface Failure {
  resource: Resource;
  error: Error;
}

export interface ResourceResults {
  failures: Failure[];
  succeeded: number;
  /** The resources that were skipped because the API is down. */
  notTried: readonly Resource[];
}

/** The outcome of the work on one resource. */
interface WorkEnd {
  /** The reason why the work failed or was skipped, or null if it succeeded. */
  error: Error | null;
  /** True if the error does not count as a failure. */
  isSkipped?: boolean;
}

/**
 * Calls `work` for each resource in turn. A failure does not stop the other resources, unless the API is down.
 * @throws errors that affect every resource, such as a rejected key
 */
export async function forEachResource(
  resources: readonly Resource[],
  work: (resource: Resource) => Promise<WorkEnd>,
): Promise<ResourceResults> {
  const results: ResourceResults = { failures: [], succeeded: 0, notTried: [] };
  for (const [index, resource] of resources.entries()) {
    const { error, isSkipped = false }: WorkEnd = await work(resource).catch((thrown: unknown) => ({
      error: toError(thrown),
    }));
    if (error === null) results.succeeded += 1;
    else if (affectsAllResources(error)) throw error;
    else if (!isSkipped) results.failures.push({ resource, error });
    if (isOutage(error)) return { ...results, notTried: resources.slice(index + 1) };
  }
  return results;
}

/** The resources to sync. */
export interface Selection {
  /** The resources to read. The API may nevertheless refuse some of them. */
  allowed: readonly Resource[];
  /** The resources whose scope the key lacks. They are not requested. */
  withoutScope: readonly WithoutScope[];
  /** True if the user named the resources. Otherwise, resources that the API refuses are skipped. */
  named: boolean;
}

export interface WithoutScope {
  resource: Resource;
  why: string;
  /** True if an earlier run read the resource, so that its data is now outdated. */
  isLost: boolean;
}

/**
 * Syncs resources sequentially.
 * @param onRunEnd called with each finished run's row
 */
export async function syncResources(
  session: SyncSession,
  { allowed, withoutScope, named }: Selection,
  onRunEnd: (run: RunRow) => void,
): Promise<ResourceResults> {
  const { clock, mirror, reporter } = session;
  const due = smallFirst(allowed);
  reporter.expect(due.map(({ name }) => ({ name, requests: findLastVerifiedSync(mirror, name)?.requests })));
  const results = await forEachResource(due, async (resource) => {
    const { run, error } = await syncResource(session, resource, !named);
    onRunEnd(run);
    return { error, isSkipped: run.outcome === "skipped" };
  });
  for (const { isLost, resource, why } of withoutScope) {
    if (isLost) {
      const { run, error } = recordLostScope(session, resource, why);
      onRunEnd(run);
      results.failures.push({ resource, error });
      continue;
    }
    reporter.note(`${resource.name}: skipped: ${why}`);
    const at = formatInstant(clock.now());
    onRunEnd({ ...createUnrecordedRun(resource.name, at), finished_at: at, outcome: "skipped", error: why });
  }
  return results;
}

/**
 * Records an incomplete run, without sending a request, for a resource that was read before and whose scope the key has
 * lost.
 */
function recordLostScope(
  session: SyncSession,
  resource: Resource,
  why: string,
): { run: RunRow; error: Error } {
  const hint = "create a key with that scope in the brand's console, then run `brandapi login`";
  const error = lostAccess(resource, new Forbidden(`${why}.`, { hint }));
  const run = finishRun(session, startRun(session, resource.name), { outcome: "incomplete", error });
  return { run, error };
}

/**
 * Puts lists first, because they are short. Resources with dates come last, and the one with the most records comes at
 * the end, because its first sync may take hours.
 */
export function smallFirst(resources: readonly Resource[]): Resource[] {
  const isDated = ({ strategy }: Resource) => strategy.kind === "dated";
  return [...resources.filter((resource) => !isDated(resource)), ...resources.filter(isDated).toReversed()];
}

/**
 * Throws if a resource failed, or if all were skipped.
 * @param total the number of requested resources
 * @throws Incomplete if some resources succeeded; otherwise the first error
 */
export function throwIfFailed({ failures, succeeded, notTried }: ResourceResults, total: number): void {
  if (failures.length === 0 && succeeded > 0) return;
  const [first] = failures;
  if (!first)
    throw new Forbidden("The key and plan allow none of these resources.", {
      hint: "run `brandapi whoami` to see the key's scopes, and check the brand's plan",
    });
  if (succeeded === 0) throw first.error;
  const texts = new Set(failures.map((failure) => failureText(failure, failures)));
  if (notTried.length > 0)
    texts.add(`Skipped because the API is down: ${notTried.map(({ name }) => name).join(", ")}.`);
  const retry = "run the same command again; completed work is kept (see `brandapi status`)";
  const hints = failures.flatMap(({ error }) => {
    const refusal = findForbidden(error);
    return refusal ? (refusal.hint ?? []) : retry;
  });
  throw new Incomplete(
    `${failures.length} of ${pluralize(total, "resource")} failed: ${[...texts].join(" ")}`,
    { hint: [...new Set(hints)].join("; ") },
  );
}

/** Describes a failure in one sentence. Resources that were refused for the same reason share a sentence. */
function failureText({ resource, error }: Failure, all: readonly Failure[]): string {
  const reason = findForbidden(error)?.message;
  const hasSameReason = (failure: Failure) =>
    failure.error instanceof Incomplete && findForbidden(failure.error)?.message === reason;
  const names = reason === undefined ? [] : all.filter(hasSameReason).map((failure) => failure.resource.name);
  if (names.length > 1) return `${names.join(", ")} were read before, but are now refused: ${reason}`;
  return error instanceof Incomplete ? error.message : `${resource.name}: ${errorReason(error)}`;
}

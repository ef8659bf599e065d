import { affectsAllResources, Forbidden, findForbidden, Incomplete, isOutage } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import type { Mirror } from "../store/mirror/database.js";
import { createUnrecordedRun, findLastVerifiedSync, type RunRow, wasRead } from "../store/state/runs.js";
import { errorReason } from "../util/system-errors.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { finishRun, lostAccess, type RecordedRun, startRun, syncResource } from "./run.js";
import type { SyncSession } from "./session.js";

export interface Failure {
  resource: Resource;
  error: unknown;
}

export interface ResourceResults {
  failures: Failure[];
  succeeded: number;
  /** Resources that were skipped because the API is down. */
  notTried: readonly Resource[];
}

/**
 * Runs `work` for each resource in turn. A failure does not stop the other resources, unless the API is down.
 * @param chosen.named true if the user named the resources. If not, resources that the key or the plan never allowed are skipped
 * @throws errors that affect every resource, such as a rejected key
 */
export async function forEachResource(
  { mirror }: Pick<SyncSession, "mirror">,
  { due, named }: { due: readonly Resource[]; named: boolean },
  work: (resource: Resource) => Promise<void>,
): Promise<ResourceResults> {
  const results: ResourceResults = { failures: [], succeeded: 0, notTried: [] };
  for (const [index, resource] of due.entries())
    try {
      await work(resource);
      results.succeeded += 1;
    } catch (error) {
      if (affectsAllResources(error)) throw error;
      const failure = named ? { resource, error } : failureOfOptional(mirror, resource, error);
      if (failure) results.failures.push(failure);
      if (isOutage(error)) return { ...results, notTried: due.slice(index + 1) };
    }
  return results;
}

/** Returns the failure of a resource that the user did not name; null if it was never allowed and is skipped. */
function failureOfOptional(mirror: Mirror, resource: Resource, error: unknown): Failure | null {
  if (!(error instanceof Forbidden)) return { resource, error };
  return wasRead(mirror, resource.name) ? { resource, error: lostAccess(resource, error) } : null;
}

/** A resource that is skipped because the key lacks its scope. */
export interface Skipped {
  resource: Resource;
  why: string;
}

/** Syncs resources one after another. @param onRunEnd is called with the row of each finished run */
export async function syncResources(
  session: SyncSession,
  chosen: { allowed: readonly Resource[]; skipped: readonly Skipped[]; named: boolean },
  onRunEnd: (run: RunRow) => void,
): Promise<ResourceResults> {
  const { clock, mirror, reporter } = session;
  const due = smallFirst(chosen.allowed);
  reporter.expect(due.map(({ name }) => ({ name, requests: findLastVerifiedSync(mirror, name)?.requests })));
  const results = await forEachResource(session, { due, named: chosen.named }, async (resource) => {
    const { run, error } = await syncResource(session, resource, !chosen.named);
    onRunEnd(run);
    if (error !== null) throw error;
  });
  for (const skipped of chosen.skipped) {
    const { resource, why } = skipped;
    if (wasRead(mirror, resource.name)) {
      const { run, error } = recordLostScope(session, skipped);
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

/** Records an incomplete run, without a request, if the key has lost the scope of a resource that was read before. */
function recordLostScope(session: SyncSession, { resource, why }: Skipped): RecordedRun {
  const hint = "create a key with that scope in the brand's console, then run `brandapi login`";
  const error = lostAccess(resource, new Forbidden(`${why}.`, { hint }));
  const run = finishRun(session, startRun(session, resource.name), { outcome: "incomplete", error });
  return { run, error };
}

/** Sorts lists first, because they are short, and the first sync of a resource with dates may take hours. */
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
  const retry = "run the same command again: what succeeded is kept; see `brandapi status`";
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
  if (names.length > 1) return `${names.join(", ")} were read before, and are refused now: ${reason}`;
  return error instanceof Incomplete ? error.message : `${resource.name}: ${errorReason(error)}`;
}

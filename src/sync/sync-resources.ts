import { affectsAllResources, Forbidden, findForbidden, Incomplete, isOutage } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import type { Mirror } from "../store/mirror/database.js";
import { createUnrecordedRun, findLastVerifiedSync, type Run, wasRead } from "../store/state/runs.js";
import { errorReason } from "../util/system-errors.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { finishRun, lostAccess, type RecordedRun, startRun, syncResource } from "./run.js";
import type { SyncSession } from "./session.js";

export interface Failure {
  resource: Resource;
  error: unknown;
}

/** The outcome of the work for several resources. */
export interface ResourceResults {
  failures: Failure[];
  succeeded: number;
  /** The resources that were skipped because the API is down. */
  notTried: readonly Resource[];
}

/**
 * Does work for one resource after another. A failure does not stop the others, unless the API is down.
 * @param chosen.named true if the user named the resources: then a resource that the key or the plan never allowed fails,
 * and is not just skipped
 * @throws errors that would end the work for every resource in the same way, such as a rejected key
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

/** Returns the failure of a resource that was not named; null if it is skipped: it was never allowed. */
function failureOfOptional(mirror: Mirror, resource: Resource, error: unknown): Failure | null {
  if (!(error instanceof Forbidden)) return { resource, error };
  return wasRead(mirror, resource.name) ? { resource, error: lostAccess(resource, error) } : null;
}

/** A resource whose scope the key lacks. */
export interface Skipped {
  resource: Resource;
  why: string;
}

/**
 * Reads resources one after another, as `forEachResource` describes.
 * @param finished called with each run when it ends
 */
export async function syncResources(
  session: SyncSession,
  chosen: { allowed: readonly Resource[]; skipped: readonly Skipped[]; named: boolean },
  finished: (run: Run) => void,
): Promise<ResourceResults> {
  const { clock, mirror, reporter } = session;
  const due = smallFirst(chosen.allowed);
  reporter.expect(due.map(({ name }) => ({ name, requests: findLastVerifiedSync(mirror, name)?.requests })));
  const results = await forEachResource(session, { due, named: chosen.named }, async (resource) => {
    const { run, error } = await syncResource(session, resource, !chosen.named);
    finished(run);
    // The run is recorded in the mirror even if it failed; `forEachResource` collects its error for the exit code.
    if (error !== null) throw error;
  });
  for (const skipped of chosen.skipped) {
    const { resource, why } = skipped;
    if (wasRead(mirror, resource.name)) {
      const { run, error } = recordLostScope(session, skipped);
      finished(run);
      results.failures.push({ resource, error });
      continue;
    }
    reporter.note(`${resource.name}: skipped: ${why}`);
    const at = formatInstant(clock.now());
    finished({ ...createUnrecordedRun(resource.name, at), finished_at: at, outcome: "skipped", error: why });
  }
  return results;
}

/** Records an incomplete run, without a request, of a resource that was read before the key lost its scope. */
function recordLostScope(session: SyncSession, { resource, why }: Skipped): RecordedRun {
  const hint = "create a key with that scope in the brand's console, then run `brandapi login`";
  const error = lostAccess(resource, new Forbidden(`${why}.`, { hint }));
  const run = finishRun(session, startRun(session, resource.name), { outcome: "incomplete", error });
  return { run, error };
}

/** Sorts lists first, because they are short, while the first reading of a resource with dates may take hours. */
export function smallFirst(resources: readonly Resource[]): Resource[] {
  const isDated = ({ strategy }: Resource) => strategy.kind === "dated";
  return [...resources.filter((one) => !isDated(one)), ...resources.filter(isDated).toReversed()];
}

/**
 * Throws if a resource failed.
 * @param total the number of resources that were to be synced or verified
 * @throws Incomplete if some resources succeeded; if none did, the first error, or Forbidden without one
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

/** Returns a sentence about a failure. Resources that were refused for the same reason share one. */
function failureText({ resource, error }: Failure, all: readonly Failure[]): string {
  const reason = findForbidden(error)?.message;
  const hasSameReason = (failure: Failure) =>
    failure.error instanceof Incomplete && findForbidden(failure.error)?.message === reason;
  const names = reason === undefined ? [] : all.filter(hasSameReason).map((failure) => failure.resource.name);
  if (names.length > 1) return `${names.join(", ")} were read before, and are refused now: ${reason}`;
  return error instanceof Incomplete ? error.message : `${resource.name}: ${errorReason(error)}`;
}

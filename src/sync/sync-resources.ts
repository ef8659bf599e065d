import { ApiUnavailable, affectsAllResources, Forbidden, findForbidden, Incomplete } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { blankRun, lastVerifiedSync, type Run, wasRead } from "../store/state/runs.js";
import { errorReason } from "../util/system-errors.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { lostAccess, type RunEnd, recordRun, syncResource } from "./run.js";
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
 * A resource that the key or the plan never allowed is skipped, unless the user named it (`named`).
 * @throws Unauthorized, a refusal of this machine's address, and Stopped at once: the other resources would fail in the same way
 */
export async function forEachResource(
  { mirror }: Pick<SyncSession, "mirror">,
  { due, named }: { due: readonly Resource[]; named: boolean },
  work: (resource: Resource) => Promise<void>,
): Promise<ResourceResults> {
  const ended: ResourceResults = { failures: [], succeeded: 0, notTried: [] };
  for (const [index, resource] of due.entries())
    try {
      await work(resource);
      ended.succeeded += 1;
    } catch (error) {
      if (affectsAllResources(error)) throw error;
      if (named || !(error instanceof Forbidden)) ended.failures.push({ resource, error });
      else if (wasRead(mirror, resource.name))
        ended.failures.push({ resource, error: lostAccess(resource, error) });
      if (!(error instanceof ApiUnavailable && error.affectsAllRequests)) continue;
      ended.notTried = due.slice(index + 1);
      break;
    }
  return ended;
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
  reporter.expect(due.map(({ name }) => ({ name, requests: lastVerifiedSync(mirror, name)?.requests })));
  const ended = await forEachResource(session, { due, named: chosen.named }, async (resource) => {
    const { run, error } = await syncResource(session, resource, !chosen.named);
    finished(run);
    // The run is recorded in the mirror even if it failed; `forEachResource` collects its error for the exit code.
    if (error !== null) throw error;
  });
  for (const skipped of chosen.skipped) {
    const { resource, why } = skipped;
    if (wasRead(mirror, resource.name)) {
      const { run, error } = await recordLostScope(session, skipped);
      finished(run);
      ended.failures.push({ resource, error });
      continue;
    }
    reporter.note(`${resource.name}: skipped: ${why}`);
    const at = formatInstant(clock.now());
    finished({ ...blankRun(resource.name, at), finished_at: at, outcome: "skipped", error: why });
  }
  return ended;
}

/** Records an incomplete run, without a request, of a resource that was read before the key lost its scope. */
async function recordLostScope(session: SyncSession, { resource, why }: Skipped): Promise<RunEnd> {
  const hint = "create a key with that scope in the brand's console, then run `brandapi login`";
  const refusal = new Forbidden(`${why}.`, { hint });
  return await recordRun<never>(session, resource.name, {
    work: () => Promise.reject(lostAccess(resource, refusal)),
    outcomeOf: () => "incomplete",
  });
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

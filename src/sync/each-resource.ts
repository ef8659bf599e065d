import { Forbidden, failureScope, findForbidden, Incomplete } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { pluralize } from "../util/format-text.js";
import { errorReason } from "../util/system-errors.js";

/** The hint for a failed or incomplete run, unless there is a more specific one. */
export const retryHint = "the data read so far is kept; run the same command again";

interface Failure {
  resource: Resource;
  error: Error;
}

interface ResourceResults {
  failures: Failure[];
  succeeded: number;
  notTried: readonly Resource[];
}

/**
 * Calls `work` for each resource in turn. If `work` fails for one, continues with the next, unless the API is down.
 * @throws errors that affect every resource, such as a rejected key
 */
export async function forEachResource(
  resources: readonly Resource[],
  work: (resource: Resource) => Promise<{ error: Error | null; isSkipped?: boolean }>,
): Promise<ResourceResults> {
  const results: ResourceResults = { failures: [], succeeded: 0, notTried: [] };
  for (const [index, resource] of resources.entries()) {
    const { error, isSkipped } = await work(resource).catch((thrown: unknown) => ({
      error: toError(thrown),
      isSkipped: false,
    }));
    if (error === null) {
      results.succeeded += 1;
      continue;
    }
    const scope = failureScope(error);
    if (scope === "command") throw error;
    if (!isSkipped) results.failures.push({ resource, error });
    if (scope === "outage") return { ...results, notTried: resources.slice(index + 1) };
  }
  return results;
}

/**
 * Returns the error for a command in which any resource failed or all were skipped; otherwise, null.
 * @param total the number of resources, excluding those skipped because the key lacks their scope
 * @param hint the hint for a failure without a more specific one
 * @returns an `Incomplete` error if some resources succeeded; otherwise, the first error
 */
export function createFailuresError(
  { failures, succeeded, notTried }: ResourceResults,
  total: number,
  hint = retryHint,
): Error | null {
  if (failures.length === 0 && succeeded > 0) return null;
  const [first] = failures;
  if (!first)
    return new Forbidden("The key and the plan do not allow access to any of these resources.", {
      hint: "run `brandapi whoami` to see the key's scopes, and check the brand's plan",
    });
  if (succeeded === 0) return first.error;
  const texts = describeFailures(failures);
  if (notTried.length > 0)
    texts.push(`Skipped because the API is down: ${notTried.map(({ name }) => name).join(", ")}.`);
  const hints = failures.flatMap(({ error }) => {
    const denial = findForbidden(error);
    if (denial) return denial.hint ?? [];
    return (error instanceof Incomplete && error.hint) || hint;
  });
  return new Incomplete(`${failures.length} of ${pluralize(total, "resource")} failed: ${texts.join(" ")}`, {
    hint: [...new Set(hints)].join("; "),
  });
}

/**
 * Describes each failure in one sentence. If access to several resources was lost for the same reason, one sentence
 * describes them all.
 */
function describeFailures(failures: readonly Failure[]): string[] {
  const groups = new Map<string, [Failure, ...Failure[]]>();
  for (const failure of failures) {
    const { error, resource } = failure;
    const lostAccess = error instanceof Incomplete ? findForbidden(error) : null;
    const key = lostAccess?.message ?? resource.name;
    const group = groups.get(key);
    if (group) group.push(failure);
    else groups.set(key, [failure]);
  }
  return [...groups].map(([reason, group]) => {
    if (group.length === 1) return describeFailure(group[0]);
    const names = group.map(({ resource }) => resource.name).join(", ");
    return `${names} were read before, but access to them is now denied: ${reason}`;
  });
}

function describeFailure({ resource, error }: Failure): string {
  return error instanceof Incomplete ? error.message : `${resource.name}: ${errorReason(error)}`;
}

export function createAccessDeniedError({ name }: Resource, cause: Forbidden): Incomplete {
  const message = `${name} was read before, but access to it is now denied: ${cause.message}`;
  return new Incomplete(message, { hint: cause.hint, cause });
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

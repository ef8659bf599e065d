import { Forbidden } from "../errors.js";
import { createResourceSession, type RequestEstimate, type SyncSession } from "./session.js";
import { chooseEngine, type ResourceSelection, sortForSync } from "./sync-resources.js";

/** A sync's plan and its number of requests, as printed by `sync --dry-run --json`. */
export interface SyncPlan {
  resources: { resource: string; steps: RequestEstimate[]; requests: number }[];
  skipped: { resource: string; why: string }[];
  requests: number;
  /** The estimated duration, or null if there is no rate limit. */
  minutes: number | null;
}

/**
 * Estimates the requests that a sync will send. Requests only counts and daily totals, and writes nothing.
 * @param rateLimit the number of requests per minute, or null if there is no limit
 * @throws Forbidden if the API denies access to a resource that the user named
 */
export async function estimateSync(
  session: SyncSession,
  { allowed, withoutScope, areNamed }: ResourceSelection,
  rateLimit: number | null,
): Promise<SyncPlan> {
  const planned: SyncPlan["resources"] = [];
  const skipped = withoutScope.map(({ resource, why }) => ({ resource: resource.name, why }));
  for (const resource of sortForSync(allowed)) {
    try {
      const steps = await chooseEngine(resource).estimate(createResourceSession(session, resource));
      planned.push({ resource: resource.name, steps, requests: sumRequests(steps) });
    } catch (error) {
      if (areNamed || !(error instanceof Forbidden)) throw error;
      skipped.push({ resource: resource.name, why: error.message });
    }
  }
  const requests = sumRequests(planned);
  // The first minute's requests are sent in a burst, so they take almost no time.
  const minutes = rateLimit === null ? null : Math.max(0, Math.ceil(requests / rateLimit) - 1);
  return { resources: planned, skipped, requests, minutes };
}

function sumRequests(parts: readonly { requests: number }[]): number {
  return parts.reduce((sum, { requests }) => sum + requests, 0);
}

import type { SyncRun } from "./session.js";

/** The maximum number of records per page. Source: the API document, "Limits". */
export const maxPerPage = 100;

/** Returns the number of requests that reading `records` records takes. */
export function pagesFor(records: number): number {
  return Math.max(1, Math.ceil(records / maxPerPage));
}

/** Starts a request budget. The returned function returns the number of remaining requests. */
export function startBudget({ api }: Pick<SyncRun, "api">, requests: number): () => number {
  const end = api.stats.requests + requests;
  return () => end - api.stats.requests;
}

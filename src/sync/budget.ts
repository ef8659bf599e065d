import type { SyncRun } from "./session.js";

/** Records on a page. Source: the API document, "Limits". */
export const maxPerPage = 100;

/** Returns the number of requests needed to read `records` records. */
export function pagesFor(records: number): number {
  return Math.max(1, Math.ceil(records / maxPerPage));
}

/** Starts a budget of requests. Returns a function that returns the remaining requests. */
export function startBudget({ api }: Pick<SyncRun, "api">, requests: number): () => number {
  const end = api.stats.requests + requests;
  return () => end - api.stats.requests;
}

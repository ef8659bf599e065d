import type { Query } from "../resources/types.js";
import type { SyncContext } from "./context.js";
import { readPass } from "./pass.js";

/** Where a stopped read of pages stood. */
export interface Stand {
  /** The first page that was not read. */
  page: number;
  /** The records found so far, in the order of the pages. */
  seen: readonly number[];
}

/** So long after it was read, what a stopped run has is taken as this run's own: it says less the older it is. */
const freshMs = 3_600_000;

/** Whether what a stopped run read at some time is new enough to go on with. */
export function isFresh({ now }: Pick<SyncContext, "now">, readAt: number): boolean {
  return Math.abs(now - readAt) <= freshMs;
}

/**
 * Finds out whether a stopped read can go on from its page: its last page, read again, must hold the same records.
 * Otherwise rows above have come or gone since, and the page numbers mean other rows.
 * @returns the page to go on from and the API's count; null when the read must begin anew
 */
export async function findStand(
  context: SyncContext,
  query: Query,
  { page, seen }: Stand,
): Promise<{ from: number; total: number } | null> {
  if (page <= 1) return null;
  const again = await readPass(context, query, { from: page - 1, upTo: page - 1 });
  const ids = [...again.seen.keys()];
  const tail = seen.slice(seen.length - ids.length);
  if (ids.length === 0 || ids.some((id, index) => id !== tail[index])) return null;
  return { from: Math.min(page, again.totalPages), total: again.total };
}

import type { Mirror } from "../mirror/mirror.js";
import { anyRange, parameters, present } from "./counting.js";

/** How coarsely the API may show instants that it keeps finer: to the second, cut off or rounded. */
export const coarsestMs = 1_000;
/** Records tried before two are found that lie apart. */
const mostTried = 50;

/**
 * An instant near a date, at which a list can be cut and counted: no mirrored record is dated within a second of it,
 * so each is on the same side for the API, whose dates may be finer than what it shows of them.
 * @returns milliseconds: above the newest record up to `date` that has none close above it
 */
export function quietInstant(mirror: Mirror, resource: string, date: number): number {
  const { db } = mirror;
  const below = { ...anyRange, to: date };
  const dates = db
    .prepare(
      `SELECT dated_at FROM records WHERE ${present(below)} AND dated_at IS NOT NULL
       ORDER BY dated_at DESC LIMIT ${mostTried}`,
    )
    .pluck()
    .all(...parameters(resource, below)) as number[];
  const next = db
    .prepare("SELECT min(dated_at) FROM records WHERE resource = ? AND removed_at IS NULL AND dated_at > ?")
    .pluck()
    .get(resource, date) as number | null;
  let above = next ?? Number.POSITIVE_INFINITY;
  for (const at of dates) {
    if (above - at > 2 * coarsestMs) return Math.ceil(at) + coarsestMs;
    above = at;
  }
  return Math.ceil(date);
}

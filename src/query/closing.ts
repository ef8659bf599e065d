import type { Covered } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import type { Resource } from "../resources/types.js";
import { countPresent, openState } from "../state/index.js";

/** How changes to old records are found in a resource that is read by date. */
export interface Closing {
  /** When the oldest check of a day was, ISO 8601. */
  oldest_read_at: string;
  /** Within so many nightly runs each record is read again, by window and audit; null without an audit. */
  reread_within_days: number | null;
}

/** The fewest records that a request of the audit reads: a page, less what it shares with the next. */
const recordsPerRequest = 98;

/** @param now milliseconds since 1970 */
export function readClosing(
  mirror: Mirror,
  { name, strategy }: Resource,
  covered: readonly Covered[],
  now: number,
): Closing | null {
  const used = openState(mirror, name).used();
  if (strategy.kind !== "dated" || covered.length === 0 || !used) return null;
  const { audit, windowMs } = used;
  const behind = countPresent(mirror, name, { from: Number.NEGATIVE_INFINITY, to: now - windowMs });
  const nights = behind === 0 ? 0 : Math.ceil(behind / (audit * recordsPerRequest));
  return {
    oldest_read_at: formatInstant(Math.min(...covered.map(({ readAt }) => readAt))),
    reread_within_days: Number.isFinite(nights) ? nights + 1 : null,
  };
}

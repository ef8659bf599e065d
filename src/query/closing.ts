import type { Covered } from "../lib/ranges.js";
import { dayMs, formatInstant } from "../lib/times.js";
import { type Mirror, quote } from "../mirror/index.js";
import type { Resource } from "../resources/types.js";
import { countPresent, openState } from "../state/index.js";

/** How old changes are closed in a resource that is read by date: what `status` says of it. */
export interface Closing {
  /** The day read longest ago was read then, ISO 8601. */
  oldest_read_at: string;
  /** Every record is read again within so many nightly runs, by window and audit; null where there is no audit. */
  reread_within_days: number | null;
  /** Of the refunds on orders that this mirror knew from their first day on, how many came inside the window. */
  refunds: { seen: number; inside_window: number; recommended_window_days: number } | null;
}

/** The fewest records that a request of the audit reads: a page, less what it shares with the next. */
const recordsPerRequest = 98;

/** Orders younger than this have not had time to be refunded, and would make refunds look early. */
const ripeMs = 120 * dayMs;
/** Fewer refunds say nothing about when refunds come. */
const fewestRefunds = 30;

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
    refunds:
      strategy.refunds === undefined ? null : readRefunds(mirror, name, strategy.refunds, now, windowMs),
  };
}

/** When refunds came, in days after the order: only of orders placed after the mirror's first read, and ripe by now. */
function readRefunds(
  { db }: Mirror,
  resource: string,
  view: string,
  now: number,
  windowMs: number,
): Closing["refunds"] {
  const ages = db
    .prepare(
      `SELECT days_at_most FROM ${quote(view)}
       WHERE refunded_amount > 0 AND order_date <= ? AND order_date >= (SELECT min(started_at) FROM sync_runs WHERE resource = ?)
       ORDER BY days_at_most`,
    )
    .pluck()
    .all(formatInstant(now - ripeMs), resource) as number[];
  if (ages.length < fewestRefunds) return null;
  const inside = ages.filter((days) => days * dayMs <= windowMs).length;
  const almostAll = ages[Math.ceil(ages.length * 0.99) - 1] ?? 0;
  return { seen: ages.length, inside_window: inside, recommended_window_days: Math.ceil(almostAll / 5) * 5 };
}

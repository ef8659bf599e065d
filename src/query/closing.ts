import type { Mirror } from "../mirror/mirror.js";
import type { Resource } from "../resources/types.js";
import { countPresent } from "../state/counting.js";
import type { Span } from "../state/coverage.js";
import { dayMs, formatInstant } from "../times.js";

/** How old changes are closed in a resource that is read by date: what `status` says of it. */
export interface Closing {
  /** The day read longest ago was read then, ISO 8601. */
  oldest_read_at: string;
  /** Every record is read again within so many nightly runs: those behind the window, in the audit's portions. */
  reread_within_days: number;
  /** Of the refunds on orders that this mirror knew from their first day on, how many came inside the window. */
  refunds: { seen: number; inside_window: number; recommended_window_days: number } | null;
}

/** The defaults of `sync`: the audit's records a night, and the window. */
const recordsPerNight = 5 * 95;
const windowMs = 30 * dayMs;

/** Orders younger than this have not had time to be refunded, and would make refunds look early. */
const ripeMs = 120 * dayMs;
/** Fewer refunds say nothing about when refunds come. */
const fewestRefunds = 30;

/** @param now milliseconds since 1970 */
export function readClosing(
  mirror: Mirror,
  resource: Resource,
  spans: readonly Span[],
  now: number,
): Closing | null {
  const { kind } = resource.strategy;
  if ((kind !== "window" && kind !== "increment") || spans.length === 0) return null;
  const behind = countPresent(mirror, resource.name, { from: Number.NEGATIVE_INFINITY, to: now - windowMs });
  return {
    oldest_read_at: formatInstant(Math.min(...spans.map(({ readAt }) => readAt))),
    reread_within_days: Math.max(1, Math.ceil(behind / recordsPerNight)),
    refunds: kind === "window" ? readRefunds(mirror, now) : null,
  };
}

/** When refunds came, in days after the order: only of orders placed after the mirror's first read, and ripe by now. */
function readRefunds({ db }: Mirror, now: number): Closing["refunds"] {
  const ages = db
    .prepare(
      `SELECT days_at_most FROM refunds_by_age
       WHERE refunded_amount > 0 AND order_date <= ? AND order_date >= (SELECT min(started_at) FROM sync_runs WHERE resource = 'orders')
       ORDER BY days_at_most`,
    )
    .pluck()
    .all(formatInstant(now - ripeMs)) as number[];
  if (ages.length < fewestRefunds) return null;
  const inside = ages.filter((days) => days * dayMs <= windowMs).length;
  const almostAll = ages[Math.ceil(ages.length * 0.99) - 1] ?? 0;
  return { seen: ages.length, inside_window: inside, recommended_window_days: Math.ceil(almostAll / 5) * 5 };
}

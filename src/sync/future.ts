import { startOfSecond } from "../lib/ranges.js";
import { minuteOf } from "../lib/times.js";
import { parseTimestamp } from "../lib/timestamp.js";
import { valueAt } from "../records/index.js";
import { allRecords, type Counted, countListed } from "./counts.js";
import type { DatedRun } from "./run.js";
import { rangeQuery } from "./seek.js";

/** Records dated in the future. A sync reads each of them once its date is reached. */
export interface FutureRecords {
  count: Counted;
  records: number;
  /** The newest date as the API returned it; null if it is unknown. */
  until: string | null;
}

/**
 * Separates the records dated in the future from the ranges that were never read.
 * @param unread counts of these ranges, oldest first
 */
export async function splitFuture(
  run: DatedRun,
  unread: readonly Counted[],
): Promise<{ unread: Counted[]; future: FutureRecords | null }> {
  const newest = unread.at(-1);
  const from = startOfSecond(run.clock.now()) + 1_000;
  if (!newest || Number.isFinite(newest.to) || newest.api <= newest.mirror || newest.from >= from)
    return { unread: [...unread], future: null };
  const range = { from, to: Number.POSITIVE_INFINITY };
  const { strategy } = run.resource;
  const { total, first, askedAt } = await countListed(run, rangeQuery(strategy, range));
  const later = { ...range, check: allRecords, api: total, mirror: run.state.count(range), askedAt };
  const records = later.api - later.mirror;
  if (records <= 0) return { unread: [...unread], future: null };
  const [api, mirror] = [newest.api - later.api, newest.mirror - later.mirror];
  const due = { ...newest, to: from - 1, api, mirror };
  const date = valueAt(first, [strategy.date]);
  const until = typeof date === "string" && parseTimestamp(date) !== undefined ? date : null;
  return { unread: [...unread.slice(0, -1), due], future: { count: later, records, until } };
}

/** Says that records are dated in the future, as a clause. */
export function futureText({ records, until }: Pick<FutureRecords, "records" | "until">): string {
  const last = until === null ? "" : ` (the newest ${minuteOf(until)})`;
  return records === 1
    ? `1 record is dated in the future${last} and will be read once that date is reached`
    : `${records} records are dated in the future${last} and will be read once their dates are reached`;
}

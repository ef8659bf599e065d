import type { Range } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import { finishedRuns } from "../state/index.js";
import type { DatedRun } from "../sync/run.js";

/** Records that nightly syncs read again, whatever the API's counts and figures say. */
export interface Rereading extends Range {
  records: number;
  /** At the latest in this night from now; null: in none. */
  night: number | null;
}

/** The fewest records that a request of the audit reads: a page, less what it shares with the next. */
const recordsPerRequest = 98;

/**
 * Returns by which night each record is read again: those of the window in the next one, then those below the audit's
 * cursor, then those above it.
 */
export function rereadings(run: DatedRun): Rereading[] {
  const { mirror, resource, state } = run;
  const used = state.used();
  const newest = state.coverage().at(-1)?.to;
  if (!used || newest === undefined) return [];
  const since = (finishedRuns(mirror, resource.name).until ?? newest) + 1 - used.windowMs;
  const cursor = Math.min(state.cursor() ?? since, since - 1);
  const stretch = (from: number, to: number) => ({ from, to, records: state.count({ from, to }) });
  const window = stretch(since, newest);
  const below = stretch(Number.NEGATIVE_INFINITY, cursor);
  const above = stretch(cursor + 1, since - 1);
  const nightsFor = (records: number) => Math.ceil(records / (used.audit * recordsPerRequest));
  const nights = nightsFor(below.records);
  // Meanwhile other records leave the window, and the audit comes to them first.
  const leaving = (window.records * nights * dayMs) / used.windowMs;
  const all: Rereading[] = [
    { ...window, night: 1 },
    { ...below, night: used.audit > 0 ? nights : null },
    { ...above, night: used.audit > 0 ? nights + nightsFor(above.records) + nightsFor(leaving) : null },
  ];
  return all.filter(({ records }) => records > 0);
}

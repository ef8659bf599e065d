import { type Range, startOfSecond } from "../lib/ranges.js";
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
const mostNights = 8;

/**
 * Returns by which night each record is read again: those of the window in the next one, then those below the audit's
 * cursor, then those above it. What is left after eight nights is told as one.
 */
export function rereadings(run: DatedRun): Rereading[] {
  const { mirror, resource, state } = run;
  const used = state.used();
  const newest = state.coverage().at(-1)?.to;
  if (!used || newest === undefined) return [];
  const since = (finishedRuns(mirror, resource.name).until ?? newest) + 1 - used.windowMs;
  const window = { from: since, to: newest, records: state.count({ from: since, to: newest }), night: 1 };
  const cursor = Math.min(state.cursor() ?? since, since - 1);
  const perNight = used.audit * recordsPerRequest;
  const below = inTurn(run, { from: Number.NEGATIVE_INFINITY, to: cursor }, perNight, 0);
  const nights = below.at(-1)?.night ?? 0;
  // Meanwhile other records leave the window, and the audit comes to them first.
  const leaving = (window.records * nights * dayMs) / used.windowMs;
  const above = { from: cursor + 1, to: since - 1 };
  const all = [window, ...below, ...inTurn(run, above, perNight, nights + Math.ceil(leaving / perNight))];
  return all.filter(({ records }) => records > 0);
}

/** Divides a range into what each night reads of it, newest first. */
function inTurn({ state }: DatedRun, range: Range, perNight: number, before: number): Rereading[] {
  const records = state.count(range);
  if (perNight === 0) return [{ ...range, records, night: null }];
  const nights = Math.ceil(records / perNight);
  const parts: Rereading[] = [];
  for (let { to } = range, night = 1; night <= Math.min(nights, mostNights); night += 1) {
    const isLast = night === nights || night === mostNights;
    const oldest = isLast ? null : state.nthDate(range, records - night * perNight);
    const from = oldest === null ? range.from : startOfSecond(oldest);
    const part = { from, to };
    parts.push({ ...part, records: state.count(part), night: before + (isLast ? nights : night) });
    to = from - 1;
  }
  return parts;
}

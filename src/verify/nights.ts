import { type Range, startOfSecond } from "../lib/ranges.js";
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
 * Returns the night by which each record is read again: those of the window in the next one, then those that the audit's
 * cursor comes to on its way down, then those above it. Nights after the first eight are told as one.
 */
export function rereadings(run: DatedRun): Rereading[] {
  const { mirror, resource, state } = run;
  const used = state.used();
  const newest = state.coverage().at(-1)?.to;
  if (!used || newest === undefined) return [];
  const since = (finishedRuns(mirror, resource.name).until ?? newest) + 1 - used.windowMs;
  const cursor = Math.min(state.cursor() ?? since, since - 1);
  const perNight = used.audit * recordsPerRequest;
  const window = { from: since, to: newest, records: state.count({ from: since, to: newest }), night: 1 };
  const below = inTurn(run, { from: Number.NEGATIVE_INFINITY, to: cursor }, perNight, 0);
  const before = below.at(-1)?.night ?? 0;
  // Meanwhile other records leave the window, and the audit comes to them first.
  const leaving = (window.records * before * 86_400_000) / used.windowMs;
  const above = inTurn(
    run,
    { from: cursor + 1, to: since - 1 },
    perNight,
    before + Math.ceil(leaving / perNight),
  );
  return [window, ...below, ...above].filter(({ records }) => records > 0);
}

/** Divides a range into what each night reads of it, newest first. */
function inTurn({ state }: DatedRun, range: Range, perNight: number, before: number): Rereading[] {
  const records = state.count(range);
  if (records === 0 || perNight === 0) return [{ ...range, records, night: null }];
  const nights = Math.ceil(records / perNight);
  const parts: Rereading[] = [];
  let { to } = range;
  for (let night = 1; to >= range.from && night <= nights; night += 1) {
    const isLast = night === nights || night === mostNights;
    const oldest = state.nthDate(range, records - night * perNight);
    const from = isLast || oldest === null ? range.from : startOfSecond(oldest);
    parts.push({ from, to, records: state.count({ from, to }), night: before + (isLast ? nights : night) });
    if (isLast) break;
    to = from - 1;
  }
  return parts;
}

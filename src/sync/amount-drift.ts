import { counted } from "../lib/counted.js";
import { dayRange, holds, join, type Range } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import { isFirstNotice } from "../records/index.js";
import { compareTotals, movedDays, rangesOfDays } from "./figures.js";
import { readRange } from "./read.js";
import type { DatedRun } from "./run.js";
import { changesOf } from "./write.js";

/** The days whose amounts changed since they were read, although their number of records did not. */
export interface AmountChanges {
  days: string[];
  /** How many days have totals of both readings. */
  compared: number;
}

/** A sample of old days has at most this many records, but at least one day. */
const mostSampled = 500;

/**
 * Returns the days of which only the amounts changed, if they are more than half of all days that can be compared;
 * otherwise null. Amounts converted from another currency change on every day at once, without a change of records.
 */
export function findAmountDrift({ figures, state }: DatedRun): AmountChanges | null {
  const covered = join(state.coverage());
  const days: string[] = [];
  let compared = 0;
  for (const [day, stored] of state.figures()) {
    const now = figures?.get(day);
    if (now === undefined || !holds(covered, dayRange(day))) continue;
    compared += 1;
    const { amounts, count } = compareTotals(stored, now);
    if (amounts && !count) days.push(day);
  }
  return days.length > compared / 2 ? { days: days.sort(), compared } : null;
}

/** Returns the oldest of some days as ranges: old records rarely change, so a change of all amounts at once shows there. */
export function oldestOf(run: DatedRun, days: readonly string[]): Range[] {
  const sample: string[] = [];
  let records = 0;
  for (const day of days) {
    records += run.state.count(dayRange(day));
    if (sample.length > 0 && records > mostSampled) break;
    sample.push(day);
  }
  return rangesOfDays(run, sample);
}

/**
 * Reads the oldest days whose amounts changed. If no record of them changed, the amounts say nothing about records: the
 * run then compares the number of records of each day, and no amounts.
 * @param drift what `findAmountDrift` returned before the run read anything
 * @param left requests that may still be spent
 */
export async function ignoreDrift(run: DatedRun, drift: AmountChanges, left: () => number): Promise<void> {
  const { clock, mirror, reporter, resource } = run;
  const stillChanged = new Set(movedDays(run));
  const days = drift.days.filter((day) => stillChanged.has(day));
  if (days.length === 0) return;
  const ranges = oldestOf(run, days);
  const before = differencesIn(run);
  for (const range of ranges) await readRange(run, range, left);
  const unread = movedDays(run).filter((day) => stillChanged.has(day));
  const isSampleRead = !unread.some((day) => holds(ranges, dayRange(day)));
  if (unread.length === 0 || !isSampleRead || differencesIn(run) !== before) return;
  run.ignoresAmounts = true;
  const { name } = resource;
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => isFirstNotice(mirror, `drift:${name}`, at)))
    reporter.warn(
      `${name}: the API's amounts changed on ${drift.days.length} of ${counted(drift.compared, "day")} at once, but no record of the oldest of these days did. Amounts that are converted from another currency change like this. Such runs compare counts instead, and find a change of an old amount when they read it again in turn (\`--audit\`)`,
    );
}

/** Says why amounts were not compared, as a clause. */
export function driftText({ compared, days }: AmountChanges): string {
  return `amounts were not compared: they changed on ${days.length} of ${counted(compared, "day")} at once, without a change of records in the oldest of them`;
}

function differencesIn(run: DatedRun): number {
  return changesOf(run) + run.state.missing.all().length;
}

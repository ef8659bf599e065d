import { isFirstNotice } from "../store/schema-issues.js";
import type { TotalsByDay } from "../store/sync-state.js";
import { contains, mergeRanges, type Range } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayRange, formatInstant } from "../util/times.js";
import { changedDays, groupDays, hasSameAmounts, hasSameCount } from "./daily-totals.js";
import { readRange } from "./read.js";
import type { DatedRun, DatedSync } from "./run.js";

/**
 * A simultaneous change in the amounts on most days, without a change in the number of records per day. Amounts that
 * the API converts from another currency drift with the exchange rate, even if no record changes.
 */
export interface AmountDrift {
  /** The days whose amounts changed, oldest first. */
  days: string[];
  /** The number of days that have both stored and current totals. */
  compared: number;
}

/** The maximum number of records in a sample of more than one day. */
const maxSampledRecords = 500;

/**
 * Returns a drift if the amounts, but not the number of records, changed on more than half of the days, or null
 * otherwise.
 */
export function findAmountDrift(
  { state }: Pick<DatedRun, "state">,
  apiTotals: TotalsByDay | null,
): AmountDrift | null {
  const covered = mergeRanges(state.coverage());
  const days: string[] = [];
  let compared = 0;
  for (const [day, stored] of state.storedTotals.all()) {
    const now = apiTotals?.get(day);
    if (now === undefined || !contains(covered, dayRange(day))) continue;
    compared += 1;
    if (hasSameCount(stored, now) && !hasSameAmounts(stored, now)) days.push(day);
  }
  return days.length > compared / 2 ? { days: days.sort(), compared } : null;
}

/**
 * Returns the oldest of the given days, merged into ranges. Old records rarely change, so a change in their daily
 * amounts is probably a drift.
 */
export function sampleOldest(run: Pick<DatedRun, "state">, days: readonly string[]): Range[] {
  const sample: string[] = [];
  let records = 0;
  for (const day of days) {
    records += run.state.count(dayRange(day));
    if (sample.length > 0 && records > maxSampledRecords) break;
    sample.push(day);
  }
  return groupDays(run, sample);
}

/**
 * Re-reads the oldest of the drifting days that the run has not yet read.
 * @param remaining returns the number of requests left
 * @returns true if none of their records changed, which means that the run must ignore the amounts on the other days
 */
export async function isDriftWithoutChanges(
  run: DatedSync,
  { days }: AmountDrift,
  remaining: () => number,
): Promise<boolean> {
  const { apiTotals, state } = run;
  const findChangedDays = () => new Set(changedDays(run, { apiTotals, ignoresAmounts: false }));
  const changedBefore = findChangedDays();
  const sample = sampleOldest(
    run,
    days.filter((day) => changedBefore.has(day)),
  );
  // The planned ranges already contained all of the drifting days.
  if (sample.length === 0) return false;

  const missingBefore = state.missing.all().length;
  let addedOrChanged = 0;
  for (const range of sample) addedOrChanged += (await readRange(run, range, remaining)).addedOrChanged;
  if (addedOrChanged > 0 || state.missing.all().length !== missingBefore) return false;

  const unread = [...findChangedDays()].filter((day) => changedBefore.has(day));
  const isSampleRead = !unread.some((day) => contains(sample, dayRange(day)));
  return isSampleRead && unread.length > 0;
}

/** Warns about drifting amounts, once per mirror. */
export function warnOfDrift(
  { clock, mirror, reporter, resource }: DatedRun,
  { compared, days }: AmountDrift,
): void {
  if (mirror.transaction(() => isFirstNotice(mirror, `drift:${resource.name}`, formatInstant(clock.now()))))
    reporter.warn(
      `${resource.name}: the API's amounts changed on ${days.length} of ${pluralize(compared, "day")} at the same time, although no ` +
        "record on the oldest of these days changed. This happens if the API converts amounts from another currency. " +
        "Runs then compare counts instead, and detect a change to an old amount only when the audit re-reads the record " +
        "(`--audit`)",
    );
}

/** Explains why amounts were not compared. */
export function driftText({ compared, days }: AmountDrift): string {
  return `amounts were not compared, because they changed on ${days.length} of ${pluralize(compared, "day")} at the same time, although no record on the oldest of these days changed`;
}

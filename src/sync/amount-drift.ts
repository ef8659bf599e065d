import type { TotalsByDay } from "../store/state/sync-state.js";
import { isFirstNotice } from "../store/tables/schema-issues.js";
import { contains, mergeRanges, type Range } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayRange, formatInstant } from "../util/times.js";
import { changedDays, groupDays, hasSameAmounts, hasSameCount } from "./daily-totals.js";
import { readRange } from "./read.js";
import type { DatedRun, DatedSync } from "./session.js";

/**
 * A change of the amounts of most days at once, while the numbers of records stay the same. Amounts that are converted
 * from another currency drift with the exchange rate, without any change to the records.
 */
export interface AmountDrift {
  /** The days whose amounts changed, oldest first. */
  days: string[];
  /** The number of days with totals from both times. */
  compared: number;
}

/** The maximum number of records in a sample of several days. */
const maxSampledRecords = 500;

/** Returns a drift if only the amounts changed on more than half of the days; otherwise null. */
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

/** Returns the oldest of these days, merged into ranges. Old records rarely change, so their amounts change only by drift. */
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
 * Re-reads the oldest of the drifting days that the run has not read yet.
 * @param remaining returns the number of remaining requests
 * @returns true if none of their records changed, so that the run has to ignore the amounts of the other days
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
  // The planned ranges contained all drifting days.
  if (sample.length === 0) return false;

  const missingBefore = state.missing.all().length;
  let addedOrChanged = 0;
  for (const range of sample) addedOrChanged += (await readRange(run, range, remaining)).addedOrChanged;
  if (addedOrChanged > 0 || state.missing.all().length !== missingBefore) return false;

  const unread = [...findChangedDays()].filter((day) => changedBefore.has(day));
  const isSampleRead = !unread.some((day) => contains(sample, dayRange(day)));
  return isSampleRead && unread.length > 0;
}

/** Warns about drifting amounts, once for each mirror. */
export function warnOfDrift(
  { clock, mirror, reporter, resource }: DatedRun,
  { compared, days }: AmountDrift,
): void {
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => isFirstNotice(mirror, `drift:${resource.name}`, at)))
    reporter.warn(
      `${resource.name}: the API's amounts changed on ${days.length} of ${pluralize(compared, "day")} at once, but no ` +
        "record of the oldest of these days did. Amounts that are converted from another currency change like this. " +
        "Such runs compare counts instead, and find a change of an old amount when the audit re-reads the record " +
        "(`--audit`)",
    );
}

/** Explains why amounts were not compared, as a clause. */
export function driftText({ compared, days }: AmountDrift): string {
  return `amounts were not compared: they changed on ${days.length} of ${pluralize(compared, "day")} at once, but no record of the oldest of these days did`;
}

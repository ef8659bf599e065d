import type { DatedStrategy } from "../resources/resource.js";
import { countCurrent, createRecordComparison, recordKey } from "../store/records.js";
import { addNotice } from "../store/schema-issues.js";
import type { SyncState, TotalsByDay } from "../store/sync-state.js";
import { pluralize } from "../util/format-text.js";
import { dayRange, isWithinOneOf, mergeRanges, type TimeRange } from "../util/time-ranges.js";
import { formatInstant } from "../util/timestamps.js";
import { findChangedDays, groupDays, hasSameAmounts, hasSameCount } from "./daily-totals.js";
import { rangeQuery } from "./dates.js";
import { readList } from "./read-list.js";
import type { DatedRun, ResourceRun } from "./session.js";

/**
 * A change in the amounts for most days, but not in the record counts. This happens when the API converts amounts from
 * another currency and the exchange rate moves. If no record in a sample of these days has changed, the run stops
 * comparing amounts.
 */
export interface AmountDrift {
  days: string[];
  /** The number of days whose totals were compared. */
  compared: number;
}

/** The maximum number of records in a sample. A sample of a single day may have more. */
const maxSampledRecords = 500;

export function findAmountDrift(state: SyncState, apiTotals: TotalsByDay | null): AmountDrift | null {
  const covered = mergeRanges(state.loadCoverage());
  const days: string[] = [];
  let compared = 0;
  for (const [day, stored] of state.storedTotals.load()) {
    const now = apiTotals?.get(day);
    if (now === undefined || !isWithinOneOf(dayRange(day), covered)) continue;
    compared += 1;
    if (hasSameCount(stored, now) && !hasSameAmounts(stored, now)) days.push(day);
  }
  // If the amounts changed on only a few days, the records themselves may have changed.
  return days.length > compared / 2 ? { days: days.sort(), compared } : null;
}

/**
 * Selects the oldest of the given days. Recent records change more often, and a single changed record in the sample
 * rules out drift.
 */
export function selectSample(state: SyncState, days: readonly string[]): TimeRange[] {
  const sample: string[] = [];
  let records = 0;
  for (const day of days) {
    records += state.count(dayRange(day));
    if (sample.length > 0 && records > maxSampledRecords) break;
    sample.push(day);
  }
  return groupDays(state, sample);
}

/**
 * Returns true if the amounts changed although the records did not. Compares only a sample: the oldest of the drifting
 * days that this run has not read yet.
 */
export async function confirmDrift(run: DatedRun, drift: AmountDrift): Promise<boolean> {
  const { apiTotals, state } = run;
  // The days that this run has read no longer differ, because their new totals have been stored.
  const stillDiffering = new Set(findChangedDays(state, apiTotals, { ignoresAmounts: false }));
  const days = drift.days.filter((day) => stillDiffering.has(day));
  const sample = selectSample(state, days);
  // If the sample contains all of the days, re-reading them takes no more requests than comparing them.
  if (days.every((day) => isWithinOneOf(dayRange(day), sample))) return false;
  return await confirmSampleUnchanged(run, sample);
}

/** True if the API and the mirror have the same records in the given ranges. Writes nothing. */
export async function confirmSampleUnchanged(
  run: ResourceRun<DatedStrategy>,
  sample: readonly TimeRange[],
): Promise<boolean> {
  const { mirror, resource } = run;
  const compare = createRecordComparison(mirror, resource);
  for (const range of sample) {
    const list = await readList(run, { query: rangeQuery(resource.strategy, range) });
    const records = [...list.records.values()].map(({ record }) => record);
    const isSame = records.every(
      (record, position) => compare(record, recordKey(resource, record, position)) === "same",
    );
    if (!list.isComplete || !isSame || records.length !== countCurrent(mirror, resource.name, range))
      return false;
  }
  return true;
}

export function warnOfDrift(
  { clock, mirror, reporter, resource }: DatedRun,
  { compared, days }: AmountDrift,
): void {
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => addNotice(mirror, `drift:${resource.name}`, at)))
    reporter.warn(
      `${resource.name}: the API's amounts for ${days.length} of ${pluralize(compared, "day")} changed at once, although no ` +
        "record from the oldest of these days has changed. This happens when the API converts amounts from another currency. " +
        "Runs then compare counts instead, and detect a change to an old amount only when the audit re-reads the record " +
        "(`--audit`)",
    );
}

export function describeDrift({ compared, days }: AmountDrift): string {
  return `amounts were not compared, because those for ${days.length} of ${pluralize(compared, "day")} changed at once, although no record from the oldest of these days has changed`;
}

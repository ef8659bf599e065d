import { readRun } from "../store/runs.js";
import { isFirstNotice } from "../store/schema-issues.js";
import { allTime, contains, dayRange, describeRange, mergeRanges } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import {
  allRecords,
  bisect,
  type CountComparison,
  compareCount,
  compareCovered,
  compareUnread,
  differingCounts,
  futureText,
  separateFuture,
  sumCounts,
  sumOf,
} from "./counts.js";
import {
  type AmountDrift,
  type ComparedTotals,
  changedDays,
  groupDays,
  sampleOldest,
} from "./daily-totals.js";
import { readRange } from "./read.js";
import { type CountSums, type DatedRun, type DatedSync, type IncompleteReason, startBudget } from "./run.js";

const maxRounds = 4;

interface Reconciliation {
  incompleteReasons: IncompleteReason[];
  sums: CountSums;
  /** True if the API counts records that it does not return for any date range (A11). */
  hasUndated: boolean;
  ignoresAmounts: boolean;
}

/**
 * Compares the mirror with the API's daily totals and counts. Re-reads the dates that differ, within the budget and at
 * most four times. Always ends with a comparison.
 * @param drift the drift found before any record was read, because reading a day replaces its stored totals
 */
export async function reconcile(run: DatedSync, drift: AmountDrift | null): Promise<Reconciliation> {
  const { apiTotals, options, reporter, resource } = run;
  const remaining = startBudget(run, options.budget);
  // Read the sample first, because it decides whether the run compares the amounts of the other days.
  const ignoresAmounts = drift !== null && (await isDriftWithoutChanges(run, drift, remaining));
  if (ignoresAmounts) warnOfDrift(run, drift);
  const compared = { apiTotals, ignoresAmounts };
  await readChangedDays(run, compared, remaining);

  const wrongFilters: IncompleteReason[] = [];
  let { differing, sums } = await recount(run);
  for (let round = 1; round <= maxRounds && differing.length > 0 && remaining() > 0; round += 1) {
    for (const count of differing) wrongFilters.push(...(await readDiffering(run, count, remaining)));
    // Reading part of a day deletes its stored totals. The rest of the day must then be read to store them again.
    await readChangedDays(run, compared, remaining);
    ({ differing, sums } = await recount(run));
  }

  let undatedCount = 0;
  const isComplete = differing.length + wrongFilters.length + run.unsettledSlices.length === 0;
  if (isComplete && isAllCovered(run)) {
    undatedCount = await requestUndatedCount(run, sums);
    // Records added since the comparison could explain the difference, so the run counts again.
    if (undatedCount > 0) ({ differing, sums } = await recount(run));
  }
  const hasUndated = undatedCount > 0 && differing.length === 0;
  if (hasUndated)
    reporter.warn(
      `${resource.name}: the API counts ${pluralize(undatedCount, "more record")} without a date range than in all date ranges combined: these records are not read, and the run is not verified`,
    );
  const incompleteReasons = [
    ...run.unsettledSlices,
    ...wrongFilters,
    ...differing.map((count) => ({ text: differenceText(resource.name, count) })),
    ...unreadDays(run, compared),
  ];
  return { incompleteReasons, sums, hasUndated, ignoresAmounts };
}

function differenceText(resource: string, count: CountComparison): string {
  const { apiCount, fault, filter, mirrorCount } = count;
  const name = filter === allRecords ? resource : filter.name;
  if (fault !== null)
    return `the API counts ${name} with unexpected dates in ${describeRange(count)}: ${fault}`;
  return `the API counts ${apiCount} ${name}, but the mirror has ${mirrorCount}`;
}

function unreadDays(run: DatedRun, compared: ComparedTotals): IncompleteReason[] {
  const days = changedDays(run, compared).length;
  if (days === 0) return [];
  const text = `the API's daily totals changed on ${pluralize(days, "day")}, which the next runs will read`;
  return [{ text }];
}

function isAllCovered({ state }: DatedSync): boolean {
  const [first, ...others] = mergeRanges(state.coverage());
  const isContinuous = first?.from === Number.NEGATIVE_INFINITY && others.length === 0;
  return isContinuous && state.markedSlices().length === 0;
}

/** Returns the number of records that the API counts without a date range, but not in any date range (A11). */
async function requestUndatedCount(run: DatedSync, { api_total }: CountSums): Promise<number> {
  const { apiCount: all } = await compareCount(run, allTime);
  const others = all - (api_total ?? 0);
  if (others <= 0) return 0;
  const unread = await compareUnread(run);
  const { future } = await separateFuture(run, unread);
  if (future) run.reporter.note(`${run.resource.name}: ${futureText(future)}`);
  return Math.max(0, others - sumOf(unread, "apiCount"));
}

/**
 * Re-reads a sample from the oldest days with drifting amounts. Days that this run has already read are excluded.
 * @param remaining returns the number of requests left
 * @returns true if no record in the sample has changed, in which case the run ignores the amounts on the other days
 */
async function isDriftWithoutChanges(
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
  // The run has already re-read all days with drifting amounts.
  if (sample.length === 0) return false;

  const countChanges = () => {
    const { rows_new, rows_changed } = readRun(run.mirror, run.runId);
    return rows_new + rows_changed;
  };
  const changesBefore = countChanges();
  const missingBefore = state.missing.all().length;
  for (const range of sample) await readRange(run, range, remaining);
  if (countChanges() > changesBefore || state.missing.all().length !== missingBefore) return false;

  const unread = [...findChangedDays()].filter((day) => changedBefore.has(day));
  const isSampleRead = !unread.some((day) => contains(sample, dayRange(day)));
  return isSampleRead && unread.length > 0;
}

function warnOfDrift({ clock, mirror, reporter, resource }: DatedRun, { compared, days }: AmountDrift): void {
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => isFirstNotice(mirror, `drift:${resource.name}`, at)))
    reporter.warn(
      `${resource.name}: the API's amounts changed on ${days.length} of ${pluralize(compared, "day")} at the same time, although no ` +
        "record on the oldest of these days changed. This happens if the API converts amounts from another currency. " +
        "Runs then compare counts instead, and detect a change to an old amount only when the audit re-reads the record " +
        "(`--audit`)",
    );
}

async function readChangedDays(
  run: DatedSync,
  compared: ComparedTotals,
  remaining: () => number,
): Promise<void> {
  for (const range of groupDays(run, changedDays(run, compared))) {
    if (remaining() <= 0) return;
    await readRange(run, range, remaining);
  }
}

/** Compares the counts for all covered ranges. A distrusted filter is trusted again if its counts agree. */
async function recount(run: DatedSync): Promise<{ differing: CountComparison[]; sums: CountSums }> {
  const { mirror, state } = run;
  const counts = await compareCovered(run);
  const wrong = differingCounts(counts).map(({ filter }) => filter.name);
  const distrusted = new Set([...state.distrusted()].filter((name) => wrong.includes(name)));
  if (distrusted.size < state.distrusted().size) mirror.transaction(() => state.setDistrusted(distrusted));
  const differing = differingCounts(counts, distrusted);
  return { differing, sums: sumCounts(counts, differing.length) };
}

/**
 * Re-reads the differing parts of a range, within the budget. If the cause is a wrong status filter, marks the filter
 * as distrusted and returns the reason.
 */
async function readDiffering(
  run: DatedSync,
  differing: CountComparison,
  remaining: () => number,
): Promise<IncompleteReason[]> {
  const { mirror, state } = run;
  const { filter } = differing;
  for await (const part of bisect(run, differing, remaining)) {
    if (remaining() <= 0) return [];
    const reached = await readRange(run, part, remaining);
    const isReadCompletely = reached <= part.from;
    if (filter === allRecords || !isReadCompletely || !(await isMeaningless(run, part))) continue;
    mirror.transaction(() => state.setDistrusted([...state.distrusted(), filter.name]));
    return [
      {
        text: `the API's filter \`${filter.name}\` does not count the records that have this status, so the filter is ignored until it counts them`,
      },
    ];
  }
  return [];
}

/**
 * True if the API's filter does not count the records with its status (A7), because its count still differs after a
 * re-read. If the API's count has changed since then, the records have changed, so the filter may be correct.
 */
async function isMeaningless(run: DatedSync, before: CountComparison): Promise<boolean> {
  const after = await compareCount(run, before, before.filter);
  return after.apiCount === before.apiCount && after.mirrorCount !== after.apiCount;
}

import { allTime, mergeRanges } from "../util/ranges.js";
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
  sumOf,
  sumTotals,
} from "./counts.js";
import { type ComparedTotals, changedDays, groupDays } from "./daily-totals.js";
import { readRange } from "./read.js";
import type { DatedSync } from "./session.js";
import type { CountTotals, IncompleteReason } from "./strategy.js";

const maxRounds = 4;

/** The result of comparing the API's counts with the mirror's. */
interface Reconciliation {
  /** The counts that still differ, and the filters that count wrong. */
  incompleteReasons: IncompleteReason[];
  totals: CountTotals;
  /** True if the API counts more records without a date range than in all ranges together (A11). */
  hasUndated: boolean;
}

/**
 * Compares the counts of everything that is covered, and reads where they differ, until they agree, at most four times.
 * The last count comes after the last reading.
 * @param remaining returns the remaining requests of the run's budget
 */
export async function reconcile(
  run: DatedSync,
  compared: ComparedTotals,
  remaining: () => number,
): Promise<Reconciliation> {
  const { reporter, resource } = run;
  const wrongFilters: IncompleteReason[] = [];
  let { differing, totals } = await recount(run);
  for (let round = 1; round <= maxRounds && differing.length > 0 && remaining() > 0; round += 1) {
    for (const count of differing) wrongFilters.push(...(await readDiffering(run, count, remaining)));
    // If only part of a day was read, the rest of the day may have changed as well.
    await readChangedDays(run, compared, remaining);
    ({ differing, totals } = await recount(run));
  }
  let undatedCount = 0;
  const isComplete = differing.length + wrongFilters.length + run.incompleteReasons.length === 0;
  if (isComplete && isAllCovered(run)) {
    undatedCount = await requestUndatedCount(run, totals);
    // The other records may only have been added after the counts.
    if (undatedCount > 0) ({ differing, totals } = await recount(run));
  }
  const hasUndated = undatedCount > 0 && differing.length === 0;
  if (hasUndated)
    reporter.warn(
      `${resource.name}: the API counts ${undatedCount} more records without a date range than in all date ranges: those are not read, and nothing is verified`,
    );
  const differences = differing.map((count) => ({ text: differenceText(resource.name, count) }));
  return { incompleteReasons: [...wrongFilters, ...differences], totals, hasUndated };
}

function differenceText(resource: string, { apiCount, filter, mirrorCount }: CountComparison): string {
  const name = filter === allRecords ? resource : filter.name;
  return `the API counts ${apiCount} ${name} and the mirror ${mirrorCount}`;
}

/** True if everything from the beginning to the newest read is covered. */
function isAllCovered({ state }: DatedSync): boolean {
  const [first, ...others] = mergeRanges(state.coverage());
  const isContinuous = first?.from === Number.NEGATIVE_INFINITY && others.length === 0;
  return isContinuous && state.markedSlices().length === 0;
}

/** Returns the number of records that the API counts without a date range but not in any range (A11). */
async function requestUndatedCount(run: DatedSync, { api_total }: CountTotals): Promise<number> {
  const { apiCount: all } = await compareCount(run, allTime);
  const others = all - (api_total ?? 0);
  if (others <= 0) return 0;
  const unread = await compareUnread(run);
  const { future } = await separateFuture(run, unread);
  if (future) run.reporter.note(`${run.resource.name}: ${futureText(future)}`);
  return Math.max(0, others - sumOf(unread, "apiCount"));
}

/** Reads the days whose totals differ from those of their last reading (A8), while the budget lasts. */
export async function readChangedDays(
  run: DatedSync,
  compared: ComparedTotals,
  remaining: () => number,
): Promise<void> {
  for (const range of groupDays(run, changedDays(run, compared))) {
    if (remaining() <= 0) return;
    await readRange(run, range, remaining);
  }
}

/**
 * Compares the counts of everything that is covered. Trusts a distrusted filter again if it agrees now.
 * @returns `differing`: the counts that differ, without those of distrusted filters
 */
async function recount(run: DatedSync): Promise<{ differing: CountComparison[]; totals: CountTotals }> {
  const { mirror, state } = run;
  const counts = await compareCovered(run);
  const wrong = differingCounts(counts).map(({ filter }) => filter.name);
  const distrusted = new Set([...state.distrusted()].filter((name) => wrong.includes(name)));
  if (distrusted.size < state.distrusted().size) mirror.transaction(() => state.setDistrusted(distrusted));
  const differing = differingCounts(counts, distrusted);
  return { differing, totals: sumTotals(counts, differing.length) };
}

/**
 * Reads the parts of a range in which a count differs, while the budget lasts. If the filter turns out to be wrong, stops
 * trusting it, and returns that as the reason.
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
    const { reached } = await readRange(run, part, remaining);
    const isReadCompletely = reached <= part.from;
    if (filter === allRecords || !isReadCompletely || !(await isMeaningless(run, part))) continue;
    mirror.transaction(() => state.setDistrusted([...state.distrusted(), filter.name]));
    return [
      {
        text: `the API's filter \`${filter.name}\` does not count the records that have this status: it is ignored until it does`,
      },
    ];
  }
  return [];
}

/**
 * True if a filter does not count the records that have its status (A7): its count stayed the same while they were
 * read, and differs from theirs. If the count changed, so did the records, and the filter may be right.
 */
async function isMeaningless(run: DatedSync, before: CountComparison): Promise<boolean> {
  const after = await compareCount(run, before, before.filter);
  return after.apiCount === before.apiCount && after.mirrorCount !== after.apiCount;
}

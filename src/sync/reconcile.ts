import { countCurrent } from "../store/records.js";
import { allTime, describeRange, mergeRanges } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
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
import type { CountTotals, DatedSync, IncompleteReason, SyncRun } from "./run.js";

const maxRounds = 4;

interface Reconciliation {
  /** The counts that still differ after re-reading, and the filters that turned out to be wrong. */
  incompleteReasons: IncompleteReason[];
  totals: CountTotals;
  /** True if the API has records that it does not return in any date range (A11). */
  hasUndated: boolean;
}

/**
 * Compares the counts for covered ranges and re-reads the differing parts, up to four times. The last step is always a
 * comparison.
 *
 * If the count for a status filter still differs after all of its records were read, the filter is wrong (A7):
 * `readDiffering` distrusts it, so that its count is ignored until `recount` finds that it agrees.
 * @param remaining returns the number of requests left
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
    // Reading part of a day deletes the day's stored totals, so the rest of the day must be read as well.
    await readChangedDays(run, compared, remaining);
    ({ differing, totals } = await recount(run));
  }
  let undatedCount = 0;
  const isComplete = differing.length + wrongFilters.length + run.unsettledSlices.length === 0;
  if (isComplete && isAllCovered(run)) {
    undatedCount = await requestUndatedCount(run, totals);
    // The difference may be due to records that were added after the comparison.
    if (undatedCount > 0) ({ differing, totals } = await recount(run));
  }
  const hasUndated = undatedCount > 0 && differing.length === 0;
  if (hasUndated)
    reporter.warn(
      `${resource.name}: the API counts ${pluralize(undatedCount, "more record")} without a date range than in all date ranges combined: these records are not read, and the run is not verified`,
    );
  const differences = differing.map((count) => ({ text: differenceText(resource.name, count) }));
  return { incompleteReasons: [...wrongFilters, ...differences], totals, hasUndated };
}

function differenceText(resource: string, count: CountComparison): string {
  const { apiCount, fault, filter, mirrorCount } = count;
  const name = filter === allRecords ? resource : filter.name;
  if (fault !== null)
    return `the API counts ${name} with unexpected dates in ${describeRange(count)}: ${fault}`;
  return `the API counts ${apiCount} ${name}, but the mirror has ${mirrorCount}`;
}

/** True if all dates up to the newest date read are covered. */
function isAllCovered({ state }: DatedSync): boolean {
  const [first, ...others] = mergeRanges(state.coverage());
  const isContinuous = first?.from === Number.NEGATIVE_INFINITY && others.length === 0;
  return isContinuous && state.markedSlices().length === 0;
}

/** Returns the number of records that the API counts only if no date range is given (A11). */
async function requestUndatedCount(run: DatedSync, { api_total }: CountTotals): Promise<number> {
  const { apiCount: all } = await compareCount(run, allTime);
  const others = all - (api_total ?? 0);
  if (others <= 0) return 0;
  const unread = await compareUnread(run);
  const { future } = await separateFuture(run, unread);
  if (future) run.reporter.note(`${run.resource.name}: ${futureText(future)}`);
  return Math.max(0, others - sumOf(unread, "apiCount"));
}

/** Re-reads the days whose totals have changed (A8), within the budget. */
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

/** Compares the counts for covered ranges. Trusts a filter again if its count now agrees. */
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
 * Re-reads the differing parts of a range, within the budget. If the filter is wrong, marks it as distrusted and
 * returns the reason.
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
        text: `the API's filter \`${filter.name}\` does not count the records that have this status, so the filter is ignored until it counts them`,
      },
    ];
  }
  return [];
}

/**
 * True if a filter does not count the records with its status (A7): its count still differs after the records were
 * re-read. If the count changed in the meantime, the records changed as well, so the filter may be correct.
 */
async function isMeaningless(run: DatedSync, before: CountComparison): Promise<boolean> {
  const after = await compareCount(run, before, before.filter);
  return after.apiCount === before.apiCount && after.mirrorCount !== after.apiCount;
}

/**
 * Refuses to remove all records, or more than half of a table with more than 20 records, unless `--accept-removals` is
 * given.
 * @returns the reason, or null if the removals are accepted
 */
export function refuseRemovals(
  { options, resource: { name } }: Pick<SyncRun, "options" | "resource">,
  removals: number,
  present: number,
): IncompleteReason | null {
  const isImplausible = removals > 0 && (removals === present || (present > 20 && removals > present / 2));
  if (!isImplausible || options.acceptRemovals) return null;
  return {
    text: `the API no longer returns ${removals} of ${present} mirrored records: nothing was removed`,
    hint: `if that is correct, run \`brandapi sync ${name} --accept-removals\``,
  };
}

/** Removes the missing records. If implausibly many are missing, removes nothing and returns the reason. */
export function removeMissing(run: SyncRun): IncompleteReason[] {
  const { clock, mirror, resource, state, writer } = run;
  // Records returned in a marked slice still exist, even if the API does not return them at their own dates.
  const marked = state.markedIds();
  const ids = state.missing.all().flatMap(({ id }) => (marked.has(id) ? [] : id));
  const refusal = refuseRemovals(run, ids.length, countCurrent(mirror, resource.name));
  if (refusal) return [refusal];
  if (ids.length === 0) return [];
  mirror.transaction(() => {
    writer.remove(ids, clock.now());
    state.missing.delete(ids);
  });
  return [];
}

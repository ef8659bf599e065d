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
  sumTotals,
} from "./counts.js";
import { changedDays, groupDays } from "./daily-totals.js";
import { readRange } from "./read.js";
import type { DatedRun } from "./session.js";

const maxRounds = 4;

/**
 * Counts all that is covered, and reads where a count differs, until all counts agree, at most four times. The last
 * count comes after the last reading. What still differs is a shortfall.
 * @param left requests that may still be spent
 */
export async function reconcile(run: DatedRun, left: () => number): Promise<void> {
  const { reporter, resource, row, incompleteReasons, state } = run;
  let differing = await recount(run);
  for (let round = 1; round <= maxRounds && differing.length > 0 && left() > 0; round += 1) {
    for (const one of differing) await readDiffering(run, one, left);
    // A part of a day that changed says nothing of the rest of the day.
    await readChangedDays(run, left);
    differing = await recount(run);
  }
  const [covered, ...others] = mergeRanges(state.coverage());
  const isCovered = covered?.from === Number.NEGATIVE_INFINITY && others.length === 0;
  const isAllRead = isCovered && state.markedSlices().length === 0;
  if (isAllRead && differing.length === 0 && incompleteReasons.length === 0) {
    // Without a range (A11).
    const whole = await compareCount(run, allTime);
    let beside = whole.api - (row.api_total ?? 0);
    if (beside > 0) {
      const unread = await compareUnread(run);
      beside -= sumTotals(unread).api_total;
      const { future } = await separateFuture(run, unread);
      if (future) reporter.note(`${resource.name}: ${futureText(future)}`);
    }
    // A record that came after the counts is no record beside the dates.
    if (beside > 0) differing = await recount(run);
    if (beside > 0 && differing.length === 0) {
      run.isPartial = true;
      reporter.warn(
        `${resource.name}: the API counts ${beside} more without a range of dates than in all dates: those are not read, and nothing is verified`,
      );
    }
  }
  for (const { api, filter, mirror } of differing)
    incompleteReasons.push(
      `the API counts ${api} ${filter === allRecords ? resource.name : filter.name} and the mirror ${mirror}`,
    );
}

/** Reads the days whose figures are not those of their last reading (A8), while the budget lasts. */
export async function readChangedDays(run: DatedRun, left: () => number): Promise<void> {
  for (const range of groupDays(run, changedDays(run))) {
    if (left() <= 0) return;
    await readRange(run, range, left);
  }
}

/**
 * Counts all that is covered, trusts a distrusted filter again if it agrees by now, and notes the totals in the run's row.
 * @returns the counts that differ, without those of distrusted filters
 */
async function recount(run: DatedRun): Promise<CountComparison[]> {
  const { mirror, row, state } = run;
  const counts = await compareCovered(run);
  const wrong = differingCounts(counts).map(({ filter }) => filter.name);
  const distrusted = new Set([...state.distrusted()].filter((name) => wrong.includes(name)));
  if (distrusted.size < state.distrusted().size) mirror.transaction(() => state.setDistrusted(distrusted));
  const differing = differingCounts(counts, distrusted);
  Object.assign(row, sumTotals(counts), { differing: differing.length });
  return differing;
}

/** Reads the parts of a range in which a count differs. */
async function readDiffering(run: DatedRun, differing: CountComparison, left: () => number): Promise<void> {
  const { mirror, incompleteReasons, state } = run;
  const { filter } = differing;
  for await (const part of bisect(run, differing, left)) {
    if (left() <= 0) return;
    const isWhole = (await readRange(run, part, left)) <= part.from;
    if (filter === allRecords || !isWhole || !(await isMeaningless(run, part))) continue;
    mirror.transaction(() => state.setDistrusted([...state.distrusted(), filter.name]));
    incompleteReasons.push(
      `the API's filter \`${filter.name}\` does not count what its records say: it is no evidence until it does`,
    );
    return;
  }
}

/**
 * True if a filter does not count what its records say (A7): its number is the same before and after they were read, and
 * is not theirs. Another number says that something changed meanwhile, and nothing of the filter.
 */
async function isMeaningless(run: DatedRun, before: CountComparison): Promise<boolean> {
  const after = await compareCount(run, before, before.filter);
  return after.api === before.api && after.mirror !== after.api;
}

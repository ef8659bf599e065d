import { clearCheckpoint } from "../mirror/checkpoints.js";
import { readCoverage, stretches } from "../mirror/coverage.js";
import { candidates, countPresent } from "../mirror/removals.js";
import type { SyncContext } from "./context.js";
import type { Goal } from "./plan.js";
import { allRecords, type Difference, findDifferences } from "./proof/counts.js";
import { joinRanges } from "./proof/days.js";
import { removeMissing } from "./removal.js";
import { readUntilProven } from "./walk.js";

const mostRounds = 3;

/**
 * Removes what a proven range no longer holds. A record that is missing where it was dated may bear another date by
 * now: only when the API's count of the whole covered history agrees is it gone. Where it does not, the differing days
 * are read first, and whoever moved is found there.
 */
export async function closeRange(context: SyncContext, goal: Goal): Promise<void> {
  const { mirror, resource } = context;
  try {
    if (candidates(mirror, resource.name).length === 0) return;
    const covered = coveredAround(context, goal);
    const differences = await readDiffering(context, covered);
    const missing = candidates(mirror, resource.name).length;
    if (differences.length > 0)
      context.shortfalls.push(
        `${missing} records are no longer where they were dated, but the API's count does not say that they are gone: nothing was removed`,
      );
    else
      removeMissing(context, {
        present: countPresent(mirror, resource.name, goal),
        left: countPresent(mirror, resource.name, covered) - missing,
      });
  } finally {
    clearCheckpoint(mirror, resource.name);
  }
}

/** Reads the days whose count differs until none does; what is left after a few rounds is returned. */
async function readDiffering(context: SyncContext, covered: Goal): Promise<Difference[]> {
  let differences: Difference[] = [];
  for (let round = 1; round <= mostRounds; round += 1) {
    differences = await findDifferences(context, covered, [allRecords]);
    if (differences.length === 0) break;
    for (const range of joinRanges(differences)) await readUntilProven(context, range);
  }
  return differences;
}

/** The unbroken stretch of coverage that holds a range. */
function coveredAround({ mirror, resource }: SyncContext, goal: Goal): Goal {
  const all = stretches(readCoverage(mirror, resource.name));
  return all.find(({ from, to }) => from <= goal.from && to >= goal.to) ?? goal;
}

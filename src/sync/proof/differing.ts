import type { SyncContext } from "../context.js";
import type { Goal } from "../plan.js";
import { countItems, readAgain } from "../walk.js";
import {
  allRecords,
  type CountCheck,
  countChecks,
  countHere,
  type Difference,
  findDifferences,
  setAside,
} from "./counts.js";
import { joinRanges } from "./days.js";

/** Compares the counts of a covered range, and reads the days where they differ again. */
export async function rereadDiffering(
  context: SyncContext,
  covered: Goal,
  checks: readonly CountCheck[] = countChecks(context),
): Promise<void> {
  const differences = await findDifferences(context, covered, checks, true);
  for (const range of joinRanges(differences)) {
    context.reporter.detail(
      `${context.resource.name}: the API's counts differ from the mirror's: reading again`,
    );
    await readAgain(context, range);
  }
  if (differences.length === 0) return;
  const rest = await closeDifferences(context, await findDifferences(context, covered, checks));
  if (rest.length > 0)
    context.shortfalls.push(
      `the API's counts still differ from the mirror's on ${rest.length} days: run \`brandapi verify ${context.resource.name}\``,
    );
}

/**
 * Reads the days once more that differ although they were read, and says which still do. The page that told what a
 * filter means may have held no record that shows it: where all records of such a day are there, and the filter counts
 * others twice, it means something else and is set aside.
 */
export async function closeDifferences(
  context: SyncContext,
  differences: readonly Difference[],
): Promise<Difference[]> {
  for (const range of joinRanges(differences)) await readAgain(context, range);
  const rest: Difference[] = [];
  for (const difference of differences) {
    const check = countChecks(context).find(({ name }) => name === difference.check);
    if (!check || (await agrees(context, difference, check))) continue;
    const isOfFilter = check.member !== null && (await agrees(context, difference, allRecords));
    if (isOfFilter) setAside(context, check);
    else rest.push(difference);
  }
  return rest;
}

async function agrees(context: SyncContext, range: Goal, check: CountCheck): Promise<boolean> {
  return (await countItems(context, range.from, range.to, check.query)) === countHere(context, range, check);
}

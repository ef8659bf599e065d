import type { SyncContext } from "../context.js";
import type { Goal } from "../plan.js";
import { readAgain } from "../walk.js";
import { type CountCheck, countChecks, findDifferences } from "./counts.js";
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
  const rest = await findDifferences(context, covered, checks);
  if (rest.length > 0)
    context.shortfalls.push(
      `the API's counts still differ from the mirror's on ${rest.length} days: run \`brandapi verify ${context.resource.name}\``,
    );
}

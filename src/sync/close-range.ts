import { countPresent } from "../mirror/counting.js";
import { readCoverage, stretches } from "../mirror/coverage.js";
import { candidates, countAround } from "../mirror/removals.js";
import { rangeQuery, type SyncContext } from "./context.js";
import { readPass } from "./pass.js";
import { readNewest } from "./proof/beyond.js";
import { allRecords, type Difference, findDifferences } from "./proof/counts.js";
import { dayOf, joinDays, joinRanges, partialDays } from "./proof/days.js";
import { removeMissing } from "./removal.js";
import { readAgain } from "./walk.js";

const mostRounds = 3;

/**
 * Removes what proven reads no longer found. A record that is missing where it was dated may bear another date by now:
 * only when the API's count of all that is covered agrees is it gone. Where it does not, the differing days are read
 * first, and whoever moved is found there. What cannot be decided stays a candidate, for the next run.
 */
export async function removeGone(context: SyncContext): Promise<void> {
  const { mirror, resource } = context;
  if (candidates(mirror, resource.name).length === 0) return;
  const differences = await readDiffering(context);
  const missing = candidates(mirror, resource.name);
  if (missing.length === 0) return;
  if (differences.length > 0)
    context.shortfalls.push(
      `${missing.length} records are no longer where they were dated, but the API's count does not say that they are gone: nothing was removed`,
    );
  else
    removeMissing(context, {
      present: countAround(mirror, resource.name, missing),
      left: countPresent(mirror, resource.name) - missing.length,
    });
}

/** Beyond this many, whole days take fewer requests than instants. */
const mostInstants = 50;

/**
 * Reads where the missing records are dated once more: a row that left while another came, between two pages, pushes a
 * third past the reader and leaves the total as it was. What is found now is no candidate any more.
 */
async function lookAgain(context: SyncContext): Promise<void> {
  const { mirror, resource } = context;
  const dated = mirror.db.prepare("SELECT dated_at FROM records WHERE record_id = ?").pluck();
  const dates = candidates(mirror, resource.name)
    .map((id) => dated.get(id) as number | null)
    .filter((date) => date !== null);
  const ranges =
    dates.length > mostInstants
      ? joinDays(new Set(dates.map(dayOf)))
      : joinRanges(dates.map((date) => ({ from: date, to: date + 1 })));
  // Where it may be by now, the figures by day tell, but not of parts of days.
  const others = readCoverage(mirror, resource.name).filter(({ runId }) => runId !== context.run.run_id);
  for (const { from, to } of joinRanges([...ranges, ...partialDays(stretches(others))]))
    await readPass(context, rangeQuery(resource, from, to + 1));
  // Nor is one that was given a date in the future.
  await readNewest(context);
}

/**
 * Reads the days whose count differs until none does; what is left after a few rounds is returned. Each reading can miss
 * a record too: what is missing is looked for after the last one, and counted after that.
 */
async function readDiffering(context: SyncContext): Promise<Difference[]> {
  for (let round = 1; ; round += 1) {
    await lookAgain(context);
    const differences: Difference[] = [];
    for (const covered of stretches(readCoverage(context.mirror, context.resource.name)))
      differences.push(...(await findDifferences(context, covered, [allRecords], true)));
    if (differences.length === 0 || round > mostRounds) return differences;
    for (const range of joinRanges(differences)) await readAgain(context, range);
  }
}

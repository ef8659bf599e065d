import { countPresent } from "../state/counting.js";
import { readCoverage, type Span, stretches } from "../state/coverage.js";
import { coarsestMs, quietInstant } from "../state/cuts.js";
import { candidateDates, candidates, countAround, dateOfNth } from "../state/removals.js";
import { rangeQuery, type SyncContext } from "./context.js";
import { readPass } from "./pass.js";
import type { Goal } from "./plan.js";
import { readNewest } from "./proof/beyond.js";
import { allRecords, type Difference, findDifferences } from "./proof/counts.js";
import { dayOf, joinDays, joinRanges, partialDays } from "./proof/days.js";
import { removeMissing } from "./removal.js";
import { readAgain } from "./walk.js";

const mostRounds = 3;
/** A request each, where somebody is missing and there are no figures by day. */
const mostParts = 16;

/** What no figures by day speak of: nothing, what earlier runs have read, or all that was ever read. */
export type Unseen = "nothing" | "earlier" | "everything";

/**
 * Removes what proven reads no longer found. A record that is missing where it was dated may bear another date by now:
 * only when the API's count of all that is covered agrees is it gone. Where it does not, the differing days are read
 * first, and whoever moved is found there. What cannot be decided stays a candidate, for the next run.
 * @param unseen where one may have moved to, and another gone from, without figures by day to tell: the count of the whole
 * is then as it was. That is read once more, or counted in parts where it is long
 */
export async function removeGone(context: SyncContext, unseen: Unseen): Promise<void> {
  const { mirror, resource } = context;
  if (candidates(mirror, resource.name).length === 0) return;
  const differences = await readDiffering(context, unseen);
  const missing = candidates(mirror, resource.name);
  if (missing.length === 0) return;
  if (differences.length > 0)
    context.shortfalls.push(
      `${missing.length} records are no longer where they were dated, but the API's count does not say that they are gone: nothing was removed`,
    );
  else
    removeMissing(context, {
      present: countAround(mirror, resource.name),
      left: countPresent(mirror, resource.name) - missing.length,
    });
}

async function differencesIn(context: SyncContext, ranges: readonly Goal[]): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const range of ranges) found.push(...(await findDifferences(context, range, [allRecords], true)));
  return found;
}

/** What earlier runs have read, and this one has not. */
function othersRead(context: SyncContext): Goal[] {
  return stretches(coverageOf(context).filter(({ runId }) => runId !== context.run.run_id));
}

function rangesOf(context: SyncContext, unseen: Unseen): Goal[] {
  if (unseen === "nothing") return [];
  return unseen === "earlier" ? othersRead(context) : stretches(coverageOf(context));
}

/** Whether a range is read with no more requests than its parts are counted with. */
function isShort({ mirror, perPage, resource }: SyncContext, range: Goal): boolean {
  return countPresent(mirror, resource.name, range) <= mostParts * perPage;
}

/** Ranges in parts of as many records each. */
function partsOf({ mirror, resource }: SyncContext, ranges: readonly Goal[]): Goal[] {
  return ranges.flatMap((range) => {
    const count = countPresent(mirror, resource.name, range);
    const parts = Math.min(count, mostParts);
    const bounds = Array.from({ length: Math.max(0, parts - 1) }, (_, part) =>
      dateOfNth(mirror, resource.name, range, Math.floor(((part + 1) * count) / parts) + 1),
    );
    const cuts = bounds
      .filter((date) => date !== null)
      .map((date) => quietInstant(mirror, resource.name, date))
      .filter((cut) => cut > range.from && cut <= range.to);
    const starts = [range.from, ...new Set(cuts)];
    return starts.map((from, part) => ({ from, to: (starts[part + 1] ?? range.to + 1) - 1 }));
  });
}

function coverageOf({ mirror, resource }: SyncContext): Span[] {
  return readCoverage(mirror, resource.name);
}

/** Beyond this many, whole days take fewer requests than instants. */
const mostInstants = 50;

/** Dates as ranges of one page each, as far as the mirror knows: one answer cannot contradict itself. */
function inPages({ mirror, resource, perPage }: SyncContext, dates: readonly number[]): Goal[] {
  const ranges: Goal[] = [];
  for (const date of dates.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    const to = date + coarsestMs;
    if (last && countPresent(mirror, resource.name, { from: last.from, to }) < perPage) last.to = to;
    else ranges.push({ from: date - coarsestMs, to });
  }
  return ranges;
}

/**
 * Reads where the missing records are dated once more: a row that left while another came, between two pages, pushes a
 * third past the reader and leaves the total as it was. What is found now is no candidate any more.
 */
async function lookAgain(context: SyncContext): Promise<void> {
  const { mirror, resource } = context;
  const dates = candidateDates(mirror, resource.name).filter((date) => date !== null);
  const ranges = dates.length > mostInstants ? joinDays(new Set(dates.map(dayOf))) : inPages(context, dates);
  // Where it may be by now, the figures by day tell, but not of parts of days.
  for (const { from, to } of joinRanges([...ranges, ...partialDays(othersRead(context))]))
    await readPass(context, rangeQuery(resource, from, to + 1));
  // Nor is one that was given a date in the future.
  await readNewest(context);
}

/**
 * Reads the days whose count differs until none does; what is left after a few rounds is returned. Each reading can miss
 * a record too: what is missing is looked for after the last one, and counted after that.
 */
async function readDiffering(context: SyncContext, unseen: Unseen): Promise<Difference[]> {
  const ranges = rangesOf(context, unseen);
  const short = ranges.filter((range) => isShort(context, range));
  const long = ranges.filter((range) => !short.includes(range));
  let isReadElsewhere = short.length === 0;
  for (let round = 1; ; round += 1) {
    await lookAgain(context);
    if (!isReadElsewhere && candidates(context.mirror, context.resource.name).length > 0) {
      isReadElsewhere = true;
      for (const range of short) await readAgain(context, range);
      continue;
    }
    const differences = await differencesIn(context, stretches(coverageOf(context)));
    if (differences.length === 0) differences.push(...(await differencesIn(context, partsOf(context, long))));
    if (differences.length === 0 || round > mostRounds) return differences;
    for (const range of joinRanges(differences)) await readAgain(context, range);
  }
}
